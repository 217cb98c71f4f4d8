package vhost

import (
	"leveret/amqp"
	"leveret/dedup"
	"leveret/queue"
	"leveret/store"
)

// handover is messages that the broker itself gives to queues: those that died in another one, were delayed, or are replayed. They are built in
// one chunk, pushed a batch a queue, and logged as one record with what they replace, so that a crash leaves the one or the other. It
// belongs to one goroutine; put it back into the pool when it was sent.
type handover struct {
	vhost   *VHost
	routing Routing
	index   amqp.PropertyIndex
	logged  store.Batch
	chunk   *queue.Chunk
	targets []*handoverTarget
	latest  map[*queue.Queue]*handoverTarget // of targets, the last one of each queue
	claims  dedup.Claims                     // the keys of the messages
	runs    []*queue.Queue
	taken   []int // by the caller's number of a message, how many queues it was given to and did not refuse it
	// unrefusable has the queues take the next message: when they were asked, they were none that refuse any.
	unrefusable bool
}

// handoverTarget is what one queue gets.
type handoverTarget struct {
	queue *queue.Queue
	batch *queue.Batch
	pairs []handoverPair
	from  []int // by position in the batch, what the caller calls the message
}

// handoverPair ties a place in the log's batch to one in the queue's.
type handoverPair struct{ index, position int }

// room returns empty memory for a message of about that size: the rest of the chunk, or memory of its own for a large one. The message is built by
// appending to it, and then kept.
func (h *handover) room(size int) []byte {
	if h.chunk != nil && cap(h.chunk.Bytes)-len(h.chunk.Bytes) < size {
		h.chunk.Retire()
		h.chunk = nil
	}
	if size > queue.ChunkSize/4 {
		return make([]byte, 0, size)
	}
	if h.chunk == nil {
		h.chunk = queue.NewChunk()
	}
	return h.chunk.Bytes[len(h.chunk.Bytes):]
}

// keep notes that a message which was built in room's memory stays there, and returns the chunk, nil if it has memory of its own.
func (h *handover) keep(m amqp.Message) *queue.Chunk {
	k := h.chunk
	if k == nil || len(m) == 0 {
		return nil
	}
	free := k.Bytes[len(k.Bytes):cap(k.Bytes)]
	if len(free) == 0 || len(m) > len(free) || &free[0] != &m[0] {
		return nil
	}
	k.Bytes = k.Bytes[:len(k.Bytes)+len(m)]
	return k
}

// add gives a message to the queues that the routing found. id is what refused calls it.
func (h *handover) add(m amqp.Message, k *queue.Chunk, id int) {
	queues := h.routing.Queues
	if k != nil {
		k.Hold(len(queues))
	}
	tag, logged := h.tag(m, queues)
	if logged {
		h.logged.Publish(m, tag)
	}
	for _, q := range queues {
		t := h.target(q)
		t.batch.Unrefusable = t.batch.Unrefusable || h.unrefusable
		if logged && q.Logs(m) {
			h.logged.To(q.Options().ID)
			t.pairs = append(t.pairs, handoverPair{len(h.logged.Pairs()) - 1, t.batch.Len()})
		}
		if q.Tagged() {
			t.batch.AddTagged(m, k, q.Tag(m, h.origin()))
		} else {
			t.batch.Add(m, k)
		}
		t.from = append(t.from, id)
	}
	if claims := h.routing.Claims; logged && len(claims) > 0 {
		first := len(h.claims)
		h.claims = append(h.claims, claims...)
		h.claims[first:].Log(&h.logged)
	}
}

// tag is what the log is to know of a message for its queues' sake, and whether it goes into the log at all.
func (h *handover) tag(m amqp.Message, queues []*queue.Queue) (tag uint32, logged bool) {
	tagged := false
	for _, q := range queues {
		if !q.Logs(m) {
			continue
		}
		logged = true
		if !q.Tagged() {
			continue
		}
		if own := q.Tag(m, h.origin()); tagged && own != tag {
			tag = queue.UnknownTag
		} else {
			tag, tagged = own, true
		}
	}
	return tag, logged
}

// origin is what a queue notes of where a message came from; it aliases the handover and is gone with it.
func (h *handover) origin() *queue.Origin {
	return &queue.Origin{Index: &h.index, Due: h.routing.Due}
}

// target is what a queue gets, made if there is none yet or that is full.
func (h *handover) target(q *queue.Queue) *handoverTarget {
	if t := h.latest[q]; t != nil && t.batch.Len() < queue.BatchMessages {
		return t
	}
	t := &handoverTarget{queue: q, batch: queue.NewBatch()}
	h.targets = append(h.targets, t)
	if h.latest == nil {
		h.latest = make(map[*queue.Queue]*handoverTarget)
	}
	h.latest[q] = t
	return t
}

// send pushes and logs what was added. refused is called for each message that a queue had no room for.
func (h *handover) send(refused func(id int)) {
	if h.logged.Len() > 0 {
		h.vhost.opts.Store.Append(&h.logged, func() { h.push(refused) })
	} else {
		h.push(refused)
	}
	if h.chunk != nil {
		h.chunk.Retire()
		h.chunk = nil
	}
	for i, q := range h.runs {
		go q.Run()
		h.runs[i] = nil
	}
	h.runs = h.runs[:0]
}

// push gives each queue its batch; under the log's lock, if anything goes to the log.
func (h *handover) push(refused func(id int)) {
	pairs := h.logged.Pairs()
	for i, t := range h.targets {
		r := t.queue.Push(t.batch)
		if r.Run {
			h.runs = append(h.runs, t.queue)
		}
		for _, at := range t.pairs {
			pairs[at.index].Seq = r.Place(at.position)
		}
		for _, position := range r.Refused {
			refused(t.from[position])
		}
		h.targets[i] = nil
	}
	h.targets, h.unrefusable = h.targets[:0], false
	clear(h.latest)
	h.claims.Number(pairs)
	h.claims = h.claims[:0]
}
