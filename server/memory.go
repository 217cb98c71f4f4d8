package server

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// memoryInterval is how often the memory in use is looked at.
const memoryInterval = 100 * time.Millisecond

// memory watches the memory in use and raises the alarm that holds publishers back.
type memory struct {
	limit atomic.Uint64
	alarm atomic.Bool
	used  atomic.Uint64 // at the last look

	halfRead atomic.Int64 // bytes of messages in whose middle connections are held

	// Of the watching goroutine: ticks before which no collection is forced, and before which the alarm does not end.
	collect, lasts int
}

// look reads what the runtime holds and has not given back to the operating system, in bytes.
func (m *memory) look(samples []metrics.Sample) uint64 {
	metrics.Read(samples)
	used := samples[0].Value.Uint64() - samples[1].Value.Uint64()
	m.used.Store(used)
	return used
}

// watch looks at the memory until stop is closed, and calls change when the alarm begins or ends.
//
// The alarm comes at most memoryInterval and one collection after the limit was passed; with a full heap and busy processors a collection takes up to
// a second, in which publishers go on. To hold them meanwhile would mean to tell clients of an alarm for garbage that is gone when they hear of it,
// at every peak.
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
		}
		over := m.over(m.look(samples))
		if over && n >= m.collect {
			// What is over the limit may be garbage, and with all publishers held back nothing else would collect it.
			m.collect = n + collectTicks
			debug.FreeOSMemory()
			over = m.over(m.look(samples))
		}
		if over {
			m.lasts = n + leastTicks
		}
		m.set(over || n < m.lasts, change)
		if n%idleTicks == 0 {
			idle.giveBack()
		}
	}
}

// over compares with the limit, of which 0 is none.
func (m *memory) over(used uint64) bool {
	limit := m.limit.Load()
	return limit > 0 && used > limit
}

// mayHold reports whether half-read messages of so many bytes are few enough not to keep the alarm on by themselves.
func (m *memory) mayHold(bytes uint64) bool {
	limit := m.limit.Load()
	return limit == 0 || bytes <= limit/halfReadShare
}

const (
	// collectTicks is how many looks at the memory lie at least between two collections that the limit asks for.
	collectTicks = 10
	// leastTicks is how many looks an alarm lasts after the last that was over the limit, so that it does not flutter.
	leastTicks = 10
	// idleTicks is how many lie between two questions whether memory should be given back.
	idleTicks = 30
	// idleGarbage is how many bytes that nobody needs any more make it worth it, and
	idleGarbage = 24 << 20
	// idleAllocated is how many may have been allocated meanwhile in a process that counts as idle.
	idleAllocated = 8 << 20
)

// idleMemory gives memory back to the operating system after the load is gone: an idle process allocates nothing, so the runtime would not
// collect its garbage for minutes. What was worth it is soon tried again, what was not after ever longer times.
type idleMemory struct {
	allocated uint64
	wait      int // questions until the next attempt
	interval  int
}

// idleIntervalMax bounds the questions between two attempts: two minutes.
const idleIntervalMax = 40

// giveBack looks whether the process is idle and holds enough to be worth two collections, and makes them if so.
func (i *idleMemory) giveBack() {
	samples := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
	}
	held := func() uint64 {
		metrics.Read(samples)
		return samples[1].Value.Uint64() + samples[2].Value.Uint64()
	}
	before := held()
	allocated := samples[0].Value.Uint64()
	busy := allocated-i.allocated >= idleAllocated
	i.allocated = allocated
	if busy {
		i.wait, i.interval = 1, 1
		return
	}
	if i.wait--; i.wait > 0 || before < idleGarbage {
		return
	}
	runtime.GC() // what the pools hold goes in the second collection
	debug.FreeOSMemory()
	i.interval = min(2*i.interval, idleIntervalMax)
	if after := held(); before-min(before, after) > idleGarbage/2 {
		i.interval = 2
	}
	i.wait = i.interval
}

// set notes whether the memory is low; change is told when that is news.
func (m *memory) set(on bool, change func(on bool)) {
	if m.alarm.Swap(on) != on {
		change(on)
	}
}

// tight reports whether outboxes should hold less than usual.
func (m *memory) tight() bool { return m.alarm.Load() }
