package server

import (
	"bytes"

	"leveret/amqp"
	"leveret/dedup"
	"leveret/exchange"
	"leveret/queue"
	"leveret/store"
	"leveret/vhost"
)

// batchBytes is how many bytes of messages a reader gathers before it hands them over.
const batchBytes = 1 << 20

// inlineBytes is how many bytes of messages are little enough for the reader to run their queue by itself: a full batch of small ones. What
// the queue delivers is then still in this core's cache.
const inlineBytes = 32 << 10

// publisher is the publishing side of a connection: what its reader has gathered and not handed over. It belongs to the reader.
type publisher struct {
	method   amqp.BasicPublish // decoded into again and again
	index    amqp.PropertyIndex
	plain    []byte // the properties that index is of, if it holds for other messages too
	now      int64  // Unix ms, read once a batch
	chunk    *queue.Chunk
	owned    *queue.Chunk // of the message at hand, if it has one of its own
	building *channel     // whose message grows at the chunk's end

	routes    routes
	routing   *vhost.Routing // nil until a message has no remembered route: most connections are small by that
	filled    []*target      // with messages to hand over
	bytes     int            // of them
	gone      uint64         // messages for queues that had closed
	refusals  []refusal      // by queues that are full, or by a virtual host that is
	origin    queue.Origin
	tracing   bool         // of this batch each message is traced
	overQuota bool         // the virtual host is full, as of the beginning of this batch
	half      bool         // a message may have come half
	published bool         // something was published since the last look at the alarm
	appended  bool         // and something into the log
	behind    bool         // a duplicate waits to be confirmed
	whole     bool         // a transaction is being committed: nothing is handed over before all of it is there
	claims    dedup.Claims // the keys of gathered messages
	claimed   []claimed
	replies   []replyTo   // direct replies to hand over
	logged    store.Batch // what goes into the log
	pushAll   func()      // push, made once
	confirm   []*channel  // with publishes that were not confirmed
	settles   []settle    // not looked at
	settled   gather      // looked at, to hand over
	runs      []*queue.Queue
	pressed   []*target        // that may have too much in their mailboxes
	touched   []*outbox        // with direct replies to flush
	counting  []*channel       // that have counted something in this batch
	channel   *channel         // whose messages are being counted, nil for none,
	source    *source          // what these are published to,
	inflows   int              // that the channels keep together
	run       uint64           // how often one of the two has changed, and
	traffic   exchange.Traffic // what was not added up yet
}

// inspected are the properties that a publish is checked for.
const inspected = amqp.FlagHeaders | amqp.FlagReplyTo | amqp.FlagExpiration | amqp.FlagUserID

// moreFlags is the bit of the property flags that announces a second word of them. No property needs one, and clients can't read it: it is not passed on.
const moreFlags = 1

// publish handles a complete message: checks, routes, and gathers it for its queues.
func (c *connection) publish(ch *channel) error {
	p := &c.publisher
	t := &ch.content
	if t.immediate {
		p.drop(ch)
		return amqp.ImmediateNotImplemented().At(amqp.MethodBasicPublish)
	}
	c.counted.Published++
	p.countChannel(ch).Published++
	p.published = true
	m := amqp.Message(t.message)
	r, rewritten, err := c.destination(ch, m)
	if err != nil {
		p.drop(ch)
		return at(err, amqp.MethodBasicPublish)
	}
	body := len(m.Body())
	c.counted.Sizes.note(body)
	var k *queue.Chunk
	if rewritten != nil {
		p.drop(ch)
		m = rewritten
	} else {
		m, k = p.keep(ch)
	}
	if ch.tx != nil {
		ch.shown.uncommitted.Add(1)
		return ch.tx.publish(c, bytes.Clone(m), r, t.mandatory)
	}
	if len(r.claims) > 0 {
		r = c.together(r)
	}
	if ch.confirming {
		ch.published++
		c.counted.Confirmable++
		p.willConfirm(ch)
	}
	c.enqueue(ch, m, body, k, r, t.mandatory)
	if k != nil && k.Owned() {
		k.Retire()
	}
	return nil
}

// destination checks a message in the order that clients rely on, fills in its head and finds its route. A message that the broker has
// to change comes back rewritten, in memory of its own.
func (c *connection) destination(ch *channel, m amqp.Message) (r *route, rewritten amqp.Message, err error) {
	p := &c.publisher
	t := &ch.content
	if t.tooLarge > 0 {
		return nil, nil, amqp.MessageTooLarge(t.tooLarge, c.server.options.MaxMessageSize)
	}
	address := m.Address()
	p.routes.version = p.routes.rights.Load() // before the rights are asked: a route must not outlive what it was allowed by
	r = p.routes.find(address)
	var x *exchange.Exchange
	if r == nil {
		if x, err = c.exchangeFor(m); err != nil {
			return nil, nil, err
		}
	}
	raw := m[amqp.MessageHeadSize+len(address):][:t.properties]
	if err := p.scan(raw); err != nil {
		return nil, nil, err
	}
	m.SetProperties(t.properties, &p.index, p.now)
	if p.index.Flags&inspected != 0 || raw[1]&moreFlags != 0 {
		return c.inspect(ch, m, x, r)
	}
	if r == nil {
		r, err = c.resolve(ch, x, m, nil)
	}
	return r, nil, err
}

// maxPlain is the longest encoded properties that are remembered.
const maxPlain = 64

// scan indexes the properties. Publishers tend to send the same ones again and again; if they hold nothing that has to be looked
// at in each message, the index of the message before serves.
func (p *publisher) scan(raw []byte) error {
	if len(p.plain) > 0 && bytes.Equal(raw, p.plain) {
		return nil
	}
	p.plain = p.plain[:0]
	if err := amqp.ScanPublished(raw, &p.index); err != nil {
		return err
	}
	if p.index.Flags&(inspected|amqp.FlagCorrelationID|amqp.FlagMessageID) == 0 && raw[1]&moreFlags == 0 && len(raw) <= maxPlain {
		p.plain = append(p.plain, raw...)
	}
	return nil
}

// look indexes the properties of a message that was checked before.
func (p *publisher) look(m amqp.Message) {
	p.plain = p.plain[:0]
	if amqp.ScanProperties(m.Properties(), &p.index) != nil {
		p.index = amqp.PropertyIndex{}
	}
}

// enqueue gathers a message with a body of so many bytes, in chunk k if that is not nil, for the queues of its route.
func (c *connection) enqueue(ch *channel, m amqp.Message, body int, k *queue.Chunk, r *route, mandatory bool) {
	p := &c.publisher
	if p.tracing {
		c.tracePublish(ch, m, r)
	}
	if r.reply != nil {
		p.replies = append(p.replies, replyTo{r.reply, bytes.Clone(m)})
		return
	}
	p.countSource(ch, r.source)
	p.traffic.In++
	if ch.confirming {
		p.traffic.Confirmable++
	}
	if r.duplicate {
		c.duplicate(m)
	}
	if len(r.targets) == 0 || p.overQuota {
		c.toNobody(ch, m, r, mandatory)
		return
	}
	tag := uint32(0)
	if r.tagged {
		tag = c.tag(m, r)
	}
	c.spread(ch, m, body, k, r, tag)
}

// spread gathers a message for each queue of its route that takes it; tag is for the log.
func (c *connection) spread(ch *channel, m amqp.Message, body int, k *queue.Chunk, r *route, tag uint32) {
	p := &c.publisher
	persistent, logged, taken, full := m.Persistent(), false, 0, false
	for _, t := range r.targets {
		if t.run != p.run && !p.prepare(ch, t, body) { // such a message need not be logged
			continue
		}
		if persistent && t.durable || t.special {
			logged = p.note(ch, t, m, tag, logged)
		}
		full = t.batch.AddSized(m, k, body) || full
		taken++
	}
	p.traffic.Out += uint64(taken)
	if len(r.claims) > 0 {
		p.claim(r, logged, taken)
	}
	if taken == 0 {
		return
	}
	if k != nil {
		k.Hold(taken)
	}
	c.counted.Routed++
	if p.bytes += len(m); (full || p.bytes >= batchBytes) && !p.whole {
		c.handOver()
	}
}

// note does for the next message of a target what most do not need: it goes to the log, once for all its queues, comes with a tag, or is remembered
// in case that the queue refuses it. It returns whether the message is in the log.
func (p *publisher) note(ch *channel, t *target, m amqp.Message, tag uint32, logged bool) bool {
	if t.keepsAll || t.durable && m.Persistent() {
		if !logged {
			p.logged.Publish(m, tag)
			logged = true
		}
		p.logged.To(t.number)
		t.pairs = append(t.pairs, pair{len(p.logged.Pairs()) - 1, t.batch.Len()})
	}
	if t.refuses {
		t.origins = append(t.origins, ch.origin())
	}
	if t.tagged {
		t.batch.Tag(t.tag)
	}
	return logged
}

// prepare makes a target one that the next message of this run can be gathered for; it reports false if the queue is too full. Of a queue that can't be it
// need not be called again before the batch, or the run, ends.
func (p *publisher) prepare(ch *channel, t *target, body int) bool {
	if (t.batch == nil || t.refuses) && !p.admit(ch, t, body) {
		return false
	}
	if t.counting != p.run {
		p.countInto(t)
	}
	if !t.refuses {
		t.run = p.run
	}
	return true
}

// admit makes a target one that has something to hand over, unless its queue is too full for a message with a body of so many bytes.
func (p *publisher) admit(ch *channel, t *target, body int) bool {
	if t.batch == nil {
		t.refuses = t.queue.MayRefuse()
	}
	if t.refuses && t.queue.Full(body) {
		p.refuse(ch, t)
		return false
	}
	if t.batch == nil {
		t.batch = queue.NewBatch()
		t.batch.Unrefusable = !t.refuses
		t.special = t.refuses || t.tagged || t.keepsAll
		p.filled = append(p.filled, t)
	}
	return true
}

// toNobody handles a message that goes to no queue: the virtual host is full, or it is a duplicate, or asks for more time for a delivery, or
// nobody wants it.
func (c *connection) toNobody(ch *channel, m amqp.Message, r *route, mandatory bool) {
	switch {
	case len(r.targets) > 0:
		c.publisher.refuseForAll(ch)
		r.claims.Release()
	case !r.duplicate && (r.lease.tag == 0 || !ch.extend(r.lease)):
		c.unroutable(ch, m, mandatory)
	}
}

// unroutable returns or drops a message that no queue wants.
//
// [basic.publish mandatory]: the return comes before the confirm.
func (c *connection) unroutable(ch *channel, m amqp.Message, mandatory bool) {
	if !mandatory {
		c.counted.Unroutable++
		c.publisher.traffic.Dropped++
		c.publisher.countChannel(ch).Unroutable++
		c.server.drops.note(c, dropUnroutable, m)
		return
	}
	c.counted.Returned++
	c.publisher.traffic.Returned++
	c.publisher.countChannel(ch).Returned++
	_, properties, body := m.Split()
	c.out.returned(ch, &amqp.BasicReturn{
		ReplyCode: amqp.CodeNoRoute, ReplyText: amqp.NoRouteText, Exchange: m.Exchange(), RoutingKey: m.RoutingKey(),
	}, properties, body)
	if !c.publisher.whole && c.out.overReplies() {
		c.handOver() // the others' messages do not wait for this client to read its returns
		c.out.waitReplies()
	}
}

// handOver gives the queues what was gathered for them: messages, then settlements, then the publishers' confirms.
// What goes to the log gets its numbers under the log's lock, so that log and queues agree on the order.
func (c *connection) handOver() {
	p := &c.publisher
	c.applySettles()
	var lsn store.LSN
	leads := false
	if p.logged.Len() > 0 || p.behind {
		p.behind = false
		leads = c.leads()
		p.logged.Led = leads
		if p.pushAll == nil {
			p.pushAll = p.push
		}
		lsn = c.server.store.Append(&p.logged, p.pushAll)
		p.appended = true
	} else if len(p.filled) > 0 {
		p.push()
	}
	small := p.bytes <= inlineBytes
	p.bytes = 0
	c.counted.QueueGone += p.gone
	p.gone = 0
	c.deliverReplies()
	c.handOverSettled()
	c.noteRefusals()
	c.confirmPublished(lsn)
	c.runQueues(small)
	p.routes.trim()
	if leads {
		c.server.store.Lead()
	}
}

// leadBytes is up to how many bytes of messages a reader may take to the disk by itself.
const leadBytes = 16 << 10

// leads reports whether the reader syncs what it hands over by itself: a single message, or transaction, to be confirmed, of a client that has
// sent nothing behind it and so probably waits.
func (c *connection) leads() bool {
	p := &c.publisher
	return len(p.confirm) == 1 && p.bytes <= leadBytes && len(c.in.pending()) == 0 && (p.logged.Len() == 1 || p.logged.Atomic)
}

// push gives each queue its batch. Under the log's lock, if anything goes to the log.
func (p *publisher) push() {
	pairs := p.logged.Pairs()
	for i, t := range p.filled {
		n := t.batch.Len()
		r := t.queue.Push(t.batch)
		t.batch, t.run = nil, 0
		t.count(n)
		if r.Run {
			p.runs = append(p.runs, t.queue)
		}
		if r.First == 0 {
			p.gone += uint64(n)
		} else {
			for _, at := range t.pairs {
				pairs[at.index].Seq = r.Place(at.position)
			}
		}
		t.pairs = t.pairs[:0]
		if t.refuses {
			p.refuseAt(t, r.Refused)
			p.unclaim(t, r.Refused)
		}
		if !t.pressed {
			t.pressed = true
			p.pressed = append(p.pressed, t)
		}
		p.filled[i] = nil
	}
	p.filled = p.filled[:0]
	if len(p.claims) > 0 {
		p.numberClaims()
	}
}

// handOverSettled gives the queues their settlements; those that somebody has to run are run with the published ones.
func (c *connection) handOverSettled() {
	p := &c.publisher
	for i, s := range p.settled.list {
		if s.queue.Settle(s.settlement) {
			p.runs = append(p.runs, s.queue)
		}
		p.settled.list[i] = addressed{}
	}
	p.settled.reset()
}

// runQueues runs the queues that this batch has woken: a single one with little to do right here, which saves waking a goroutine; else
// on goroutines of their own, so that the reader reads on.
func (c *connection) runQueues(small bool) {
	p := &c.publisher
	for i, q := range p.runs {
		if small && len(p.runs) == 1 {
			q.RunHere()
		} else {
			go q.Run()
		}
		p.runs[i] = nil
	}
	p.runs = p.runs[:0]
}

// waitRoom holds the reader while a queue that it published to has too much on its hands, or the log waits for the disk. It slows down for
// one queue with a backlog at most, so that many of them do not add up.
func (p *publisher) waitRoom(c *connection) {
	if !p.published {
		return
	}
	p.published = false
	patience := queue.FlowWait
	for i, t := range p.pressed {
		patience = t.queue.WaitRoom(c.stop, patience)
		t.pressed = false
		p.pressed[i] = nil
	}
	p.pressed = p.pressed[:0]
	if p.appended {
		p.appended = false
		c.waitLog()
	}
	c.noteAlarm()
}

// forget drops what the publisher has noted of a channel that ends; its confirms are not sent any more.
func (p *publisher) forget(ch *channel) {
	if ch.content.state.Done() {
		p.drop(ch)
	}
	if p.channel == ch {
		p.addTraffic()
		p.channel, p.source = nil, nil
	}
}
