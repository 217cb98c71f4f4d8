package management

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"leveret/vhost"
)

var limitRoutes = []route{
	{path: "/vhost-limits", group: "Virtual hosts", operations: []operation{
		{http.MethodGet, managementTag, (*call).listVHostLimits, "the limits of all virtual hosts that have some", "", false},
	}},
	{path: "/vhost-limits/{vhost}", group: "Virtual hosts", operations: []operation{
		{http.MethodGet, vhostUser, (*call).listVHostLimits, "the limits of a virtual host", "", false},
	}},
	{path: "/vhost-limits/{vhost}/{limit}", group: "Virtual hosts", operations: []operation{
		{http.MethodPut, administrator, (*call).putVHostLimit, "set max-connections, max-queues, max-messages or max-bytes; negative: no limit", "value*", false},
		{http.MethodDelete, administrator, (*call).deleteVHostLimit, "lift a limit", "", false},
	}},
}

// limitValue reads the number of a limit. form frames what is wrong with it, as RabbitMQ does for the one kind of limits and not for the other.
// RabbitMQ checks the name together with the value, so a name that is unknown is complained about with its value.
func (c *call) limitValue(known []string, kind, form string) (int64, error) {
	o, err := c.body()
	if err != nil {
		return 0, err
	}
	if err := o.require("value"); err != nil {
		return 0, err
	}
	name := c.path("limit")
	v, _ := o.get("value")
	if !slices.Contains(known, name) {
		return 0, badRequest(fmt.Sprintf(form, fmt.Sprintf(`Unrecognised terms [{<<"%s">>,%s}] in %s`, name, term(v), kind)))
	}
	// A whole number of 64 bits, as text in JSON would be no number.
	number, _ := v.(json.Number)
	n, err := number.Int64()
	if err != nil {
		return 0, badRequest(fmt.Sprintf(form, name+" should be a number, actually was "+term(v)))
	}
	return n, nil
}

// listVHostLimits lists virtual hosts that have limits; the others are left out, as in RabbitMQ.
func (c *call) listVHostLimits() (reply, error) {
	list := []object{}
	for _, v := range c.vhostsNamed() {
		// Those that are negative are shown too: somebody has said so.
		if l := v.Limits(); len(l) > 0 {
			list = append(list, object{{"vhost", v.Name()}, {"value", limits(l)}})
		}
	}
	return ok(list)
}

// limitedVHost is the virtual host of the path. Who limits one that is not there hears it in another way than elsewhere.
func (c *call) limitedVHost() (string, error) {
	if c.vhost == nil {
		return "", missing("vhost_not_found")
	}
	return c.vhost.Name(), nil
}

// putVHostLimit sets one limit and leaves the others; it is in force at once, and what is over it already stays.
func (c *call) putVHostLimit() (reply, error) {
	name, err := c.limitedVHost()
	if err != nil {
		return reply{}, err
	}
	value, err := c.limitValue(vhost.LimitNames(), "limits", "Validation failed\n\n%s\n")
	if err != nil {
		return reply{}, err
	}
	err = c.api.server.SetVHostLimit(name, c.path("limit"), value)
	if err == nil {
		c.audit("vhost.limits.set", "name", name, "limit", c.path("limit"), "value", value)
	}
	return done(err)
}

// deleteVHostLimit lifts one; that it was not set is no error.
func (c *call) deleteVHostLimit() (reply, error) {
	name, err := c.limitedVHost()
	if err != nil {
		return reply{}, err
	}
	err = c.api.server.ClearVHostLimit(name, c.path("limit"))
	if err == nil {
		c.audit("vhost.limits.cleared", "name", name, "limit", c.path("limit"))
	}
	return done(err)
}
