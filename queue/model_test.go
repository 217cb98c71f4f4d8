package queue_test

import (
	"cmp"
	"slices"

	"leveret/queue"
)

// model is what a queue has to do, told without any thought of speed: lists that are searched from their start. Its queue comes to
// rest after each step.
type model struct {
	opts     queue.Options
	next     uint64
	messages []*message // not gone, by number
	members  []*member  // registered consumers, oldest first
	line     []*member  // those to be served: the first of the highest priority is next
	active   *member    // of a single active consumer's queue
	had      bool       // a consumer, ever
	closed   bool
	totals   queue.Totals
	expected journal
}

type message struct {
	seq         uint64
	text        string
	ready       bool
	redelivered bool
}

// member is a consumer, and what of it concerns its channel: what it holds, and how much it takes before it refuses.
type member struct {
	*receiver
	held    []*message
	room    int
	stalled bool
	acked   uint64 // of the messages that nobody had got before
	failed  uint64
}

func (m *model) ready() []*message {
	return slices.DeleteFunc(slices.Clone(m.messages), func(x *message) bool { return !x.ready })
}

// unackedBodies is how many bytes the bodies of the unacked messages have.
func (m *model) unackedBodies() (sum int64) {
	for _, x := range m.messages {
		if !x.ready {
			sum += int64(len(x.text))
		}
	}
	return sum
}

func (m *model) counts() queue.Counts {
	ready := len(m.ready())
	return queue.Counts{Ready: ready, Unacked: len(m.messages) - ready, Consumers: len(m.members)}
}

func (m *model) publish(texts []string) {
	for _, text := range texts {
		m.messages = append(m.messages, &message{seq: m.next, text: text, ready: true})
		m.next++
		m.totals.Published++
	}
}

// refuses reports whether a consumer may not come in because of an exclusive one.
func (m *model) refuses(c *member) bool {
	exclusive := slices.ContainsFunc(m.members, func(o *member) bool { return o.consumer.Exclusive })
	return exclusive || c.consumer.Exclusive && (len(m.members) > 0 || m.opts.SingleActiveConsumer)
}

func (m *model) consume(c *member) {
	m.members = append(m.members, c)
	m.had = true
	m.elect()
	m.lineUp(c)
}

func (m *model) cancel(c *member) {
	m.members = without(m.members, c)
	m.elect()
	m.lineUp(c)
}

// elect finds the active consumer's successor: the oldest of the highest priority.
func (m *model) elect() {
	if !m.opts.SingleActiveConsumer || len(m.members) == 0 || slices.Contains(m.members, m.active) {
		return
	}
	m.active = slices.MaxFunc(m.members, func(a, b *member) int { return cmp.Compare(a.consumer.Priority, b.consumer.Priority) })
	m.lineUp(m.active)
}

// lineUp gives a consumer a place at the end of the line, or takes its place away.
func (m *model) lineUp(c *member) {
	has := !c.stalled && (c.consumer.NoAck || c.consumer.Prefetch == 0 || len(c.held) < c.consumer.Prefetch)
	has = has && slices.Contains(m.members, c) && (!m.opts.SingleActiveConsumer || m.active == c)
	switch in := slices.Contains(m.line, c); {
	case has && !in:
		m.line = append(m.line, c)
	case !has && in:
		m.line = without(m.line, c)
	}
}

// dispatch delivers until there is no message, or nobody to take one.
func (m *model) dispatch() {
	for len(m.line) > 0 && len(m.ready()) > 0 {
		c, x := slices.MaxFunc(m.line, func(a, b *member) int { return cmp.Compare(a.consumer.Priority, b.consumer.Priority) }), m.ready()[0]
		if c.room == 0 {
			c.stalled = true
			m.lineUp(c)
			continue
		}
		c.room--
		m.deliver(c.consumer.Tag, x, c.consumer.NoAck)
		if c.consumer.NoAck {
			m.totals.DeliveredAuto++
		} else {
			m.totals.Delivered++
			c.held = append(c.held, x)
		}
		m.line = without(m.line, c)
		m.lineUp(c)
	}
}

func (m *model) deliver(to string, x *message, forGood bool) {
	m.expected.deliveries = append(m.expected.deliveries, delivery{to, x.seq, x.text, x.redelivered})
	if x.redelivered {
		m.totals.Redelivered++
	}
	if x.ready = false; forGood {
		m.messages = without(m.messages, x)
	}
}

// settle settles messages that a consumer, or the channel that got them, holds.
func (m *model) settle(c *member, o queue.Outcome, settled []*message) {
	for _, x := range settled {
		c.held = without(c.held, x)
		if m.closed {
			continue
		}
		switch {
		case x.redelivered:
		case o == queue.Ack:
			c.acked++
		default:
			c.failed++
		}
		switch o {
		case queue.Requeue:
			x.ready, x.redelivered = true, true
			m.totals.Requeued++
		case queue.Ack:
			m.messages = without(m.messages, x)
			m.totals.Acked++
		case queue.Reject:
			m.messages = without(m.messages, x)
			m.totals.Rejected++
			m.totals.Dropped[queue.Rejected]++
		}
	}
	m.lineUp(c)
}

func (m *model) purge() int {
	purged := m.ready()
	for _, x := range purged {
		m.messages = without(m.messages, x)
	}
	m.totals.Purged += uint64(len(purged))
	return len(purged)
}

func (m *model) unused() bool { return m.opts.AutoDelete && m.had && len(m.members) == 0 && !m.closed }

func (m *model) close() {
	m.closed = true
	m.messages, m.members, m.line, m.active = nil, nil, nil, nil
}

func without[T comparable](list []T, v T) []T {
	return slices.DeleteFunc(slices.Clone(list), func(o T) bool { return o == v })
}
