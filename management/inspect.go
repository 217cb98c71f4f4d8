package management

import (
	"net/http"
	"strconv"
	"strings"

	"leveret/amqp"
	"leveret/queue"
)

var inspectRoutes = []route{
	{path: "/queues/{vhost}/{queue}/messages", group: "Messages", operations: []operation{
		{http.MethodGet, vhostUser, (*call).peek, "look at messages without touching them; offset, count, truncate, header.NAME=VALUE, cursor", "", false},
	}},
	{path: "/queues/{vhost}/{queue}/messages/{message}", group: "Messages", operations: []operation{
		{http.MethodDelete, vhostUser, (*call).discard, "remove one message that is ready, or waits for its time", "", false},
	}},
	{path: "/queues/{vhost}/{queue}/delayed", group: "Messages", operations: []operation{
		{http.MethodGet, vhostUser, (*call).peekDelayed, "the messages that wait for their time; count, truncate, header.NAME=VALUE, cursor", "", false},
	}},
	{path: "/queues/{vhost}/{queue}/pause", group: "Queues", operations: []operation{
		{http.MethodPut, administrator, (*call).pause, "stop delivering to consumers; of a durable queue that lasts over a restart", "", false},
	}},
	{path: "/queues/{vhost}/{queue}/resume", group: "Queues", operations: []operation{
		{http.MethodPut, administrator, (*call).resume, "deliver again", "", false},
	}},
}

const (
	somePeeked = 20   // messages of one answer, if nobody says how many
	mostPeeked = 1000 // and at most
	peekStep   = 500  // messages that are looked at in one go
)

// peekRequest is what a client wants to see of a queue.
type peekRequest struct {
	// The number of the message to begin with, as a cursor gave it; 0: at the head.
	from     uint64
	skip     int               // messages from the head on that are passed over
	count    int               // that are wanted
	truncate int               // bytes of each body; -1: all
	headers  map[string]string // names and values that messages must have
}

// peekRequest reads the query. More than mostPeeked messages are no error: the cursor leads to the rest.
func (c *call) peekRequest() (r peekRequest, err error) {
	if r.count, err = c.count(somePeeked, mostPeeked); err != nil {
		return r, err
	}
	// Bodies are whole unless somebody asks for less; 0 asks for none of them.
	r.truncate = -1
	for name, to := range map[string]*int{"offset": &r.skip, "truncate": &r.truncate} {
		if text := c.query.Get(name); text != "" {
			if *to, err = strconv.Atoi(text); err != nil || *to < 0 {
				return r, invalid("not_integer", text)
			}
		}
	}
	if text := c.query.Get("cursor"); text != "" {
		if r.from, err = strconv.ParseUint(text, 10, 64); err != nil {
			return r, invalid("not_integer", text)
		}
	}
	for name, values := range c.query {
		if header, isHeader := strings.CutPrefix(name, "header."); isHeader {
			if r.headers == nil {
				r.headers = make(map[string]string)
			}
			// Of a header that is asked for twice the first counts: no message has two values of one.
			r.headers[header] = values[0]
		}
	}
	return r, nil
}

// wants tells whether a message has the headers that the client is after.
func (r *peekRequest) wants(m amqp.Message) bool { return hasHeaders(m, r.headers) }

// hasHeaders tells whether a message has all these headers. Values are compared as texts.
func hasHeaders(m amqp.Message, wanted map[string]string) bool {
	if len(wanted) == 0 {
		return true
	}
	p, err := amqp.DecodeProperties(m.Properties())
	if err != nil {
		return false
	}
	for name, value := range wanted {
		if v, there := p.Headers.Get(name); !there || amqp.FormatValue(v) != value {
			return false
		}
	}
	return true
}

// peek looks at what is ready, in the order in which it came, and changes nothing: no delivery count, no redelivered flag.
func (c *call) peek() (reply, error) {
	return c.peekWith(func(q *queue.Queue, from uint64, skip, limit int) ([]queue.Peeked, uint64, error) {
		return q.Peek(from, skip, limit)
	})
}

// peekDelayed looks at what waits for its time, in the order in which it came. An offset means nothing there: it is read from where the cursor points.
func (c *call) peekDelayed() (reply, error) {
	return c.peekWith(func(q *queue.Queue, from uint64, _, limit int) ([]queue.Peeked, uint64, error) {
		return q.PeekPending(from, limit)
	})
}

// peekWith looks at messages until it has as many as the client wants, or has looked at so many that the client should ask again: the cursor says
// where to go on, null when there is nothing more.
func (c *call) peekWith(look func(q *queue.Queue, from uint64, skip, limit int) ([]queue.Peeked, uint64, error)) (reply, error) {
	q, err := c.inspectedQueue()
	if err != nil {
		return reply{}, err
	}
	r, err := c.peekRequest()
	if err != nil {
		return reply{}, err
	}
	messages := []object{}
	examined, next := 0, r.from
	for len(messages) < r.count && examined < queue.PeekMost {
		// Without a filter no more is looked at than is shown; with one, in steps, since most may not fit.
		limit := peekStep
		if len(r.headers) == 0 {
			limit = min(limit, r.count-len(messages))
		}
		found, after, err := look(q, next, r.skip, limit)
		if err != nil {
			return reply{}, gone(err)
		}
		r.skip, next = 0, after
		for i := range found {
			examined++
			if r.wants(found[i].Message) {
				messages = append(messages, showPeeked(q, &found[i], r.truncate))
			}
			// The page is full in the middle of a step: the cursor points at the next one that was found, not behind the step.
			if len(messages) == r.count && i+1 < len(found) {
				next = found[i+1].Seq
				break
			}
		}
		if after == 0 {
			break
		}
	}
	return ok(object{{"messages", messages}, {"examined", examined}, {"cursor", cursor(next)}})
}

// cursor is what a client asks with for the rest, null if there is none.
func cursor(next uint64) any {
	if next == 0 {
		return nil
	}
	// A text, as JavaScript's numbers have 53 bits and a message's number has 64.
	return strconv.FormatUint(next, 10)
}

// gone is the answer when a queue closed itself meanwhile.
func gone(err error) error {
	if err == queue.ErrClosed {
		return notFound()
	}
	return err
}

// showPeeked shows a message by its number in the queue, which is what the other paths of this file take. Times are Unix milliseconds.
func showPeeked(q *queue.Queue, p *queue.Peeked, truncate int) object {
	body := p.Message.Body()
	o := object{
		{"message", p.Seq}, {"redelivered", p.Redelivered}, {"returned", p.Acquired}, {"failed", p.Failed},
		{"published", p.Message.Published()}, {"exchange", string(p.Message.Exchange())}, {"routing_key", string(p.Message.RoutingKey())},
		{"payload_bytes", len(body)}, {"properties", messageProperties(p.Message)},
	}
	if q.Delayed() {
		o.add("due", p.Due())
	}
	if truncate >= 0 && truncate < len(body) {
		body = body[:truncate]
	}
	return appendPayload(o, body, false)
}

// readableQueue is the queue of the path, if the user may read from it.
func (c *call) readableQueue() (*queue.Queue, error) {
	name := c.path("queue")
	if findQueue(c.vhost, name) == nil {
		return nil, notFound()
	}
	return c.readable(name)
}

// inspectedQueue is the queue of the path, if the user may read from it, in which somebody looks for single messages: those of a delayed exchange can be
// seen and removed too, and by administrators those of a client's exclusive queue.
func (c *call) inspectedQueue() (*queue.Queue, error) {
	q, err := c.namedQueue()
	if err != nil {
		return nil, err
	}
	if q.Options().Exclusive && !c.isAdministrator() {
		return nil, amqp.LockedQueue(q.Name(), c.vhost.Name())
	}
	return q, c.rights().Read(amqp.QueueResource, q.Name())
}

// discard removes one message as if it had been acked: it is not dead-lettered. 404 if it is with a client, or gone.
func (c *call) discard() (reply, error) {
	q, err := c.inspectedQueue()
	if err != nil {
		return reply{}, err
	}
	seq, err := c.messageNumber()
	if err != nil {
		return reply{}, err
	}
	n, err := q.Discard([]uint64{seq})
	if err != nil {
		return reply{}, gone(err)
	}
	if n == 0 {
		return reply{}, notFound()
	}
	c.audit("message.deleted", "vhost", c.vhost.Name(), "queue", q.Name(), "message", seq)
	return noContent()
}

// pause and resume do nothing if the queue is so already, and say nothing of that.
func (c *call) pause() (reply, error)  { return c.setPaused(true) }
func (c *call) resume() (reply, error) { return c.setPaused(false) }

// setPaused stops or starts the deliveries of a queue. Consumers stay, and publishing goes on. Of a durable queue it lasts over
// a restart.
func (c *call) setPaused(on bool) (reply, error) {
	q, err := c.namedQueue()
	if err != nil {
		return reply{}, err
	}
	// Kept first, then in force: a queue that was seen paused is so after a crash.
	if err := c.vhost.PauseQueue(q, on); err != nil {
		return reply{}, gone(err)
	}
	act := "queue.resumed"
	if on {
		act = "queue.paused"
	}
	c.audit(act, "vhost", c.vhost.Name(), "name", q.Name())
	return noContent()
}
