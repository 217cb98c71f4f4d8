package management

import (
	"net/http"

	"leveret/queue"
	"leveret/vhost"
)

var vhostRoutes = []route{
	{path: "/vhosts", group: "Virtual hosts", operations: []operation{
		{http.MethodGet, managementTag, (*call).listVHosts, "the virtual hosts that the user sees", "", false},
	}},
	{path: "/vhosts/{vhost}", group: "Virtual hosts", operations: []operation{
		{http.MethodGet, administrator, (*call).getVHost, "one virtual host", "", false},
	}},
}

func (c *call) listVHosts() (reply, error) {
	w, err := windowsOf(c)
	if err != nil {
		return reply{}, err
	}
	list := c.visible()
	if c.seesAll() {
		list = c.api.vhosts()
	}
	if c.query.Has("page") {
		return reply{}, badRequest("virtual hosts are not listed by pages")
	}
	shown := make([]object, len(list))
	sums := c.api.octetsByVHost()
	for i, v := range list {
		shown[i] = c.api.vhost(v, w, sums)
	}
	return ok(shown)
}

// named is the virtual host of the path.
func (c *call) named() (*vhost.VHost, error) {
	if c.vhost == nil {
		return nil, notFound()
	}
	return c.vhost, nil
}

func (c *call) getVHost() (reply, error) {
	w, err := windowsOf(c)
	if err != nil {
		return reply{}, err
	}
	v, err := c.named()
	if err != nil {
		return reply{}, err
	}
	return ok(columnsOf(c).one(c.api.vhost(v, w, c.api.octetsByVHost())))
}

// octetsByVHost sums up what the open connections of each virtual host received and sent.
func (a *API) octetsByVHost() map[string][]uint64 {
	sums := make(map[string][]uint64)
	for _, s := range a.server.OpenConnections() {
		if sums[s.VHost] == nil {
			sums[s.VHost] = make([]uint64, len(octetCounters))
		}
		for i, n := range octets(&s) {
			sums[s.VHost][i] += n
		}
	}
	return sums
}

// vhost shows a virtual host, with the sums over its queues and connections.
func (a *API) vhost(v *vhost.VHost, w windows, sums map[string][]uint64) object {
	var sum queue.Stats
	v.Queues(func(q *queue.Queue) bool {
		sum.Add(q.Stats())
		return true
	})
	o := append(a.vhostMetadata(v), field{"cluster_state", object{{a.options.Node, "running"}}})
	h := a.rates.past(v, w.any())
	o = lengthCounters.addTo(o, lengths(sum.Counts), h, vhostLengthAt, w.lengths)
	traffic := sums[v.Name()]
	if traffic == nil {
		traffic = make([]uint64, len(octetCounters))
	}
	o = octetCounters.addTo(o, traffic, history{}, 0, w.data)
	published := a.vhostPublishes(v)
	read := deliveries(&sum.Totals)
	if anyCount(published) || anyCount(read) {
		messages := publishCounters.addTo(nil, published, h, 0, w.messages)
		o.add("message_stats", deliveryCounters.addTo(messages, read, h, vhostDeliverAt, w.messages))
	}
	return o
}

// vhostPublishes are the values of publishCounters of a virtual host.
func (a *API) vhostPublishes(v *vhost.VHost) []uint64 {
	counters := a.server.VHostCounters(v.Name())
	return publishes(&counters)
}

// Where things stand in a virtual host's samples: publishCounters, deliveryCounters, lengthCounters.
const (
	vhostDeliverAt = 4
	vhostLengthAt  = vhostDeliverAt + 8
)

// vhostMetadata shows what an operator said of a virtual host.
func (a *API) vhostMetadata(v *vhost.VHost) object {
	return object{
		{"name", v.Name()}, {"description", ""}, {"tags", []string{}}, {"default_queue_type", "classic"}, {"protected_from_deletion", false},
		{"metadata", object{{"description", ""}, {"tags", []string{}}, {"default_queue_type", "classic"}}}, {"tracing", false},
	}
}
