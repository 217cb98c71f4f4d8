package management

import (
	"net/http"
	"slices"
	"time"

	"leveret/server"
)

var channelRoutes = []route{
	{path: "/channels", group: "Channels", operations: []operation{
		{http.MethodGet, managementTag, (*call).listChannels, "the open channels: the user's own, or all for monitoring", "", false},
	}},
	{path: "/channels/{channel}", group: "Channels", operations: []operation{
		{http.MethodGet, managementTag, (*call).getChannel, "one channel, with its consumers", "", false},
	}},
	{path: "/vhosts/{vhost}/channels", group: "Channels", operations: []operation{
		{http.MethodGet, vhostViewer, (*call).listChannels, "the open channels in a virtual host", "", false},
	}},
	{path: "/consumers", group: "Consumers", operations: []operation{
		{http.MethodGet, managementTag, (*call).listConsumers, "the consumers: the user's own, or all for monitoring", "", false},
	}},
	{path: "/consumers/{vhost}", group: "Consumers", operations: []operation{
		{http.MethodGet, vhostViewer, (*call).listConsumers, "the consumers in a virtual host", "", false},
	}},
}

// channels are those that the user may see.
func (c *call) channels() []server.ChannelStatus {
	return slices.DeleteFunc(c.api.server.Channels(), func(s server.ChannelStatus) bool {
		return c.vhost != nil && s.VHost != c.vhost.Name() || !c.seesAll() && s.User != c.user.Name()
	})
}

// listChannels lists open channels: in pages, unless the path names a virtual host. That distinction is RabbitMQ's.
func (c *call) listChannels() (reply, error) { return c.replyChannels(c.channels(), c.vhost == nil) }

// connectionChannels lists those of one connection, which are too few for pages.
func (c *call) connectionChannels() (reply, error) {
	s, err := c.ownConnection()
	if err != nil {
		return reply{}, err
	}
	return c.replyChannels(c.api.server.ChannelsOf(s.Name), false)
}

// replyChannels lists channels, in order of their names within each virtual host.
func (c *call) replyChannels(list []server.ChannelStatus, paged bool) (reply, error) {
	w, err := windowsOf(c)
	if err != nil {
		return reply{}, err
	}
	return listing[server.ChannelStatus]{
		items: list,
		id:    func(s server.ChannelStatus) identity { return identity{s.VHost, s.Name} },
		show:  func(s server.ChannelStatus) object { return c.api.channel(&s, w.messages) },
		paged: paged,
	}.reply(c)
}

// getChannel shows one channel. Its name is that of the connection with the number in parentheses: "127.0.0.1:1 -> 127.0.0.1:5672 (1)".
// publishes and deliveries would be statistics by exchange and queue with rates; of those there are counters alone, which are Prometheus': empty lists, since clients expect the fields.
func (c *call) getChannel() (reply, error) {
	w, err := windowsOf(c)
	if err != nil {
		return reply{}, err
	}
	name := c.path("channel")
	list := c.api.server.Channels()
	// A walk over all: a name is asked for by people, one at a time.
	i := slices.IndexFunc(list, func(s server.ChannelStatus) bool { return s.Name == name })
	if i < 0 {
		return reply{}, notFound()
	}
	s := &list[i]
	if !c.seesAll() && s.User != c.user.Name() {
		return reply{}, refused("User not authorised to access object")
	}
	consumers := []object{}
	for _, consumer := range c.api.server.Consumers() {
		if consumer.Connection == s.ConnName && consumer.Channel == s.Number {
			consumers = append(consumers, c.api.consumer(&consumer))
		}
	}
	o := c.api.channel(s, w.messages)
	return ok(append(o, field{"consumer_details", consumers}, field{"publishes", []any{}}, field{"deliveries", []any{}}))
}

// channelKey is the key of a channel's samples.
type channelKey struct {
	connection uint64 // its number, which never comes again
	number     uint16
}

// channelSample is a channel's counters: publishCounters, then deliveryCounters.
func channelSample(s *server.ChannelStatus) []uint64 {
	p, d := &s.Publishes, &s.Deliveries
	return []uint64{
		p.Published, p.Confirmed, p.Returned, p.Unroutable,
		// The third is their sum, deliver_get: all ways in which a message gets to a client.
		d.Delivered, d.DeliveredAuto, d.Delivered + d.DeliveredAuto + d.Got + d.GotAuto, d.Got, d.GotAuto, d.GetEmpty, d.Redelivered, d.Acked,
	}
}

// timestamp is a moment as RabbitMQ writes it.
func timestamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000+00:00") }

// idleAfter is from when on a channel is shown as idle.
const idleAfter = time.Second

// channel shows a channel.
func (a *API) channel(s *server.ChannelStatus, w *window) object {
	peerHost, peerPort := addressParts(s.Peer)
	o := object{
		{"name", s.Name}, {"number", s.Number}, {"node", a.options.Node}, {"vhost", s.VHost}, {"user", s.User},
		{"user_who_performed_action", s.User}, {"state", "running"}, {"confirm", s.Confirming}, {"transactional", s.Transactional},
		{"connection_details", object{{"name", s.ConnName}, {"peer_host", peerHost}, {"peer_port", peerPort}}},
		{"consumer_count", s.Consumers}, {"messages_unacknowledged", s.Unacked}, {"messages_unconfirmed", s.Unconfirmed},
		{"messages_uncommitted", s.Uncommitted}, {"acks_uncommitted", s.Settling}, {"prefetch_count", s.Prefetch},
		{"global_prefetch_count", s.Shared},
	}
	// The field is left out of busy channels: its presence is what tools tell idle ones by.
	if time.Since(s.Active) > idleAfter {
		o.add("idle_since", timestamp(s.Active))
	}
	values, h := channelSample(s), a.rates.past(channelKey{s.Connection, s.Number}, w)
	var messages object
	// Each group of counters is there once one of its counters is not 0, and all of it then, as in RabbitMQ.
	if anyCount(values[:len(publishCounters)]) {
		messages = publishCounters.addTo(messages, values, h, 0, w)
	}
	if read := values[len(publishCounters):]; anyCount(read) {
		messages = deliveryCounters.addTo(messages, read, h, len(publishCounters), w)
	}
	if len(messages) > 0 {
		o.add("message_stats", messages)
	}
	return o
}

// listConsumers lists consumers in the virtual hosts that the user may open, whoever's they are: unlike connections they belong to queues.
func (c *call) listConsumers() (reply, error) {
	list := slices.DeleteFunc(c.api.server.Consumers(), func(s server.ConsumerStatus) bool {
		vhost := s.Queue.Options().VHost
		return c.vhost != nil && vhost != c.vhost.Name() || !c.seesAll() && !c.sees(vhost)
	})
	return listing[server.ConsumerStatus]{
		items: list,
		// Two channels of a connection may have one tag.
		id: func(s server.ConsumerStatus) identity {
			return identity{s.Queue.Options().VHost, s.Connection + s.Tag + "\x00" + s.ChannelName()}
		},
		show: func(s server.ConsumerStatus) object { return c.api.consumer(&s) },
	}.reply(c)
}

// consumer shows a consumer.
func (a *API) consumer(s *server.ConsumerStatus) object {
	opts := s.Queue.Options()
	peerHost, peerPort := addressParts(s.Peer)
	// Without a single active consumer all of a queue's consumers are active, and "up".
	active, status := true, "up"
	if opts.SingleActiveConsumer {
		if active, status = s.Consumer == s.Queue.Active(), "single_active"; !active {
			status = "waiting"
		}
	}
	o := object{
		{"consumer_tag", s.Tag}, {"queue", object{{"name", opts.Name}, {"vhost", opts.VHost}}}, {"exclusive", s.Exclusive},
		{"ack_required", !s.NoAck}, {"prefetch_count", s.Prefetch}, {"active", active}, {"activity_status", status}, {"arguments", s.Arguments},
		{"consumer_timeout", s.Timeout},
		{"channel_details", object{
			{"name", s.ChannelName()}, {"number", s.Channel}, {"connection_name", s.Connection}, {"peer_host", peerHost},
			{"peer_port", peerPort}, {"user", s.User}, {"node", a.options.Node},
		}},
	}
	return firstPass(o, s.Consumer)
}
