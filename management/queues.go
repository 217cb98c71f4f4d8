package management

import (
	"errors"
	"net/http"

	"leveret/amqp"
	"leveret/queue"
	"leveret/vhost"
)

var queueRoutes = []route{
	{path: "/queues", group: "Queues", operations: []operation{
		{http.MethodGet, managementTag, (*call).listQueues, "all queues", "", false},
	}},
	// Before /queues/{vhost}, which would take it for a virtual host.
	{path: "/queues/detailed", group: "Queues", first: true, operations: []operation{
		{http.MethodGet, managementTag, (*call).listDetailed, "all queues, with all fields", "", false},
	}},
	{path: "/queues/{vhost}", group: "Queues", operations: []operation{
		{http.MethodGet, vhostUser, (*call).listQueues, "the queues of a virtual host", "", false},
	}},
	{path: "/queues/{vhost}/{queue}", group: "Queues", operations: []operation{
		{http.MethodGet, vhostUser, (*call).getQueue, "one queue, with its consumers", "", false},
		{http.MethodPut, vhostUser, (*call).putQueue, "declare a queue", "durable auto_delete arguments node", false},
		{http.MethodDelete, vhostUser, (*call).deleteQueue, "delete a queue; if-empty=true, if-unused=true: only then", "", false},
	}},
	{path: "/queues/{vhost}/{queue}/bindings", group: "Queues", operations: []operation{
		{http.MethodGet, vhostUser, (*call).bindingsToQueue, "the bindings to a queue", "", false},
	}},
	{path: "/queues/{vhost}/{queue}/contents", group: "Queues", operations: []operation{
		{http.MethodDelete, vhostUser, (*call).purge, "remove all ready messages", "", false},
	}},
	{path: "/queues/{vhost}/{queue}/actions", group: "Queues", operations: []operation{
		{http.MethodPost, administrator, (*call).queueAction, "nothing: no action is left", "action*", false},
	}},
	// Who declared a queue is not kept.
	{path: "/users/{user}/queues", group: "Queues", operations: []operation{
		{http.MethodGet, managementTag, (*call).listQueues, "the queues that a user made, as far as that is known: all", "", false},
	}},
}

// findQueue returns a queue, nil if there is none, or no such virtual host: operations for administrators alone are not stopped for that before. It
// looks at no rights.
func findQueue(v *vhost.VHost, name string) *queue.Queue {
	if v == nil {
		return nil
	}
	return v.AnyQueue(name)
}

// listQueues leaves out what is null and what takes long to make; listDetailed has all, for each queue.
func (c *call) listQueues() (reply, error)   { return c.queues(reduced) }
func (c *call) listDetailed() (reply, error) { return c.queues(detailed) }

// queues lists queues in one of the forms that there are.
func (c *call) queues(form queueForm) (reply, error) {
	w, err := windowsOf(c)
	if err != nil {
		return reply{}, err
	}
	form = c.lighter(form)
	var list []queueIn
	for _, v := range c.vhostsNamed() {
		v.Queues(func(q *queue.Queue) bool {
			// One that is being deleted is none any more, though its name is reserved for a moment.
			if !q.Closed() {
				list = append(list, queueIn{v, q})
			}
			return true
		})
	}
	view := c.api.queueView(form, w)
	return listing[queueIn]{
		items: list,
		id:    func(q queueIn) identity { return identity{q.vhost.Name(), q.Name()} },
		show:  view.show,
		paged: true,
	}.reply(c)
}

// getQueue shows one queue with its consumers, null where nothing is known: clients of a single queue expect all fields.
func (c *call) getQueue() (reply, error) {
	w, err := windowsOf(c)
	if err != nil {
		return reply{}, err
	}
	q := findQueue(c.vhost, c.path("queue"))
	if q == nil {
		return reply{}, notFound()
	}
	view := c.api.queueView(c.lighter(single), w)
	return ok(columnsOf(c).one(view.show(queueIn{c.vhost, q})))
}

// putQueue declares a queue. Unlike with AMQP it does not last if nothing is said, and it is never exclusive: there is no connection that it
// could belong to.
func (c *call) putQueue() (reply, error) {
	if err := c.roomToDeclare(); err != nil {
		return reply{}, err
	}
	name := c.path("queue")
	o, err := c.body()
	if err != nil {
		return reply{}, err
	}
	d, err := c.queueDeclare(name, o)
	if err != nil {
		return reply{}, err
	}
	// Looked at before: two callers at once may both hear 201, which harms nobody.
	existed := findQueue(c.vhost, name) != nil
	// With the caller's rights, and the same checks as over AMQP.
	_, err = c.vhost.DeclareQueue(d, nobody, c.rights())
	return put(!existed, err)
}

// queueDeclare reads what a queue is to be. exclusive is ignored; a node has to be this one.
func (c *call) queueDeclare(name string, o object) (d vhost.QueueDeclare, err error) {
	d.Name = name
	if err = shortEnough(amqp.QueueResource, name); err != nil {
		return d, err
	}
	if d.Durable, err = o.boolean("durable", false); err != nil {
		return d, err
	}
	if d.AutoDelete, err = o.boolean("auto_delete", false); err != nil {
		return d, err
	}
	// Clients of clusters place queues; on one node there is one place.
	if node, ok := o.get("node"); ok && node != c.api.options.Node {
		return d, badRequest("Node " + termText(node) + " is not a cluster member") // RabbitMQ's word for it
	}
	arguments, _ := o.get("arguments")
	d.Arguments, err = fieldTable(arguments)
	return d, err
}

// deleteQueue deletes a queue; if-unused and if-empty make it fail (400) where there are consumers or messages.
func (c *call) deleteQueue() (reply, error) {
	name := c.path("queue")
	if findQueue(c.vhost, name) == nil {
		return reply{}, notFound()
	}
	_, err := c.vhost.DeleteQueue(name, c.asked("if-unused"), c.asked("if-empty"), nobody, c.rights())
	if err == nil {
		c.audit("queue.deleted", "vhost", c.vhost.Name(), "name", name)
	}
	return done(err)
}

// purge removes what waits in a queue.
func (c *call) purge() (reply, error) {
	name := c.path("queue")
	if findQueue(c.vhost, name) == nil {
		return reply{}, notFound()
	}
	// A purge needs the right to read, as queue.purge does.
	q, err := c.readable(name)
	if err != nil {
		return reply{}, err
	}
	n, err := q.Purge()
	if errors.Is(err, queue.ErrClosed) {
		err = notFound()
	}
	if err == nil {
		c.audit("queue.purged", "vhost", c.vhost.Name(), "name", name, "messages", n)
	}
	return done(err)
}

// readable returns a queue that the user may read from.
func (c *call) readable(name string) (*queue.Queue, error) {
	if err := c.rights().Read(amqp.QueueResource, name); err != nil {
		return nil, err
	}
	return c.vhost.Queue(name, nobody)
}

// queueAction is what once synchronised mirrors.
func (c *call) queueAction() (reply, error) {
	o, err := c.body()
	if err != nil {
		return reply{}, err
	}
	if err := o.require("action"); err != nil {
		return reply{}, err
	}
	action, _ := o.get("action")
	return reply{}, invalid("unknown", action)
}
