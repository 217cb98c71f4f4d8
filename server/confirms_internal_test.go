package server

import (
	"testing"

	"pgregory.net/rapid"

	"leveret/amqp"
	"leveret/frame"
	"leveret/store"
)

// Whatever is refused, and whenever the log becomes durable, each publish is answered once, with an ack if it was taken and a nack if not, in
// the order of the tags, and never before the log has it.
func TestConfirmsAnswerEachPublishOnce(t *testing.T) {
	c := hotPath(t)
	rapid.Check(t, func(t *rapid.T) {
		ch := &channel{conn: c, number: 1, confirming: true}
		g := &confirmed{t: t, refused: make(map[uint64]bool), lsn: make(map[uint64]store.LSN)}
		t.Repeat(map[string]func(*rapid.T){
			"publish": func(t *rapid.T) {
				lsn := store.LSN(0)
				if rapid.Bool().Draw(t, "logged") {
					g.appended++
					lsn = g.appended
				}
				for range rapid.IntRange(1, 6).Draw(t, "messages") {
					ch.published++
					g.lsn[ch.published] = lsn
					for range rapid.IntRange(0, 2).Draw(t, "queues that refuse") {
						ch.refusedTags = append([]uint64{ch.published}, ch.refusedTags...) // queues are asked in any order
						g.refused[ch.published], g.lsn[ch.published] = true, 0
					}
				}
				ch.confirms.add(ch.published, lsn, ch.takeRefused())
			},
			"sync": func(t *rapid.T) {
				g.durable = store.LSN(rapid.Uint64Range(uint64(g.durable), uint64(g.appended)).Draw(t, "durable"))
			},
			"": func(t *rapid.T) { g.look(c, ch) },
		})
		g.durable = g.appended
		g.look(c, ch)
		if g.last != ch.published {
			t.Fatalf("%d of %d publishes were answered", g.last, ch.published)
		}
	})
}

// confirmed is what a client knows of its publishes, and what a model knows better.
type confirmed struct {
	t                 *rapid.T
	refused           map[uint64]bool
	lsn               map[uint64]store.LSN
	appended, durable store.LSN
	last              uint64
}

// look sends what can be answered and holds it against the model.
func (g *confirmed) look(c *connection, ch *channel) {
	c.out.confirmLocked(ch, g.durable)
	sent := c.out.out.bytes
	for len(sent) > 0 {
		f, n, err := frame.Parse(sent, 0)
		if err != nil || n == 0 {
			g.t.Fatalf("%x is no frame: %v", sent, err)
		}
		sent = sent[n:]
		var ack amqp.BasicAck
		var nack amqp.BasicNack
		if f.MethodID() == amqp.MethodBasicNack {
			if err := nack.Decode(f.Arguments()); err != nil {
				g.t.Fatal(err)
			}
			g.answer(nack.DeliveryTag, nack.Multiple, true)
		} else if err := ack.Decode(f.Arguments()); err != nil {
			g.t.Fatal(err)
		} else {
			g.answer(ack.DeliveryTag, ack.Multiple, false)
		}
	}
	c.out.out = outgoing{}
	if next := g.last + 1; next <= ch.published && g.lsn[next] <= g.durable {
		g.t.Fatalf("publish %d was not answered", next)
	}
}

func (g *confirmed) answer(tag uint64, multiple, refused bool) {
	if multiple != (tag > g.last+1) || tag <= g.last {
		g.t.Fatalf("tag %d, multiple %t, behind %d", tag, multiple, g.last)
	}
	for g.last < tag {
		g.last++
		if g.refused[g.last] != refused || g.lsn[g.last] > g.durable {
			g.t.Fatalf("publish %d was answered: refused %t, want %t; the log is at %d of %d", g.last, refused, g.refused[g.last], g.durable, g.lsn[g.last])
		}
	}
}
