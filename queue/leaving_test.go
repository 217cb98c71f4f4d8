package queue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"leveret/queue"
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
