package queue

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// MailboxLimit is how many bytes may wait in a queue's mailbox before its publishers are held back.
	MailboxLimit = 8 << 20
	// FlowLimit is how many bytes of ready messages a queue that is delivering may hold before its publishers are slowed down, and
	FlowLimit = 4 << 20
	// FlowWait is how long they wait at most for each batch.
	FlowWait = 5 * time.Millisecond
)

// entryOverhead is what the broker adds to a message's own bytes when it counts memory.
const entryOverhead = 48

// command is anything but a message: settle, consume, cancel, get, ... It runs on the goroutine that runs the queue.
type command interface {
	run(q *Queue)
}

// mailbox is where others leave work for the queue.
type mailbox struct {
	mu       sync.Mutex // guards all fields; leaf lock, never held while calling another package
	next     uint64     // number of the next message
	head     *Batch     // batches in order of arrival
	tail     *Batch
	commands []command
	bytes    int
	running  bool // somebody runs the queue, or has been told to
	closed   bool
	gate     atomic.Pointer[gate] // of a queue that may refuse messages, else nil; its contents are guarded too

	// What the runner last said about its state, for the publishers' sake.
	readyBytes int
	crowded    bool          // more transient messages are in memory than can be put aside as fast as they come
	delivered  time.Time     // when it last delivered anything
	lately     time.Time     // the same, before it says so: not guarded, the runner's own
	drained    chan struct{} // closed at the next turn; nil when no publisher waits
	idle       chan struct{} // closed when nobody runs the queue any more; nil when nobody waits for that
}

// Push hands a batch over; the receipt says which numbers its messages got. A closed queue gives no numbers and drops the batch.
func (q *Queue) Push(b *Batch) (r Receipt) {
	m := &q.mailbox
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		b.free()
		return Receipt{}
	}
	if g := m.gate.Load(); g != nil {
		g.admit(b, &r, m.next)
	}
	r.First = m.next
	b.first = r.First
	m.next += uint64(len(b.messages))
	m.bytes += b.bytes
	if m.tail == nil {
		m.head = b
	} else {
		m.tail.next = b
	}
	m.tail = b
	r.Run, m.running = !m.running, true
	m.mu.Unlock()
	return r
}

// post leaves a command. It returns true when the caller has to run the queue, as Push does.
func (q *Queue) post(c command) (run bool) {
	m := &q.mailbox
	m.mu.Lock()
	m.commands = append(m.commands, c)
	run, m.running = !m.running, true
	m.mu.Unlock()
	return run
}

// call posts a command and runs the queue, or waits for its runner, until the command was executed.
func (q *Queue) call(c command, done *sync.WaitGroup) {
	done.Add(1)
	if q.post(c) {
		q.RunHere()
	}
	done.Wait()
}

// Run works until there is nothing left to do. The caller must have been told to run the queue, and may be a goroutine started for it.
func (q *Queue) Run() {
	for q.turn() {
	}
}

// RunHere is Run for a caller that has other things to do: what a few turns do not finish goes to a goroutine of its own.
func (q *Queue) RunHere() {
	for range inlineTurns {
		if !q.turn() {
			return
		}
	}
	go q.Run()
}

// inlineTurns is how many turns a connection's reader gives a queue: one that works, one that finds nothing left.
const inlineTurns = 2

// Pressed reports whether a publisher to this queue has to wait before it reads on; see WaitRoom.
func (q *Queue) Pressed() bool {
	m := &q.mailbox
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.full() || m.flowing()
}

// Crammed reports whether the mailbox has taken more than it should: what is not a client's waits then, until WaitRoom without patience returns.
func (q *Queue) Crammed() bool {
	m := &q.mailbox
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.full()
}

// WaitRoom blocks a publisher while the mailbox is over its limit, and for at most the time given while the queue has a large backlog
// that it is delivering; it returns what is left of that time. It returns early when stop is closed.
func (q *Queue) WaitRoom(stop <-chan struct{}, patience time.Duration) (left time.Duration) {
	m := &q.mailbox
	for {
		drained, full := m.watch(patience > 0)
		if drained == nil {
			return patience
		}
		begun := time.Now()
		timer := time.NewTimer(max(patience, FlowWait))
		select {
		case <-drained:
		case <-stop:
			timer.Stop()
			return 0
		case <-timer.C:
		}
		timer.Stop()
		if !full {
			patience = max(0, patience-time.Since(begun))
		}
	}
}

// watch returns what is closed at the queue's next turn, nil if a publisher need not wait, and whether it is because the mailbox is full.
func (m *mailbox) watch(slow bool) (drained <-chan struct{}, full bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	full = m.full()
	if !full && !(slow && m.flowing()) {
		return nil, false
	}
	if m.drained == nil {
		m.drained = make(chan struct{})
	}
	return m.drained, full
}

// full reports whether publishers have to wait however long it takes: what they wait for needs no client; m.mu is held.
func (m *mailbox) full() bool { return m.bytes > MailboxLimit || m.crowded }

// flowing reports whether the queue delivers from a backlog so large that slowing its publishers down costs nothing; m.mu is held.
func (m *mailbox) flowing() bool {
	return m.readyBytes > FlowLimit && time.Since(m.delivered) < FlowWait
}

// take empties the mailbox. It returns false, and nobody runs the queue any more, when there was nothing and the runner says that it has no work
// left of its own.
func (m *mailbox) take(state *runnerState) (t taken, ok bool) {
	m.mu.Lock()
	if state.delivered {
		m.delivered = m.lately
	}
	m.readyBytes, m.crowded = state.readyBytes, state.crowded
	if g := m.gate.Load(); g != nil {
		g.turn(state)
	}
	if m.drained != nil {
		close(m.drained)
		m.drained = nil
	}
	if ok = m.head != nil || len(m.commands) > 0 || state.busy; ok {
		t.batches, m.head, m.tail = m.head, nil, nil
		if len(m.commands) > 0 {
			t.scratch = scratches.Get().(*scratch)
			t.scratch.commands, m.commands = m.commands, t.scratch.commands
		}
		m.bytes = 0
	} else {
		m.running = false
		if m.idle != nil {
			close(m.idle)
			m.idle = nil
		}
	}
	m.mu.Unlock()
	return t, ok
}

// awaitIdle blocks until nobody runs the queue. One caller at a time.
func (m *mailbox) awaitIdle() {
	m.mu.Lock()
	if !m.running {
		m.mu.Unlock()
		return
	}
	idle := make(chan struct{})
	m.idle = idle
	m.mu.Unlock()
	<-idle
}

// runnerState is what the runner tells its mailbox between two turns.
type runnerState struct {
	busy       bool // it has deliveries left to make
	delivered  bool // it delivered something in the turn before
	readyBytes int
	crowded    bool
	ready      int   // messages
	bodies     int64 // bytes of their bodies
}

// shut closes the mailbox: no message gets a number any more. Commands are still taken, each answers that the queue is closed.
func (m *mailbox) shut() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
}
