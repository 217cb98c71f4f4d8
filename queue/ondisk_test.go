package queue_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"leveret/amqp"
	"leveret/queue"
	"leveret/store"
)

// logged publishes a persistent message to a queue on a store in memory, under number 7.
func logged(g *rig, s *store.Memory, m amqp.Message) {
	tag := uint32(0)
	b := queue.NewBatch()
	if g.Tagged() {
		tag = g.Tag(m, &queue.Origin{})
		b.AddTagged(m, nil, tag)
	} else {
		b.Add(m, nil)
	}
	var batch store.Batch
	batch.Publish(m, tag)
	batch.To(7)
	var r queue.Receipt
	s.Append(&batch, func() {
		r = g.Push(b)
		batch.Pairs()[0].Seq = r.First
	})
	if r.Run {
		g.RunHere()
	}
}

// large is a persistent message of 64 KiB; priority -1 is none, and expiration -1 too.
func large(priority, expiration int) amqp.Message {
	index := amqp.PropertyIndex{DeliveryMode: amqp.Persistent}
	if priority >= 0 {
		index.Flags, index.Priority = amqp.FlagPriority, uint8(priority)
	}
	m := amqp.Message(append(amqp.AppendMessageAddress(nil, nil, nil), 0, 0))
	m.SetProperties(2, &index, time.Now().UnixMilli())
	if expiration >= 0 {
		m.SetExpiration(uint64(expiration))
	}
	return append(m, strings.Repeat("x", 64<<10)...)
}

// manyLarge are more messages than are in memory at one end of a queue.
const manyLarge = 100

// The head of each lane of a quorum queue is removed when its time is up, on disk or not.
func TestLaneHeadsOnDiskExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store.NewMemory()
		g := newRig(t, queue.Options{ID: 7, Durable: true, Log: s, Quorum: true})
		for i := range 2*manyLarge + 1 {
			if i == manyLarge {
				logged(g, s, large(0, 1000))
			} else {
				logged(g, s, large(9, -1))
			}
		}
		synctest.Wait() // the queue may run on a goroutine by now
		if st := g.Stats(); st.Ready != 2*manyLarge+1 || st.InMemory > manyLarge {
			t.Errorf("%d are ready, %d in memory", st.Ready, st.InMemory)
		}
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		if st := g.Stats(); st.Ready != 2*manyLarge || st.Dropped[queue.Expired] != 1 {
			t.Errorf("%d are ready, %d have expired", st.Ready, st.Dropped[queue.Expired])
		}
		g.Delete(false, false)
	})
}

// A queue that is told to remove messages anywhere looks at those that it has, in memory and on disk.
func TestExpireAnywhereLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store.NewMemory()
		g := newRig(t, queue.Options{ID: 7, Durable: true, Log: s})
		logged(g, s, large(-1, -1))
		for range manyLarge {
			logged(g, s, large(-1, 5000))
		}
		if st := g.Stats(); st.InMemory > manyLarge*2/3 {
			t.Errorf("%d are in memory", st.InMemory)
		}
		settings := queue.DefaultSettings()
		settings.ExpireAnywhere = true
		g.Apply(settings)
		for range 6 {
			time.Sleep(time.Second)
			g.Tend()
			synctest.Wait()
		}
		if st := g.Stats(); st.Ready != 1 || st.Dropped[queue.Expired] != manyLarge {
			t.Errorf("%d are ready, %d have expired", st.Ready, st.Dropped[queue.Expired])
		}
		g.Delete(false, false)
	})
}

// lossyLog knows of all its messages, not with which tags, and can't read one of them.
type lossyLog struct{ fakeLog }

func (l *lossyLog) Scan(_ uint64, ranges []store.Range, each func(store.Info) bool) error {
	for _, r := range ranges {
		for n := r.First; n <= r.Last; n++ {
			each(store.Info{Seq: n, Tag: queue.UnknownTag})
		}
	}
	return nil
}

// A message that can't be read, when a start wants to know its place in the order, is given up: it would stay for ever.
func TestRecoverWhatHasNoPlace(t *testing.T) {
	l := new(lossyLog)
	for seq := range uint64(3) {
		l.messages = append(l.messages, store.Message{Seq: seq + 1, Body: newMessage(kept)})
	}
	l.lost = []uint64{2}
	opts := queue.Options{Name: "q", ID: 7, Durable: true, Log: l, FairBy: queue.Keying{Source: queue.ByProperty, Name: "routing-key"}}
	q := recoverQueue(opts, store.QueueState{Next: 4, Live: []store.Range{{First: 1, Last: 3}}}, nil)
	if c, err := q.Counts(); c.Ready != 2 || err != nil || q.Stats().Damaged != 1 {
		t.Errorf("%+v, %v, %d are damaged", c, err, q.Stats().Damaged)
	}
	q.Returned() // nothing is read beside the test any more
	l.wantTold(t, "7:2-2")
	q.Delete(false, false)
}

// A look far into a queue takes several turns, and finds the same.
func TestPeekFar(t *testing.T) {
	g := newRig(t, queue.Options{})
	const many = 60_000
	for range many / queue.BatchMessages {
		texts := make([]string, queue.BatchMessages)
		g.publish(texts...)
	}
	all := uint64(many / queue.BatchMessages * queue.BatchMessages)
	for _, c := range []struct {
		skip, limit int
		first, next uint64
		count       int
	}{
		{0, 10, 1, 11, 10},
		{50_000, 10, 50_001, 50_011, 10},
		{int(all) - 5, 10, all - 4, 0, 5},
		{int(all) + 1, 10, 0, 0, 0},
	} {
		found, next, err := g.Peek(0, c.skip, c.limit)
		if err != nil || len(found) != c.count || next != c.next || c.count > 0 && found[0].Seq != c.first {
			t.Errorf("%+v: %d found, next %d, %v", c, len(found), next, err)
		}
	}
	g.Delete(false, false)
}

// slowFlush is an outbox whose Flush waits.
type slowFlush struct {
	outbox
	began chan struct{}
	end   chan struct{}
}

func (o *slowFlush) Flush(direct bool) {
	o.outbox.Flush(direct)
	o.began <- struct{}{}
	<-o.end
}

// Whoever stops a queue waits until nobody runs it any more.
func TestStopAwaitsTheRunner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, queue.Options{})
		o := &slowFlush{outbox: *g.newOutbox(), began: make(chan struct{}), end: make(chan struct{})}
		r := g.consumer(queue.Consumer{Tag: "c"})
		r.consumer.Outbox, r.outbox = o, &o.outbox
		if err := g.consume(r); err != nil {
			t.Fatal(err)
		}
		go g.publish("a")
		<-o.began
		stopped := make(chan struct{})
		go g.publish("b") // waits for the turn in which the queue learns that it is to stop
		synctest.Wait()
		go func() {
			g.Returned()
			close(stopped)
		}()
		synctest.Wait()
		o.end <- struct{}{}
		<-o.began
		synctest.Wait()
		select {
		case <-stopped:
			t.Error("stopped while somebody runs the queue")
		default:
		}
		o.end <- struct{}{}
		<-stopped
		g.Delete(false, false)
	})
}

// The message to be served next is read even if many large ones came before it.
func TestFirstBehindLargeOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store.NewMemory()
		g := newRig(t, queue.Options{ID: 7, Durable: true, Log: s, MaxPriority: 9})
		for i := range 3 * manyLarge {
			if i == 2*manyLarge {
				logged(g, s, large(9, -1))
			}
			logged(g, s, large(0, -1))
		}
		r := g.start(queue.Consumer{Tag: "c", Prefetch: 1})
		for range 3 {
			time.Sleep(time.Second)
			synctest.Wait()
			g.settle(r, queue.Ack, g.journal.deliveries[len(g.journal.deliveries)-1].seq)
		}
		synctest.Wait()
		g.took("c201 c1 c2 c3")
		g.Delete(false, false)
	})
}
