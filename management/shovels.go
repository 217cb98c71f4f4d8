package management

import (
	"fmt"
	"net/http"
	"time"

	"leveret/shovel"
)

var shovelRoutes = []route{
	{path: "/shovels", group: "Shovels", operations: []operation{
		{http.MethodGet, monitor, (*call).listShovels, "all shovels, and how far they are", "", false},
	}},
	{path: "/shovels/{vhost}", group: "Shovels", operations: []operation{
		{http.MethodGet, monitor, (*call).listShovels, "those of a virtual host", "", false},
	}},
	{path: "/shovels/vhost/{vhost}/{parameter}", group: "Shovels", operations: []operation{
		{http.MethodGet, monitor, (*call).getShovel, "the parameter of a shovel", "", false},
		{http.MethodDelete, policymaker, (*call).deleteShovel, "remove it", "", false},
	}},
	{path: "/shovels/vhost/{vhost}/{parameter}/restart", group: "Shovels", operations: []operation{
		{http.MethodDelete, policymaker, (*call).restartShovel, "connect it anew on both sides", "", false},
	}},
}

// shovels are those of the virtual host of the path, or of all if it names none.
func (c *call) shovels() []shovel.Status {
	if c.api.shovels == nil {
		return nil
	}
	all := c.api.shovels.List()
	if c.path("vhost") == "" {
		return all
	}
	var list []shovel.Status
	for _, s := range all {
		if s.VHost == c.path("vhost") {
			list = append(list, s)
		}
	}
	return list
}

// listShovels shows how far shovels are. Whether the virtual host is there is checked here, as
// enterVHost does not do so for monitoring users.
func (c *call) listShovels() (reply, error) {
	if c.path("vhost") != "" && c.vhost == nil {
		return reply{}, notFound()
	}
	list := []object{}
	for _, s := range c.shovels() {
		list = append(list, c.showShovel(s))
	}
	return ok(list)
}

// getShovel shows what a shovel is told to do, not how far it is: that is RabbitMQ's answer here.
func (c *call) getShovel() (reply, error) { return c.parameter(shovel.Component) }

// showShovel is a shovel as RabbitMQ shows it: what is not configured is not there.
func (c *call) showShovel(s shovel.Status) object {
	o := object{
		{"node", c.api.options.Node}, {"timestamp", s.Since.UTC().Format(time.DateTime)}, {"name", s.Name}, {"vhost", s.VHost},
		{"type", "dynamic"}, {"state", string(s.State)}, {"src_uri", s.SourceURI}, {"src_protocol", "amqp091"},
		{"dest_protocol", "amqp091"}, {"dest_uri", s.TargetURI},
	}
	for _, f := range []struct{ name, value string }{
		{"reason", s.Reason}, {"src_queue", s.SourceQueue}, {"src_exchange", s.SourceExchange}, {"src_exchange_key", s.SourceKey},
		{"dest_queue", s.TargetQueue}, {"dest_exchange", s.TargetExchange}, {"dest_exchange_key", s.TargetKey},
	} {
		if f.value != "" {
			o.add(f.name, f.value)
		}
	}
	// What follows is known of one that runs alone.
	if s.State != shovel.Running {
		return o
	}
	blocked := "running"
	// The name of RabbitMQ's for what its target's connection.blocked does to it.
	if s.Blocked {
		blocked = "blocked"
	}
	o.add("blocked_status", blocked)
	// A shovel that never ends has no number of messages to go.
	if s.Remaining < 0 {
		o.add("remaining", "unlimited")
	} else {
		o.add("remaining", s.Remaining)
	}
	o.add("forwarded", s.Forwarded)
	o.add("pending", s.Pending)
	return o
}

// deleteShovel removes a shovel's parameter, and so the shovel; that there is none is no error.
func (c *call) deleteShovel() (reply, error) {
	if c.vhost == nil {
		return reply{}, notFound()
	}
	found, err := c.vhost.ClearParameter(shovel.Component, c.path("parameter"))
	if found && err == nil {
		c.audit("parameter.cleared", "vhost", c.vhost.Name(), "component", shovel.Component, "name", c.path("parameter"))
	}
	return done(err)
}

// restartShovel ends a shovel's connections and makes new ones; what it held comes back to its source queue.
func (c *call) restartShovel() (reply, error) {
	if c.vhost == nil || c.api.shovels == nil || !c.api.shovels.Restart(c.vhost.Name(), c.path("parameter")) {
		return reply{}, notFound()
	}
	c.audit("shovel.restarted", "vhost", c.vhost.Name(), "name", c.path("parameter"))
	return noContent()
}

// maySetParameter refuses a shovel that would open, without a password, a virtual host of this broker that its author has no access to.
func (c *call) maySetParameter(component string, value any) error {
	if component != shovel.Component {
		return nil
	}
	for _, name := range shovel.LocalVHosts(value) {
		if _, may := c.user.Rights(name); !may {
			return badRequest(fmt.Sprintf("Validation failed\n\nuser \"%s\" may not connect to vhost \"%s\"\n", c.user.Name(), name))
		}
	}
	return nil
}
