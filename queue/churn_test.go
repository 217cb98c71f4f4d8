package queue_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"leveret/amqp"
	"leveret/queue"
)

// connection is a consuming connection whose client settles what it gets on a goroutine of its own. Unlike the other fakes it has a
// real lock, as little room as it takes to be full all the time, and looks at messages when they are delivered only.
type connection struct {
	sync.Mutex
	t        *testing.T
	consumer queue.Consumer
	inside   atomic.Bool
	waiting  []delivery
	unacked  int
	last     uint64 // highest number of a first delivery
	refused  bool
	arrived  chan struct{}
	ended    chan struct{}
}

const connectionRoom = 50

func (c *connection) Touch() bool { return true }

func (c *connection) Flush(bool) {
	select {
	case c.arrived <- struct{}{}:
	default:
	}
}

func (c *connection) Cancelled() { c.t.Error("cancelled by a queue that was not deleted") }

func (c *connection) Deliver(seq uint64, m amqp.Message, redelivered bool) bool {
	if c.inside.Swap(true) {
		c.t.Error("two goroutines deliver")
	}
	defer c.inside.Store(false)
	if len(c.waiting) == connectionRoom {
		c.refused = true
		return false
	}
	if c.unacked++; c.consumer.Prefetch > 0 && c.unacked > c.consumer.Prefetch {
		c.t.Errorf("%d unacked, with a prefetch of %d", c.unacked, c.consumer.Prefetch)
	}
	if !redelivered && seq <= c.last {
		c.t.Errorf("first delivery of %d after that of %d", seq, c.last)
	}
	if !redelivered {
		c.last = seq
	}
	c.waiting = append(c.waiting, delivery{c.consumer.Tag, seq, string(m.Body()), redelivered})
	return true
}

// take empties the connection, as its writer does, and says so if the queue was refused.
func (c *connection) take() []delivery {
	c.Lock()
	taken, refused := c.waiting, c.refused
	c.waiting, c.refused = nil, false
	c.unacked -= len(taken)
	c.Unlock()
	if refused {
		c.consumer.Resume()
	}
	return taken
}

// churn is a queue under everything at once.
type churn struct {
	*queue.Queue
	mu    sync.Mutex
	acked map[string]int
	left  sync.WaitGroup // messages not acked yet
}

func (u *churn) push(b *queue.Batch) {
	if r := u.Push(b); r.Run {
		u.RunHere()
	}
}

// publish pushes messages in batches, built in chunks that are used again and again.
func (u *churn) publish(publisher, messages int) {
	k := queue.NewChunk()
	for i := 0; i < messages; {
		b := queue.NewBatch()
		for ; i < messages && b.Len() < 40; i++ {
			b.Add(build(k, fmt.Sprintf("message %d of publisher %d", i, publisher)), k)
		}
		u.push(b)
		if i%3 == 0 {
			k.Retire()
			k = queue.NewChunk()
		}
	}
	k.Retire()
}

// consume settles what a connection gets until it ends: acks most, requeues some.
func (u *churn) consume(c *connection, random *rand.Rand) {
	for {
		select {
		case <-c.arrived:
		case <-c.ended:
			return
		}
		acks, requeues := queue.NewSettlement(&c.consumer, queue.Ack), queue.NewSettlement(&c.consumer, queue.Requeue)
		taken, done := c.take(), 0
		for _, d := range taken {
			if random.IntN(10) == 0 {
				requeues.Add(d.seq)
				continue
			}
			acks.Add(d.seq)
			u.mu.Lock()
			u.acked[d.text]++
			u.mu.Unlock()
			done++
		}
		for _, s := range []*queue.Settlement{requeues, acks} {
			if u.Settle(s) {
				u.RunHere()
			}
		}
		u.left.Add(-done)
	}
}

// connect opens a connection with one consumer; close ends it, and gives back what it holds.
func (u *churn) connect(t *testing.T, tag string, prefetch int, seed uint64) (close func()) {
	c := &connection{t: t, arrived: make(chan struct{}, 1), ended: make(chan struct{})}
	c.consumer = queue.Consumer{Tag: tag, Prefetch: prefetch, Outbox: c, Receiver: c}
	if err := u.Consume(&c.consumer, func() {}); err != nil {
		t.Error(err)
	}
	var client sync.WaitGroup
	client.Go(func() { u.consume(c, rand.New(rand.NewPCG(seed, 1))) })
	return func() {
		defer client.Wait()
		defer func() { c.ended <- struct{}{} }()
		u.Cancel(&c.consumer, func() {})
		held := queue.NewSettlement(&c.consumer, queue.Requeue)
		for _, d := range c.take() {
			held.Add(d.seq)
		}
		queue.Detach([]*queue.Detachment{{Queue: u.Queue, Held: []*queue.Settlement{held}}})
	}
}

// Publishers, clients that ack and requeue, consumers that come and go, and the broker's own visits, all at once: every message is acked
// once, as it was published.
func TestChurn(t *testing.T) {
	defer goleak.VerifyNone(t)
	const publishers, messages = 4, 5000
	u := &churn{Queue: queue.New(queue.Options{Name: "q"}), acked: map[string]int{}}
	u.left.Add(publishers * messages)
	closers := []func(){u.connect(t, "all", 0, 1), u.connect(t, "ten", 10, 2), u.connect(t, "one", 1, 3)}
	var work, visits sync.WaitGroup
	for p := range publishers {
		work.Go(func() { u.publish(p, messages) })
	}
	stop := make(chan struct{})
	visits.Go(func() {
		for i := uint64(0); ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			u.connect(t, "guest", 20, i)()
			u.Tend()
		}
	})
	work.Wait()
	u.left.Wait()
	close(stop)
	visits.Wait()
	for _, end := range closers {
		end()
	}
	counts, err := u.Counts()
	if err != nil || counts != (queue.Counts{}) {
		t.Errorf("left: %+v, %v", counts, err)
	}
	for p := range publishers {
		for i := range messages {
			if text := fmt.Sprintf("message %d of publisher %d", i, p); u.acked[text] != 1 {
				t.Errorf("%s: acked %d times", text, u.acked[text])
			}
		}
	}
	if len(u.acked) != publishers*messages {
		t.Errorf("%d different messages acked", len(u.acked))
	}
}
