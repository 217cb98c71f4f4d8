package management

import (
	"net/http"

	"leveret/auth"
	"leveret/queue"
	"leveret/vhost"
)

var vhostRoutes = []route{
	{path: "/vhosts", group: "Virtual hosts", operations: []operation{
		{http.MethodGet, managementTag, (*call).listVHosts, "the virtual hosts that the user sees", "", false},
	}},
	{path: "/vhosts/{vhost}", group: "Virtual hosts", operations: []operation{
		{http.MethodGet, administrator, (*call).getVHost, "one virtual host", "", false},
		{http.MethodPut, administrator, (*call).putVHost, "make or change a virtual host; the caller gets all rights in a new one",
			"description tags default_queue_type protected_from_deletion tracing", false},
		{http.MethodDelete, administrator, (*call).deleteVHost, "delete a virtual host with all that is in it", "", false},
	}},
	{path: "/vhosts/{vhost}/deletion/protection", group: "Virtual hosts", operations: []operation{
		{http.MethodPost, administrator, (*call).protectVHost, "keep a virtual host from being deleted", "", false},
		{http.MethodDelete, administrator, (*call).unprotectVHost, "let it be deleted again", "", false},
	}},
	{path: "/vhosts/{vhost}/start/{node}", group: "Virtual hosts", operations: []operation{
		{http.MethodPost, administrator, (*call).startVHost, "nothing: virtual hosts run always", "", false},
	}},
}

// listVHosts lists virtual hosts: monitoring users see all of them, others those that they may open.
func (c *call) listVHosts() (reply, error) {
	w, err := windowsOf(c)
	if err != nil {
		return reply{}, err
	}
	list := c.visible()
	if c.seesAll() {
		list = c.api.vhosts()
	}
	// RabbitMQ's list has no pages either; saying so is kinder than to ignore it.
	if c.query.Has("page") {
		return reply{}, badRequest("virtual hosts are not listed by pages")
	}
	shown := make([]object, len(list))
	// One walk over all connections for the whole list.
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

// getVHost shows one.
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
	o = lengthCounters.addTo(o, lengths(&sum), h, vhostLengthAt, w.lengths)
	traffic := sums[v.Name()]
	if traffic == nil {
		// Nobody is connected; the fields are there all the same.
		traffic = make([]uint64, len(octetCounters))
	}
	// Without rates: the sum falls when a connection closes, and its rate would say so.
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

// vhostMetadata shows what an operator said of a virtual host: once by itself, and once among the rest.
func (a *API) vhostMetadata(v *vhost.VHost) object {
	m := v.Metadata()
	kind := m.DefaultQueueType
	// RabbitMQ shows the type that a declare without one gets.
	if kind == "" || kind == "undefined" {
		kind = "classic"
	}
	tags := append([]string{}, m.Tags...)
	metadata := object{{"description", m.Description}, {"tags", tags}, {"default_queue_type", kind}}
	o := append(object{{"name", v.Name()}}, metadata...)
	if m.Protected != nil {
		// Only if somebody has said so, one way or the other.
		metadata.add("protected_from_deletion", *m.Protected)
	}
	return append(o, field{"protected_from_deletion", m.IsProtected()}, field{"metadata", metadata}, field{"tracing", m.Tracing})
}

// putVHost makes a virtual host, or changes what is said about it. What the body leaves out stays as it is.
func (c *call) putVHost() (reply, error) {
	o, err := c.body()
	if err != nil {
		return reply{}, err
	}
	var m vhost.Metadata
	if c.vhost != nil {
		m = c.vhost.Metadata()
	}
	if err := readMetadata(&m, o); err != nil {
		return reply{}, err
	}
	name := c.path("vhost")
	// One call for both, so that two callers do not make it twice.
	created, err := c.api.server.CreateVHost(name, m)
	if err != nil {
		return reply{}, err
	}
	// Whoever makes a virtual host wants to use it. A token's permissions are those that it came with.
	if created && c.user.HasAccount() {
		err = c.api.users.SetPermissions(c.user.Name(), name, auth.AllPermissions())
	}
	c.audit("vhost.set", "name", name, "created", created)
	return put(created, err)
}

// readMetadata changes metadata as a client wants it.
// A field of a wrong type leaves m half changed: callers throw it away then.
func readMetadata(m *vhost.Metadata, o object) (err error) {
	if m.Description, err = o.text("description", m.Description); err != nil {
		return err
	}
	if m.DefaultQueueType, err = o.text("default_queue_type", m.DefaultQueueType); err != nil {
		return err
	}
	if m.Tracing, err = o.boolean("tracing", m.Tracing); err != nil {
		return err
	}
	if _, given := o.get("protected_from_deletion"); given {
		protected, err := o.boolean("protected_from_deletion", false)
		if err != nil {
			return err
		}
		m.Protected = &protected
	}
	if tags, given := o.get("tags"); given {
		m.Tags, err = tagList(tags)
	}
	return err
}

// deleteVHost deletes a virtual host with all that is in it, unless it is protected (412). It answers when that is done.
func (c *call) deleteVHost() (reply, error) {
	v, err := c.named()
	if err != nil {
		return reply{}, err
	}
	err = c.api.server.DeleteVHost(v.Name())
	if err == nil {
		c.audit("vhost.deleted", "name", v.Name())
	}
	return done(err)
}

// protectVHost makes a deletion fail until unprotectVHost: a second thought for what would take all queues along.
func (c *call) protectVHost() (reply, error) {
	return c.setProtection(true, "vhost.protected")
}

// unprotectVHost lets the virtual host be deleted again.
func (c *call) unprotectVHost() (reply, error) {
	if _, err := c.named(); err != nil {
		return reply{}, err
	}
	return c.setProtection(false, "vhost.unprotected")
}

// setProtection is an act in the audit log both ways: who took the protection away is asked when the queues are gone.
func (c *call) setProtection(protected bool, act string) (reply, error) {
	err := c.api.server.ProtectVHost(c.path("vhost"), protected)
	if err == nil {
		c.audit(act, "name", c.path("vhost"))
	}
	return done(err)
}

// startVHost would start a virtual host that failed on one node, which does not happen here. Its errors are RabbitMQ's.
func (c *call) startVHost() (reply, error) {
	if node := c.path("node"); node != c.api.options.Node {
		return reply{}, badRequest("Unknown node: " + node)
	}
	if _, err := c.named(); err != nil {
		return reply{}, badRequest("Request to node " + c.api.options.Node + " failed with {no_such_vhost," + term(c.path("vhost")) + "}")
	}
	return noContent()
}
