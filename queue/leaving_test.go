package queue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"leveret/amqp"
	"leveret/queue"
	"leveret/store"
)

// picky lets some messages go, and wants the others to stay.
type picky struct{ gone map[string]int }

func (p picky) Forward(_ *queue.Queue, list []queue.Departure) func() {
	for i := range list {
		if text := string(list[i].Message.Body()); text == "stays" {
			list[i].Stays = true
		} else {
			p.gone[text]++
		}
	}
	return nil
}

// However many messages can't leave, those behind them can.
func TestLeavingPastThoseThatStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := picky{map[string]int{}}
		s := queue.DefaultSettings()
		s.DeadLetter = true
		g := newRig(t, queue.Options{Settings: s, Forwarder: p})
		r := g.start(queue.Consumer{Tag: "c"})
		const many = 2000
		for range many {
			g.publish("stays")
		}
		g.publish("goes")
		for n := range uint64(many + 1) {
			g.settle(r, queue.Reject, n+1)
		}
		for range 3 {
			g.Tend()
			time.Sleep(time.Second)
			synctest.Wait()
		}
		if st := g.Stats(); p.gone["goes"] != 1 || st.Leaving != many {
			t.Errorf("%v went, %d are on their way", p.gone, st.Leaving)
		}
		g.Delete(false, false)
	})
}

// stubborn lets nothing go until it is told to.
type stubborn struct {
	open  bool
	calls int
	gone  int
}

func (s *stubborn) Forward(_ *queue.Queue, list []queue.Departure) func() {
	s.calls++
	for i := range list {
		list[i].Stays = !s.open
	}
	if s.open {
		s.gone += len(list)
	}
	return nil
}

// Transient messages that can't leave are kept in memory up to a limit; what is more is dropped, counted and told.
func TestTransientMessagesThatStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, overrun := new(stubborn), 0
		s := queue.DefaultSettings()
		s.DeadLetter = true
		g := newRig(t, queue.Options{Settings: s, Forwarder: f, Overrun: func(_ *queue.Queue, n int) { overrun += n }})
		g.start(queue.Consumer{Tag: "c"})
		const many, size = 600, 64 << 10
		text := passes + string(make([]byte, size))
		for n := range uint64(many) {
			g.publish(text)
			g.settle(nil, queue.Reject, n+1)
		}
		st := g.Stats()
		if st.Leaving > 32<<20/size+1 || st.Leaving < 30<<20/size {
			t.Errorf("%d are kept", st.Leaving)
		}
		if dropped := int(st.Dropped[queue.Rejected]); dropped != many-st.Leaving || dropped != overrun {
			t.Errorf("%d are kept, %d dropped, and told of %d", st.Leaving, dropped, overrun)
		}
		if f.calls != 1 {
			t.Errorf("tried %d times", f.calls)
		}
		f.open = true
		g.Tend()
		time.Sleep(time.Second)
		synctest.Wait()
		if g.Stats().Leaving != 0 || f.gone != st.Leaving {
			t.Errorf("%d went, %d are left", f.gone, g.Stats().Leaving)
		}
		g.Delete(false, false)
	})
}

// A message that somebody sends elsewhere is not dropped when too many others can't leave: it stays where it was.
func TestSentMessageAmongThoseThatStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := queue.DefaultSettings()
		s.DeadLetter = true
		g := newRig(t, queue.Options{Durable: true, ID: 1, Log: store.NewMemory(), Settings: s, Forwarder: new(stubborn)})
		r := g.start(queue.Consumer{Tag: "c"})
		text := passes + string(make([]byte, 64<<10))
		for n := range uint64(600) {
			g.publish(text)
			g.settle(nil, queue.Reject, n+1)
		}
		g.cancel(r)
		g.publish(kept + "persistent")
		found, _, err := g.Peek(0, 0, 1)
		if err != nil || len(found) != 1 {
			t.Fatalf("%d messages, %v", len(found), err)
		}
		if n, back, err := g.Send(found, func(amqp.Message) queue.Destination { return queue.Destination{Key: "elsewhere"} }); n+back != 1 || err != nil {
			t.Fatalf("%d on their way, %d back, %v", n, back, err)
		}
		if st := g.Stats(); st.Dropped[queue.Sent] != 0 || st.Ready != 1 {
			t.Errorf("%d dropped, %d ready", st.Dropped[queue.Sent], st.Ready)
		}
		g.Delete(false, false)
	})
}
