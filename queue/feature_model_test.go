package queue_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"leveret/amqp"
	"leveret/queue"
	"leveret/store"
)

// fate is what became of a message, as far as its publisher, its consumers and the Forwarder can tell.
type fate int

const (
	waits   fate = iota // ready, pending, on its way out, or dropped without a word
	held                // delivered, not settled
	away                // rejected, and on its way out or dropped
	settled             // acked, purged, forwarded or refused
)

// tracked is a message of the feature machine.
type tracked struct {
	text     string
	group    string
	fate     fate
	holder   *holder
	deadline int64 // Unix ms
	returns  int64
}

// holder is a consumer, or the channel that got messages.
type holder struct {
	m        *featureMachine
	consumer *queue.Consumer
	gone     bool
	held     map[uint64]*tracked
}

// featureMachine drives a queue with any features that go together, and follows each of its messages.
type featureMachine struct {
	mu       sync.Mutex // between the test and whoever runs the queue
	t        *rapid.T
	q        *queue.Queue
	opts     queue.Options
	settings queue.Settings
	disk     *store.Memory
	out      outbox
	all      map[string]*tracked
	holders  []*holder
	got      *holder
	taken    int // messages that the queue took
	late     int // refused, and left to the queue to be dead-lettered
	stays    *rand.Rand
	forward  int
	purged   bool
	paused   bool
	returned bool              // something came back: a group's order is not that of coming any more
	last     map[string]uint64 // number of the last message of each group that was delivered
	active   *holder           // consumer that was delivered to last
}

func (h *holder) Cancelled() {}

func (h *holder) Deliver(seq uint64, m amqp.Message, _ bool) bool {
	if h.m.paused {
		h.m.t.Fatalf("delivered %q, though the queue pauses", m.Body())
	}
	h.m.deliver(h, seq, m)
	return true
}

func (h *holder) DeliverGot(seq uint64, m amqp.Message, _ bool, _ int) { h.m.deliver(h, seq, m) }

func (m *featureMachine) deliver(h *holder, seq uint64, msg amqp.Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	x := m.all[string(msg.Body())]
	if x == nil || x.fate != waits {
		m.t.Fatalf("delivered %q, which is %+v", msg.Body(), x)
	}
	if now := time.Now().UnixMilli(); now > x.deadline {
		m.t.Fatalf("delivered %q %d ms after its time was up", x.text, now-x.deadline)
	}
	m.checkActive(h)
	x.fate, x.holder = held, h
	h.held[seq] = x
	if m.opts.GroupBy.Source == queue.NoKey || x.group == "" {
		return
	}
	if seq < m.last[x.group] && !m.returned {
		m.t.Fatalf("%q is delivered after %d of its group", x.text, m.last[x.group])
	}
	m.last[x.group] = seq
	for _, other := range append(m.holders, m.got) {
		for _, y := range other.held {
			if y.group == x.group && other != h {
				m.t.Fatalf("%q is delivered while %q of its group is with somebody else", x.text, y.text)
			}
		}
	}
}

// checkActive checks that nobody is delivered to beside a single active consumer, unless a queue lets one of higher priority take over.
func (m *featureMachine) checkActive(h *holder) {
	if h == m.got || !m.opts.SingleActiveConsumer {
		return
	}
	if a := m.active; a != nil && a != h && !a.gone && slices.Contains(m.holders, a) && !m.opts.Quorum {
		m.t.Fatalf("delivered to another consumer than the active one")
	}
	m.active = h
}

// Forward takes what leaves the queue, and now and then says that it has to stay.
func (m *featureMachine) Forward(_ *queue.Queue, list []queue.Departure) (wait func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range list {
		d := &list[i]
		x := m.all[string(d.Message.Body())]
		if x == nil || x.fate != waits && x.fate != away {
			m.t.Fatalf("%q leaves, which is %+v", d.Message.Body(), x)
		}
		if d.Stays = m.stays.IntN(4) == 0; d.Stays {
			continue
		}
		switch {
		case d.Reason == queue.Expired && time.Now().UnixMilli() < x.deadline:
			m.t.Fatalf("%q expires %d ms too early", x.text, x.deadline-time.Now().UnixMilli())
		case (d.Reason == queue.Rejected) != (x.fate == away && x.returns >= 0):
			m.t.Fatalf("%q leaves for the reason %v, and is %+v", x.text, d.Reason, x)
		}
		x.fate = settled
		m.forward++
	}
	if m.stays.IntN(3) > 0 {
		return func() { time.Sleep(10 * time.Millisecond) }
	}
	return nil // the next Tend tries again
}

const featureID = 7

func newFeatureMachine(t *rapid.T) *featureMachine {
	m := &featureMachine{t: t, disk: store.NewMemory(), all: map[string]*tracked{}, last: map[string]uint64{}, settings: drawSettings(t)}
	m.stays = rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "seed")))
	m.got = &holder{m: m, held: map[uint64]*tracked{}}
	m.opts = drawOptions(t)
	m.opts.Name, m.opts.ID, m.opts.Log, m.opts.Settings, m.opts.Forwarder = "q", featureID, m.disk, m.settings, m
	m.q = queue.New(m.opts)
	return m
}

// build makes a message whose key is its group.
func (m *featureMachine) build(t *rapid.T) (*tracked, amqp.Message) {
	x := &tracked{text: fmt.Sprintf("%d", len(m.all)), group: rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "group"), deadline: 1 << 62}
	index := amqp.PropertyIndex{DeliveryMode: rapid.SampledFrom([]uint8{1, amqp.Persistent}).Draw(t, "mode")}
	if priority := rapid.IntRange(-1, 9).Draw(t, "priority"); priority >= 0 {
		index.Flags, index.Priority = amqp.FlagPriority, uint8(priority)
	}
	now := time.Now().UnixMilli()
	b := amqp.Message(append(amqp.AppendMessageAddress(nil, nil, []byte(x.group)), 0, 0))
	b.SetProperties(2, &index, now)
	if s := m.settings; s.TTL >= 0 {
		x.deadline = now + s.TTL
	}
	if own := rapid.SampledFrom([]int64{-1, -1, -1, 0, 30, 200}).Draw(t, "expiration"); own >= 0 {
		b.SetExpiration(uint64(own))
		x.deadline = min(x.deadline, now+own)
	}
	m.all[x.text] = x
	return x, append(b, x.text...)
}

func (m *featureMachine) publish(t *rapid.T) {
	var logged store.Batch
	batch := queue.NewBatch()
	var list []*tracked
	var at []int
	for i := range rapid.IntRange(1, 6).Draw(t, "messages") {
		x, msg := m.build(t)
		list = append(list, x)
		tag := uint32(0)
		if m.q.Tagged() {
			tag = m.q.Tag(msg, new(queue.Origin))
		}
		if m.q.Logs(msg) {
			logged.Publish(msg, tag)
			logged.To(featureID)
			at = append(at, i)
		}
		if m.q.Tagged() {
			batch.AddTagged(msg, nil, tag)
		} else {
			batch.Add(msg, nil)
		}
	}
	limited := m.settings.Overflow != queue.DropHead
	room := m.settings.MaxLength - int64(m.q.Stats().Ready)
	var r queue.Receipt
	push := func() {
		r = m.q.Push(batch)
		for i, position := range at {
			logged.Pairs()[i].Seq = r.Place(position)
		}
	}
	if logged.Len() > 0 {
		m.disk.Append(&logged, push)
	} else {
		push()
	}
	m.taken += len(list) - len(r.Refused)
	if limited && m.settings.MaxLength >= 0 && int64(len(list)-len(r.Refused)) > max(0, room) {
		t.Fatalf("took %d messages, had room for %d", len(list)-len(r.Refused), room)
	}
	m.receipt(t, list, &r)
	if r.Run {
		m.q.RunHere()
	}
}

// receipt checks what the queue says that it took.
func (m *featureMachine) receipt(t *rapid.T, list []*tracked, r *queue.Receipt) {
	next := r.First
	for i, x := range list {
		if slices.Contains(r.Refused, i) {
			if x.fate = settled; m.settings.Overflow == queue.RejectPublishDLX {
				x.fate, x.returns = away, -1
				m.late++
			}
			if r.Place(i) != 0 {
				t.Fatalf("message %d was refused and is at %d", i, r.Place(i))
			}
			continue
		}
		if r.Place(i) != next {
			t.Fatalf("message %d is at %d, want %d", i, r.Place(i), next)
		}
		next++
	}
}

func (m *featureMachine) consume(t *rapid.T) {
	h := &holder{m: m, held: map[uint64]*tracked{}}
	h.consumer = &queue.Consumer{
		Tag: "c", Prefetch: rapid.IntRange(0, 3).Draw(t, "prefetch"), Priority: rapid.IntRange(0, 1).Draw(t, "priority"), Outbox: &m.out, Receiver: h,
	}
	m.holders = append(m.holders, h)
	if err := m.q.Consume(h.consumer, func() {}); err != nil {
		t.Fatal(err)
	}
}

func (m *featureMachine) draw(t *rapid.T) *holder {
	return rapid.SampledFrom(append(slices.Clone(m.holders), m.got)).Draw(t, "holder")
}

// settlement takes messages from their holder.
func (m *featureMachine) settlement(h *holder, o queue.Outcome, seqs []uint64) *queue.Settlement {
	s := queue.NewSettlement(h.consumer, o)
	for _, n := range seqs {
		x := h.held[n]
		delete(h.held, n)
		s.Add(n)
		switch o {
		case queue.Ack:
			x.fate = settled
		case queue.Reject:
			x.fate = away
		default:
			x.fate = waits
			x.returns++
			m.returned = true
		}
	}
	return s
}

// numbers are those of the messages that it holds, when the queue has come to rest.
func (h *holder) numbers() (numbers []uint64) {
	h.m.rest()
	for n := range h.held {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return numbers
}

func (m *featureMachine) settle(t *rapid.T) {
	h := m.draw(t)
	if len(h.held) == 0 {
		return
	}
	seqs := rapid.Permutation(h.numbers()).Draw(t, "messages")
	seqs = seqs[:rapid.IntRange(1, len(seqs)).Draw(t, "count")]
	o := rapid.SampledFrom([]queue.Outcome{queue.Ack, queue.Requeue, queue.Reject, queue.Return}).Draw(t, "outcome")
	if m.q.Settle(m.settlement(h, o, seqs)) {
		m.q.RunHere()
	}
}

// detach ends a consumer's channel, or its consumption alone.
func (m *featureMachine) detach(t *rapid.T) {
	if len(m.holders) == 0 {
		return
	}
	h := rapid.SampledFrom(m.holders).Draw(t, "consumer")
	if !h.gone && rapid.Bool().Draw(t, "cancel") {
		h.gone = true
		m.q.Cancel(h.consumer, func() {})
		return
	}
	h.gone = true
	d := &queue.Detachment{Queue: m.q, Consumers: []*queue.Consumer{h.consumer}}
	if len(h.held) > 0 {
		d.Held = append(d.Held, m.settlement(h, queue.Requeue, h.numbers()))
	}
	queue.Detach([]*queue.Detachment{d})
	m.rest()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.holders = without(m.holders, h)
}

func (m *featureMachine) apply(t *rapid.T) {
	m.settings = drawSettings(t)
	m.q.Apply(m.settings)
}

func (m *featureMachine) purge(t *rapid.T) {
	s := m.q.Stats()
	n, err := m.q.Purge()
	if want := s.Ready + s.Pending + s.Leaving; err != nil || n != want {
		t.Fatalf("purged %d, %v; want %d", n, err, want)
	}
	m.purged = true // and nobody knows which messages were dropped before
	for _, x := range m.all {
		if x.fate == waits || x.fate == away {
			x.fate = settled
		}
	}
}

func (m *featureMachine) pause(t *rapid.T, on bool) {
	m.rest()
	if m.paused = on; m.q.Pause(on) != nil {
		t.Fatal("the queue is closed")
	}
}

// rest waits until nobody runs the queue. What the test did before is seen by who runs it next, and the other way round.
func (m *featureMachine) rest() {
	synctest.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
}

// check waits until the queue rests and compares its figures with what is known: every message that it took is somewhere, and once.
func (m *featureMachine) check(t *rapid.T) {
	m.rest()
	defer m.rest()
	m.t = t
	s := m.q.Stats()
	left := s.Acked + s.Purged
	for r := range queue.Reasons {
		left += s.DeadLettered[r] + s.Dropped[r]
	}
	if in := s.Ready + s.Unacked + s.Pending + s.Leaving; in+int(left) != m.taken+m.late {
		t.Fatalf("%d messages came, and %d refused ones; %d are there and %d have left: %+v", m.taken, m.late, in, left, s)
	}
	unacked, room := len(m.got.held), 0
	blocked := len(m.got.held) > 0
	for _, h := range m.holders {
		unacked += len(h.held)
		most := h.consumer.EffectivePrefetch()
		if !h.gone && (most == 0 || len(h.held) < most) {
			room++
		} else {
			blocked = true
		}
	}
	if s.Unacked != unacked {
		t.Fatalf("counts %d unacked messages, %d are held", s.Unacked, unacked)
	}
	if m.opts.SingleActiveConsumer && m.opts.Quorum && unacked > 0 {
		blocked = true // an heir of higher priority waits until the active consumer has settled all
	}
	alone := m.opts.SingleActiveConsumer || m.opts.GroupBy.Source != queue.NoKey // somebody with room may have to wait for another
	if s.Ready > 0 && room > 0 && !m.paused && (!alone || !blocked) {
		t.Fatalf("%d messages wait, though %d consumers have room: %+v", s.Ready, room, s)
	}
	limits := m.settings.Overflow == queue.DropHead
	if limits && m.settings.MaxLength >= 0 && int64(s.Ready) > m.settings.MaxLength {
		t.Fatalf("%d messages are ready, at most %d may be", s.Ready, m.settings.MaxLength)
	}
	if int(sum(s.DeadLettered)) != m.forward {
		t.Fatalf("counts %d dead letters, %d were taken", sum(s.DeadLettered), m.forward)
	}
}

func sum(counts [queue.Reasons]uint64) (n uint64) {
	for _, count := range counts {
		n += count
	}
	return n
}

// drain lets all that is in the queue come out, and checks that nothing is lost.
func (m *featureMachine) drain(t *rapid.T) {
	for _, h := range slices.Clone(m.holders) {
		h.gone = true
		queue.Detach([]*queue.Detachment{{Queue: m.q, Consumers: []*queue.Consumer{h.consumer}, Held: []*queue.Settlement{m.settlement(h, queue.Return, h.numbers())}}})
	}
	m.rest()
	m.mu.Lock()
	m.holders = nil
	m.mu.Unlock()
	m.pause(t, false)
	m.consume(t)
	h := m.holders[0]
	for range 60 {
		if m.q.Settle(m.settlement(h, queue.Ack, h.numbers())) {
			m.q.RunHere()
		}
		if m.q.Settle(m.settlement(m.got, queue.Ack, m.got.numbers())) {
			m.q.RunHere()
		}
		m.q.Tend()
		time.Sleep(50 * time.Millisecond)
		m.check(t)
	}
	unseen := 0
	for _, x := range m.all {
		if x.fate == waits || x.fate == away {
			unseen++
		}
	}
	if s := m.q.Stats(); s.Ready+s.Pending+s.Leaving+s.Unacked > 0 || int(sum(s.Dropped)) != unseen && !m.purged {
		t.Fatalf("%d messages were dropped without a word, %d are counted: %+v", unseen, sum(s.Dropped), s)
	}
	if w, err := m.disk.Read(featureID, []store.Range{{First: 1, Last: 1 << 20}}, 1<<20); err != nil || len(w.Messages) > 0 {
		t.Fatalf("the store still has %d messages, %v", len(w.Messages), err)
	}
}

// Whatever features a queue has, and whatever is done to it: no message is lost or doubled, none is delivered after its time, limits hold, groups
// stay together, and nobody waits who could be served.
func TestQueueFeatures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(bubbled{t}, func(t *rapid.T) {
			m := newFeatureMachine(t)
			m.out = outbox{t: t, locks: new(atomic.Int32)}
			actions := map[string]func(*rapid.T){
				"publish": m.publish, "publish more": m.publish, "consume": m.consume, "settle": m.settle, "settle more": m.settle,
				"detach": m.detach, "apply": m.apply,
				"purge": func(t *rapid.T) {
					if rapid.IntRange(0, 4).Draw(t, "purge") == 0 {
						m.purge(t)
					}
				},
				"get": func(t *rapid.T) {
					if _, err := m.q.Get(&m.out, m.got, false); err != nil {
						t.Fatal(err)
					}
				},
				"sleep": func(t *rapid.T) { time.Sleep(time.Duration(rapid.IntRange(1, 120).Draw(t, "ms")) * time.Millisecond) },
				"pause": func(t *rapid.T) { m.pause(t, rapid.IntRange(0, 3).Draw(t, "pause") == 0) },
				"tend":  func(*rapid.T) { m.q.Tend() },
				"":      m.check,
			}
			for range 2 {
				t.Repeat(actions)
			}
			m.drain(t)
			m.q.Returned()
		})
	})
}
