package server

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"testing/synctest"
	"time"
)

// held is what the heap holds of the operating system's memory and has no live object in, or has one that may be garbage.
func held() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() + s[1].Value.Uint64()
}

// collections is how many garbage collections were asked for, not those that the runtime began by itself.
func collections() uint32 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.NumForcedGC
}

// touched returns memory that the operating system has had to give.
func touched(size int) []byte {
	b := make([]byte, size)
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	return b
}

// A process that does nothing any more gives back what its load has left.
func TestIdleProcessGivesMemoryBack(t *testing.T) {
	const garbage = 128 << 20
	var idle idleMemory
	runtime.KeepAlive(touched(garbage))
	full := held()
	idle.giveBack() // was busy until now
	idle.giveBack()
	if left := held(); left+garbage/2 > full {
		t.Errorf("%d MiB of %d MiB are held by an idle process", left>>20, full>>20)
	}
}

// A process with much memory in use that is not garbage is not kept busy looking for garbage: it tries ever more seldom.
func TestIdleProcessLooksForGarbageSeldom(t *testing.T) {
	live := touched(2 * idleGarbage)
	var idle idleMemory
	const questions = 400
	before := collections()
	for range questions {
		idle.giveBack()
	}
	const each = 2 // collections an attempt
	if n := collections() - before; n < each || n > each*(questions/idleIntervalMax+8) {
		t.Errorf("%d collections in %d questions", n, questions)
	}
	runtime.KeepAlive(live)
}

// What is over the limit and garbage is collected and raises no alarm; what is in use does.
func TestGarbageRaisesNoAlarm(t *testing.T) {
	for name, inUse := range map[string]bool{"garbage": false, "in use": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				runtime.GC()
				const room = 64 << 20
				m := new(memory)
				m.limit.Store(held() + room)
				stop, changes := make(chan struct{}), 0
				load := touched(3 * room)
				if !inUse {
					load = nil
				}
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					m.watch(stop, func(bool) { changes++ })
				}()
				time.Sleep(5 * memoryInterval)
				synctest.Wait()
				if m.alarm.Load() != inUse {
					t.Errorf("alarm %t with %d MiB used of %d MiB", m.alarm.Load(), m.used.Load()>>20, m.limit.Load()>>20)
				}
				close(stop)
				<-ended
				if want := map[bool]int{false: 0, true: 1}[inUse]; changes != want {
					t.Errorf("the alarm changed %d times, want %d", changes, want)
				}
				runtime.KeepAlive(load)
			})
		})
	}
}
