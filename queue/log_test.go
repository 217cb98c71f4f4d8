package queue_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"leveret/amqp"
	"leveret/queue"
	"leveret/store"
)

// fakeLog notes what a queue tells it, a word a call, and hands out messages that it was given.
type fakeLog struct {
	told     []string
	messages []store.Message
	lost     []uint64
	failure  error
	reads    int
	together bool // messages are read into one buffer
}

func (l *fakeLog) Settle(queue uint64, ranges []store.Range) {
	l.told = append(l.told, fmt.Sprintf("%d:%s", queue, rangesText(ranges)))
}

func (l *fakeLog) Scan(uint64, []store.Range, func(store.Info) bool) error { return l.failure }

func (l *fakeLog) Annotate(queue uint64, notes []store.Note) {
	for _, n := range notes {
		l.told = append(l.told, fmt.Sprintf("note %d:%d=%x", queue, n.Seq, n.Data))
	}
}

func (l *fakeLog) NextQueueID() uint64 { return 8 }

func (l *fakeLog) Discard(queue uint64, ranges []store.Range) {
	l.told = append(l.told, fmt.Sprintf("discard %d:%s", queue, rangesText(ranges)))
}

func (l *fakeLog) DropQueue(queue uint64) { l.told = append(l.told, fmt.Sprintf("drop %d", queue)) }

func (l *fakeLog) Spill(queue uint64, messages []store.Message) error { return l.failure }

func rangesText(ranges []store.Range) string {
	var words []string
	for _, r := range ranges {
		words = append(words, fmt.Sprintf("%d-%d", r.First, r.Last))
	}
	return strings.Join(words, ",")
}

// numbersIn is what ranges stand for, in order: in how many of them depends on when a read ahead comes.
func numbersIn(t *testing.T, ranges string) string {
	t.Helper()
	var all []int
	for text := range strings.SplitSeq(ranges, ",") {
		var first, last int
		if _, err := fmt.Sscanf(text, "%d-%d", &first, &last); err != nil {
			t.Fatalf("%q in %q: %v", text, ranges, err)
		}
		for ; first <= last; first++ {
			all = append(all, first)
		}
	}
	slices.Sort(all)
	return fmt.Sprint(all)
}

// Read hands out two messages at a time, whatever the limit.
func (l *fakeLog) Read(_ uint64, ranges []store.Range, _ int) (w store.Window, err error) {
	l.reads++
	for _, r := range ranges {
		for _, m := range l.messages {
			switch {
			case m.Seq < r.First || m.Seq > r.Last:
			case len(w.Messages) == 2:
				w.Next = m.Seq
				return w, l.failure
			case slices.Contains(l.lost, m.Seq):
				w.Lost = append(w.Lost, store.Range{First: m.Seq, Last: m.Seq})
			default:
				w.Messages = append(w.Messages, m)
			}
		}
		w.Next = r.Last + 1
	}
	return w, l.failure
}

// ReadInto puts each message into a buffer of its own, or all into one that is worth a chunk.
func (l *fakeLog) ReadInto(
	w *store.Window, number uint64, ranges []store.Range, limit int, buffer func(size, messages int) []byte,
) (err error) {
	*w, err = l.Read(number, ranges, limit)
	if l.together && len(w.Messages) > 0 {
		b := buffer(queue.ChunkSize, len(w.Messages))[:0]
		for i := range w.Messages {
			m := &w.Messages[i]
			b = append(b, m.Body...)
			m.Body = b[len(b)-len(m.Body) : len(b) : len(b)]
		}
		w.Parts = []int{len(w.Messages)}
		return err
	}
	for i := range w.Messages {
		m := &w.Messages[i]
		m.Body = append(buffer(len(m.Body), 1)[:0], m.Body...)
		w.Parts = append(w.Parts, 1)
	}
	return err
}

// Fetch is no more than ReadInto here.
func (l *fakeLog) Fetch(w *store.Window, number uint64, places []store.Place, buffer func(size, messages int) []byte) error {
	var ranges []store.Range
	for _, p := range places {
		ranges = append(ranges, store.Range{First: p.Seq(), Last: p.Seq()})
	}
	return l.ReadInto(w, number, ranges, math.MaxInt, buffer)
}

// wantTold compares what the log was told since the last call.
func (l *fakeLog) wantTold(t *testing.T, want string) {
	t.Helper()
	if got := strings.Join(l.told, " "); got != want {
		t.Errorf("the log was told %q, want %q", got, want)
	}
	l.told = nil
}

// Texts that begin with 1 make persistent messages, others do not.
const (
	kept   = "1"
	passes = "0"
)

func newLogged(t *testing.T) (*rig, *fakeLog) {
	l := new(fakeLog)
	return newRig(t, queue.Options{ID: 7, Durable: true, Log: l}), l
}

func TestLogIsToldOnceATurn(t *testing.T) {
	g, l := newLogged(t)
	r := g.start(queue.Consumer{Tag: "c"})
	g.publish(kept, kept, passes, kept, kept, passes)
	l.wantTold(t, "")
	g.settle(r, queue.Ack, 1, 2, 3, 4)
	l.wantTold(t, "7:1-2,4-4")
	g.settle(r, queue.Reject, 5)
	l.wantTold(t, "7:5-5")
	g.settle(r, queue.Ack, 6) // transient
	g.settle(r, queue.Ack, 1) // settled before
	l.wantTold(t, "")
}

func TestRequeueIsNotTold(t *testing.T) {
	g, l := newLogged(t)
	r := g.start(queue.Consumer{Tag: "c"})
	g.publish(kept, kept)
	g.cancel(r)
	g.settle(r, queue.Requeue, 1, 2)
	l.wantTold(t, "")
	if got := rangesText(g.Returned()); got != "1-2" {
		t.Errorf("returned %s", got)
	}
}

func TestAutomaticAcksAndPurgesAreTold(t *testing.T) {
	g, l := newLogged(t)
	g.publish(kept, kept, passes, kept)
	if _, err := g.get(true); err != nil {
		t.Fatal(err)
	}
	l.wantTold(t, "7:1-1")
	r := g.start(queue.Consumer{Tag: "c", NoAck: true})
	l.wantTold(t, "7:2-2,4-4")
	g.publish(kept) // straight to the consumer
	l.wantTold(t, "7:5-5")
	g.cancel(r)
	g.publish(passes, kept, kept)
	if n, err := g.Purge(); n != 3 || err != nil {
		t.Errorf("purged %d, %v", n, err)
	}
	l.wantTold(t, "7:7-8")
}

func TestDeleteIsLeftToTheStore(t *testing.T) {
	g, l := newLogged(t)
	r := g.start(queue.Consumer{Tag: "c", Prefetch: 1})
	g.publish(kept, kept)
	if _, err := g.Delete(false, false); err != nil {
		t.Fatal(err)
	}
	g.settle(r, queue.Ack, 1)
	l.wantTold(t, "")
}

func TestScatteredSettlesAreToldInPieces(t *testing.T) {
	g, l := newLogged(t)
	const messages = 20000
	for range messages / 2 {
		g.publish(kept, passes)
	}
	if n, err := g.Purge(); n != messages || err != nil {
		t.Fatalf("purged %d, %v", n, err)
	}
	var n int
	for _, call := range l.told {
		n += strings.Count(call, ",") + 1
	}
	if n != messages/2 || len(l.told) < 3 {
		t.Errorf("%d ranges were told in %d calls", n, len(l.told))
	}
}

// A settlement that stands in a batch of the log is not told again.
func TestLoggedSettlementIsNotToldAgain(t *testing.T) {
	g, l := newLogged(t)
	r := g.start(queue.Consumer{Tag: "c", Prefetch: 3})
	g.publish(kept, kept, kept)
	disk := store.NewMemory()
	var b store.Batch
	for _, text := range []string{"a", "b", "c"} {
		b.Publish([]byte(text), 0)
		b.To(7)
	}
	disk.Append(&b, func() {
		for i := range b.Pairs() {
			b.Pairs()[i].Seq = uint64(i + 1)
		}
	})
	acked, back := settlement(r, queue.Ack, 1, 2), settlement(r, queue.Requeue, 3)
	acked.Log(g.Queue, &b)
	back.Log(g.Queue, &b)
	disk.Append(&b, nil)
	w, err := disk.Read(7, []store.Range{{First: 1, Last: 9}}, 100)
	if err != nil || len(w.Messages) != 1 || w.Messages[0].Seq != 3 {
		t.Errorf("the log still has %v, %v", w.Messages, err)
	}
	if g.Settle(acked) {
		g.RunHere()
	}
	l.wantTold(t, "")
	g.settle(r, queue.Ack, 3)
	l.wantTold(t, "7:3-3")
}

func encoded(body string) []byte {
	m := amqp.Message(append(amqp.AppendMessageAddress(nil, nil, []byte("q")), 0, 0))
	m.SetProperties(2, &amqp.PropertyIndex{DeliveryMode: amqp.Persistent}, 0)
	return append(m, body...)
}

func TestRecover(t *testing.T) {
	for _, together := range []bool{false, true} {
		t.Run(fmt.Sprintf("together=%v", together), func(t *testing.T) { recoverFrom(t, &fakeLog{lost: []uint64{4}, together: together}) })
	}
}

// recoverFrom starts a queue with what a log holds for it.
func recoverFrom(t *testing.T, l *fakeLog) {
	for _, seq := range []uint64{2, 3, 4, 5, 8, 9, 11} {
		l.messages = append(l.messages, store.Message{Seq: seq, Body: encoded(fmt.Sprint(seq))})
	}
	l.messages[4].Body = []byte("no message")
	state := store.QueueState{
		ID: 7, Next: 20, Delivered: 4, Live: []store.Range{{First: 2, Last: 5}, {First: 8, Last: 9}, {First: 11, Last: 11}}, Messages: 7,
	}
	q := recoverQueue(queue.Options{Name: "q", ID: 7, Durable: true, Log: l}, state, []store.Range{{First: 7, Last: 8}, {First: 11, Last: 15}})
	g := &rig{t: t, Queue: q}
	g.outbox = g.newOutbox()
	g.holds(queue.Counts{Ready: 7})
	if got := numbersIn(t, rangesText(q.Returned())); got != "[2 3 8 11]" {
		t.Errorf("redelivered: %s", got)
	}
	q = recoverQueue(queue.Options{Name: "q", ID: 7, Durable: true, Log: l}, state, []store.Range{{First: 7, Last: 8}, {First: 11, Last: 15}})
	g = &rig{t: t, Queue: q}
	g.outbox = g.newOutbox()
	if first := g.publish(kept); first != 20 {
		t.Errorf("the next message got number %d", first)
	}
	for range 6 {
		if _, err := g.get(true); err != nil {
			t.Fatal(err)
		}
	}
	var seqs []string
	for _, d := range g.journal.deliveries {
		seqs = append(seqs, fmt.Sprint(d.seq, d.redelivered))
	}
	if got := strings.Join(seqs, " "); got != "2 true 3 true 5 false 9 false 11 true 20 false" {
		t.Errorf("got %s", got)
	}
	g.holds(queue.Counts{}) // the turn that answered the last get is over
	if s := q.Stats(); s.Damaged != 2 || s.Ready != 0 || s.ReadyBytes != 0 {
		t.Errorf("figures: %+v", s)
	}
	var all []string
	for _, call := range l.told {
		all = append(all, strings.TrimPrefix(call, "7:"))
	}
	if got := numbersIn(t, strings.Join(all, ",")); got != "[2 3 4 5 8 9 11 20]" {
		t.Errorf("the log was told %s", got)
	}
	if l.reads < 3 {
		t.Errorf("%d reads", l.reads)
	}
}

func TestGetTellsThatTheLogFails(t *testing.T) {
	l := &fakeLog{failure: errors.New("no disk")}
	state := store.QueueState{ID: 7, Next: 3, Live: []store.Range{{First: 1, Last: 2}}}
	g := &rig{t: t, Queue: recoverQueue(queue.Options{ID: 7, Durable: true, Log: l}, state, nil)}
	g.outbox = g.newOutbox()
	if _, err := g.get(true); !errors.Is(err, l.failure) {
		t.Errorf("got %v", err)
	}
	g.holds(queue.Counts{Ready: 2})
}

func TestKeptQueueOutlivesItsConsumers(t *testing.T) {
	g := newRig(t, queue.Options{Durable: true, AutoDelete: true})
	r := g.start(queue.Consumer{Tag: "c"})
	d := &queue.Detachment{Queue: g.Queue, Consumers: []*queue.Consumer{r.consumer}, Keep: true}
	queue.Detach([]*queue.Detachment{d})
	if d.Closed || g.Closed() {
		t.Error("the queue closed itself although it is kept")
	}
}
