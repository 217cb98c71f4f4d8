package queue_test

import (
	"testing"
	"testing/synctest"

	"leveret/amqp"
	"leveret/queue"
)

// inChunk publishes messages that stand in one chunk, which then takes no more.
func (g *rig) inChunk(texts ...string) *queue.Chunk {
	k, b := queue.NewChunk(), queue.NewBatch()
	for _, text := range texts {
		b.Add(build(k, text), k)
	}
	if r := g.Push(b); r.Run {
		g.Run()
	}
	k.Retire()
	return k
}

// build builds a message at the end of a chunk and holds a reference for one queue.
func build(k *queue.Chunk, text string) amqp.Message {
	start := len(k.Bytes)
	k.Bytes = append(k.Bytes, newMessage(text)...)
	k.Hold(1)
	return k.Bytes[start:len(k.Bytes):len(k.Bytes)]
}

// isReleased reports whether nothing refers to a chunk any more. Only as long as no new one was asked for.
func isReleased(k *queue.Chunk) bool { return len(k.Bytes) == 0 }

// A chunk is released with the last of its messages, whichever way that goes, and while one may still be delivered it is not.
func TestChunkGoesWithItsLastMessage(t *testing.T) {
	ways := map[string]func(g *rig, a *receiver){
		"ack":    func(g *rig, a *receiver) { g.settle(a, queue.Ack, 1, 2, 3) },
		"reject": func(g *rig, a *receiver) { g.settle(a, queue.Reject, 2); g.settle(a, queue.Ack, 3, 1) },
		"requeue and purge": func(g *rig, a *receiver) {
			g.settle(a, queue.Ack, 1)
			g.cancel(a)
			g.settle(a, queue.Requeue, 2, 3)
			g.Purge()
		},
		"requeue and get": func(g *rig, a *receiver) {
			g.cancel(a)
			g.settle(a, queue.Requeue, 1, 2, 3)
			g.get(true)
			g.get(false)
			g.get(true)
			g.settle(nil, queue.Ack, 2)
		},
		"no acknowledgement": func(g *rig, a *receiver) {
			g.settle(a, queue.Ack, 1, 2)
			g.cancel(a)
			g.start(queue.Consumer{Tag: "b", NoAck: true})
			g.settle(a, queue.Requeue, 3)
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, queue.Options{})
			a := g.start(queue.Consumer{Tag: "a"})
			k := g.inChunk("1", "2", "3")
			if isReleased(k) {
				t.Fatal("released with unacked messages in it")
			}
			g.publish("4") // has no chunk, and stays
			if way(g, a); !isReleased(k) {
				t.Error("not released")
			}
		})
	}
}

func TestChunkStaysWithAnyMessage(t *testing.T) {
	g := newRig(t, queue.Options{})
	a := g.start(queue.Consumer{Tag: "a"})
	k, other := g.inChunk("1", "2", "3"), g.inChunk("4", "5")
	g.settle(a, queue.Ack, 1, 4, 3) // from one chunk to the other and back
	g.settle(a, queue.Requeue, 2, 5)
	g.settle(a, queue.Ack, 5)
	if isReleased(k) || !isReleased(other) {
		t.Errorf("released: %v, %v; want only the second", isReleased(k), isReleased(other))
	}
}

// Until its publisher has retired it a chunk is not used again, though nothing in it is needed any more; and every queue of a fanout
// holds its own reference.
func TestChunkOfSeveralQueues(t *testing.T) {
	one, two := newRig(t, queue.Options{}), newRig(t, queue.Options{})
	k := queue.NewChunk()
	m := build(k, "m")
	k.Hold(1)
	for _, g := range []*rig{one, two} {
		g.start(queue.Consumer{Tag: "a", NoAck: true})
		b := queue.NewBatch()
		b.Add(m, k)
		if r := g.Push(b); r.Run {
			g.Run()
		}
	}
	if isReleased(k) {
		t.Error("released under its publisher")
	}
	build(k, "another, which finds its queue closed: never released, the collector's business")
	if k.Retire(); isReleased(k) {
		t.Error("released with a message in it")
	}
	if k.Release(1); !isReleased(k) {
		t.Error("not released")
	}
}

// A large message has a chunk of its own, which goes with it; there is no need to copy what stays out of it.
func TestOwnedChunk(t *testing.T) {
	for _, size := range []int{1, queue.MostInChunk + 1, 64 << 10, 64<<10 + 1, queue.MostOwned} {
		k := queue.NewOwned(size)
		if len(k.Bytes) != 0 || cap(k.Bytes) < size || cap(k.Bytes) > size+16<<10 || !k.Owned() {
			t.Fatalf("for %d bytes: %d of %d, owned: %v", size, len(k.Bytes), cap(k.Bytes), k.Owned())
		}
		synctest.Test(t, func(t *testing.T) { staysInOwned(t, k) })
	}
	if queue.NewChunk().Owned() {
		t.Error("a chunk for many is one message's")
	}
}

func staysInOwned(t *testing.T, k *queue.Chunk) {
	g := newRig(t, queue.Options{})
	b := queue.NewBatch()
	m := build(k, "m")
	b.Add(m, k)
	if r := g.Push(b); r.Run {
		g.Run()
	}
	k.Retire()
	g.tend()
	g.tend()
	a := g.start(queue.Consumer{Tag: "a"})
	if isReleased(k) || &a.last[0] != &m[0] {
		t.Error("the message does not stand where it was built")
	}
	if g.settle(a, queue.Ack, 1); !isReleased(k) {
		t.Error("not released")
	}
}
