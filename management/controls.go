package management

import (
	"net/http"
	"strconv"

	"leveret/queue"
	"leveret/server"
)

// What RabbitMQ has no calls for: to look into what clients hold, and to act on it.
var controlledRoutes = []route{
	{path: "/channels/{channel}/prefetch", group: "Channels", operations: []operation{
		{http.MethodPut, administrator, (*call).putChannelPrefetch, "change the prefetch of a channel's consumers, running ones too; 0: no limit", "prefetch*", false},
	}},
	{path: "/consumers/{vhost}/{connection}/{channel}/{tag}", group: "Consumers", operations: []operation{
		{http.MethodGet, vhostViewer, (*call).getConsumer, "one consumer, by its connection's name and its channel's number", "", false},
		{http.MethodPut, administrator, (*call).putConsumer, "change the prefetch of a running consumer; 0: no limit", "prefetch*", false},
		{http.MethodDelete, administrator, (*call).cancelConsumer, "cancel a consumer; the client is told", "", false},
	}},
	{path: "/consumers/{vhost}/{connection}/{channel}/{tag}/requeue", group: "Consumers", operations: []operation{
		{http.MethodPost, administrator, (*call).requeueConsumer, "put back all that a consumer holds", "", false},
	}},
	{path: "/queues/{vhost}/{queue}/unacked", group: "Queues", operations: []operation{
		{http.MethodGet, vhostUser, (*call).listUnacked, "who holds which messages of a queue; count=N: how many at most", "", false},
	}},
	{path: "/queues/{vhost}/{queue}/unacked/{message}/requeue", group: "Queues", operations: []operation{
		{http.MethodPost, administrator, (*call).requeueMessage, "put back one message that a client holds", "", false},
	}},
	{path: "/queues/{vhost}/{queue}/policy", group: "Queues", operations: []operation{
		{http.MethodGet, vhostUser, (*call).queuePolicy, "which policies apply to a queue, which do not, and why", "", false},
	}},
}

// place is where the path says that a consumer is.
func (c *call) place() (connection string, channel uint16, tag string, err error) {
	n, err := strconv.ParseUint(c.path("channel"), 10, 16)
	if err != nil || c.vhost == nil {
		return "", 0, "", notFound()
	}
	s, found := c.api.server.Connection(c.path("connection"))
	if !found || s.VHost != c.vhost.Name() {
		return "", 0, "", notFound()
	}
	return s.Name, uint16(n), c.path("tag"), nil
}

// getConsumer shows one consumer. It is found by connection, channel and tag together, as tags are unique in a channel alone.
func (c *call) getConsumer() (reply, error) {
	connection, channel, tag, err := c.place()
	if err != nil {
		return reply{}, err
	}
	for _, s := range c.api.server.Consumers() {
		if s.Connection == connection && s.Channel == channel && s.Tag == tag {
			return ok(columnsOf(c).one(c.api.consumer(&s)))
		}
	}
	return reply{}, notFound()
}

// wantedPrefetch reads the prefetch that the body asks for.
func (c *call) wantedPrefetch() (int, error) {
	o, err := c.body()
	if err != nil {
		return 0, err
	}
	if err := o.require("prefetch"); err != nil {
		return 0, err
	}
	n, err := o.integer("prefetch", 0)
	if err != nil {
		return 0, err
	}
	if n < 0 || n > maxPrefetch {
		return 0, badRequest("prefetch must be from 0 to " + strconv.Itoa(maxPrefetch))
	}
	return int(n), nil
}

// maxPrefetch is the largest that basic.qos can ask for.
const maxPrefetch = 65535

// putConsumer changes the prefetch of a consumer that runs. A smaller one takes nothing back: the consumer gets no more until it has
// settled enough.
func (c *call) putConsumer() (reply, error) {
	connection, channel, tag, err := c.place()
	if err != nil {
		return reply{}, err
	}
	n, err := c.wantedPrefetch()
	if err != nil {
		return reply{}, err
	}
	if !c.api.server.SetConsumerPrefetch(connection, channel, tag, n) {
		return reply{}, notFound()
	}
	c.audit("consumer.prefetch.set", "connection", connection, "channel", channel, "tag", tag, "prefetch", n)
	return noContent()
}

// cancelConsumer ends a consumer as if its queue had been deleted: clients that can be told are, by basic.cancel.
func (c *call) cancelConsumer() (reply, error) {
	connection, channel, tag, err := c.place()
	if err != nil {
		return reply{}, err
	}
	if !c.api.server.CancelConsumer(connection, channel, tag) {
		return reply{}, notFound()
	}
	c.audit("consumer.cancelled", "connection", connection, "channel", channel, "tag", tag)
	return noContent()
}

// requeueConsumer takes back what a consumer holds; its acks for that come too late afterwards and are ignored.
func (c *call) requeueConsumer() (reply, error) {
	connection, channel, tag, err := c.place()
	if err != nil {
		return reply{}, err
	}
	// What the client settles of it later comes too late, and is no error of the client's.
	n, found := c.api.server.RequeueConsumer(connection, channel, tag)
	if !found {
		return reply{}, notFound()
	}
	c.audit("consumer.requeued", "connection", connection, "channel", channel, "tag", tag, "messages", n)
	return ok(object{{"messages", n}})
}

// putChannelPrefetch sets the prefetch of each consumer of a channel, of those that run and those that come. With RabbitMQ only the client could, by
// basic.qos, and for consumers that come.
func (c *call) putChannelPrefetch() (reply, error) {
	n, err := c.wantedPrefetch()
	if err != nil {
		return reply{}, err
	}
	name := c.path("channel")
	if !c.api.server.SetChannelPrefetch(name, n) {
		return reply{}, notFound()
	}
	c.audit("channel.prefetch.set", "name", name, "prefetch", n)
	return noContent()
}

// count reads how many entries a list should have at most.
func (c *call) count(fallback, most int) (int, error) {
	text := c.query.Get("count")
	if text == "" {
		return fallback, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, invalid("not_integer", text)
	}
	return min(n, most), nil
}

const (
	// How many unacked messages are listed if nobody says how many, and the most that one call gets.
	someUnacked = 1000
	mostUnacked = 10_000
)

// listUnacked tells who holds which messages of a queue, and for how long. The connections know who and since when, the queue knows how
// often each message came back: they are asked one after the other, so a message that was settled between shows zeros.
func (c *call) listUnacked() (reply, error) {
	q, err := c.namedQueue()
	if err != nil {
		return reply{}, err
	}
	n, err := c.count(someUnacked, mostUnacked)
	if err != nil {
		return reply{}, err
	}
	unacked := c.api.server.Unacked(q, n)
	numbers := make([]uint64, len(unacked))
	for i := range unacked {
		numbers[i] = unacked[i].Seq
	}
	held, err := q.Held(numbers)
	if err != nil {
		return reply{}, gone(err)
	}
	list := []object{}
	for i := range unacked {
		list = append(list, showUnacked(&unacked[i], &held[i]))
	}
	return ok(list)
}

// showUnacked shows one message that somebody holds; age is in ms. delivery_count counts this delivery too.
func showUnacked(u *server.UnackedStatus, h *queue.Held) object {
	return object{
		{"message", u.Seq}, {"delivery_tag", u.DeliveryTag}, {"consumer_tag", u.Consumer}, {"connection_name", u.Connection},
		{"channel_number", u.Channel}, {"user", u.User}, {"age", u.Age.Milliseconds()},
		{"redelivered", h.Redelivered}, {"returned", h.Acquired}, {"failed", h.Failed}, {"delivery_count", h.Acquired + 1},
	}
}

// namedQueue is the queue of the path.
func (c *call) namedQueue() (*queue.Queue, error) {
	q := findQueue(c.vhost, c.path("queue"))
	if q == nil {
		return nil, notFound()
	}
	return q, nil
}

// queuePolicy tells which policies apply, and of those whose pattern fits and that do not, why. The list is there also when empty, unlike in
// the queue's own object.
func (c *call) queuePolicy() (reply, error) {
	q, err := c.namedQueue()
	if err != nil {
		return reply{}, err
	}
	view := queueView{api: c.api}
	o := view.policies(object{{"name", q.Name()}, {"vhost", c.vhost.Name()}}, queueIn{c.vhost, q})
	if _, some := o.get("policy_skipped"); !some {
		o.add("policy_skipped", []any{})
	}
	return ok(o)
}

// requeueMessage takes one message back from whoever holds it; 404 if nobody does, as it may have been settled meanwhile.
func (c *call) requeueMessage() (reply, error) {
	q, err := c.namedQueue()
	if err != nil {
		return reply{}, err
	}
	seq, err := c.messageNumber()
	if err != nil {
		return reply{}, err
	}
	if !c.api.server.RequeueMessage(q, seq) {
		return reply{}, notFound()
	}
	c.audit("message.requeued", "vhost", c.vhost.Name(), "queue", q.Name(), "message", seq)
	return noContent()
}

// messageNumber is the message that the path names: its number in the queue.
func (c *call) messageNumber() (uint64, error) {
	seq, err := strconv.ParseUint(c.path("message"), 10, 64)
	if err != nil {
		return 0, notFound()
	}
	return seq, nil
}
