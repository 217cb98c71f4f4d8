package server

import (
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// memoryInterval is how often the memory in use is looked at.
const memoryInterval = 100 * time.Millisecond

// memory watches the memory in use and raises the alarm that holds publishers back.
type memory struct {
	limit uint64
	alarm atomic.Bool
	used  atomic.Uint64 // at the last look
}

// look reads what the runtime holds and has not given back to the operating system, in bytes.
func (m *memory) look(samples []metrics.Sample) uint64 {
	metrics.Read(samples)
	used := samples[0].Value.Uint64() - samples[1].Value.Uint64()
	m.used.Store(used)
	return used
}

// watch looks at the memory until stop is closed, and calls change when the alarm begins or ends.
func (m *memory) watch(stop <-chan struct{}, change func(on bool)) {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	var idle idleMemory
	tick := time.NewTicker(memoryInterval)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-stop:
			return
		case <-tick.C:
			m.set(m.limit > 0 && m.look(samples) > m.limit, change)
			if n%idleTicks == 0 {
				idle.giveBack()
			}
		}
	}
}

const (
	// idleTicks is how often, in looks at the memory, it is asked whether memory should be given back.
	idleTicks = 50
	// idleGarbage is how many bytes that nobody needs any more make it worth it, and
	idleGarbage = 24 << 20
	// idleAllocated is how many may have been allocated meanwhile in a process that counts as idle.
	idleAllocated = 8 << 20
)

// idleMemory gives memory back to the operating system after the load is gone: an idle process allocates nothing, so the runtime would not
// collect its garbage for minutes.
type idleMemory struct{ allocated uint64 }

func (i *idleMemory) giveBack() {
	samples := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	allocated, objects, live, free := samples[0].Value.Uint64(), samples[1].Value.Uint64(), samples[2].Value.Uint64(), samples[3].Value.Uint64()
	was := i.allocated
	i.allocated = allocated
	garbage := objects - min(live, objects) + free
	if allocated-was < idleAllocated && garbage > idleGarbage {
		debug.FreeOSMemory()
	}
}

// set notes whether the memory is low; change is told when that is news. One goroutine looks at a time.
func (m *memory) set(on bool, change func(on bool)) {
	if m.alarm.Swap(on) != on {
		change(on)
	}
}

// tight reports whether outboxes should hold less than usual.
func (m *memory) tight() bool { return m.alarm.Load() }
