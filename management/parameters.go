package management

import (
	"encoding/json"
	"net/http"

	"leveret/vhost"
)

var parameterRoutes = []route{
	{path: "/parameters", group: "Parameters", operations: []operation{
		{http.MethodGet, policymaker, (*call).listParameters, "all runtime parameters but policies", "", false},
	}},
	{path: "/parameters/{component}", group: "Parameters", operations: []operation{
		{http.MethodGet, policymaker, (*call).listParameters, "those of a component", "", false},
	}},
	{path: "/parameters/{component}/{vhost}", group: "Parameters", operations: []operation{
		{http.MethodGet, policymaker, (*call).listParameters, "those of a component in a virtual host", "", false},
	}},
	{path: "/parameters/{component}/{vhost}/{parameter}", group: "Parameters", operations: []operation{
		{http.MethodGet, policymaker, (*call).getParameter, "one parameter", "", false},
		{http.MethodPut, policymaker, (*call).putParameter, "set it", "value*", false},
		{http.MethodDelete, policymaker, (*call).deleteParameter, "remove it", "", false},
	}},
}

// The components of parameters that are stored elsewhere, or that this API has other paths for.
const (
	// policy and operator_policy are parameters in RabbitMQ, and limits are: their paths here are two views of one thing.
	policyComponent   = "policy"
	operatorComponent = "operator_policy"
	limitComponent    = "vhost-limits"
	limitParameter    = "limits"
)

// parameterIn is a parameter with the name of its virtual host.
type parameterIn struct {
	vhost string
	vhost.Parameter
}

// show is a parameter as lists and definitions files have it.
func (p parameterIn) show() object {
	return object{{"value", p.Value}, {"vhost", p.vhost}, {"component", p.Component}, {"name", p.Name}}
}

// parametersOf are the parameters of a virtual host; limits are one as well, as soon as any was set. An empty component means all.
func parametersOf(v *vhost.VHost, component string) []parameterIn {
	var list []parameterIn
	for _, p := range v.Parameters(component) {
		list = append(list, parameterIn{v.Name(), p})
	}
	// An empty object after the last limit was lifted: it was set once.
	if l := v.Limits(); l != nil && (component == "" || component == limitComponent) {
		list = append(list, parameterIn{v.Name(), vhost.Parameter{Component: limitComponent, Name: limitParameter, Value: limits(l)}})
	}
	return list
}

// listParameters lists parameters of all components but policies, unless these are what is asked for. They are ordered by component, then by name;
// the octet between the two keeps "a" + "bc" and "ab" + "c" apart.
func (c *call) listParameters() (reply, error) {
	component := c.path("component")
	var list []parameterIn
	for _, v := range c.vhostsNamed() {
		for _, p := range parametersOf(v, component) {
			if component != "" || p.Component != policyComponent {
				list = append(list, p)
			}
		}
	}
	return listing[parameterIn]{
		items: list,
		id:    func(p parameterIn) identity { return identity{p.vhost, p.Component + "\x00" + p.Name} },
		show:  parameterIn.show,
	}.reply(c)
}

// getParameter shows one of any component, policies included.
func (c *call) getParameter() (reply, error) { return c.parameter(c.path("component")) }

// parameter shows the one that the path names.
func (c *call) parameter(component string) (reply, error) {
	if c.vhost == nil {
		return reply{}, notFound()
	}
	for _, p := range parametersOf(c.vhost, component) {
		if p.Name == c.path("parameter") {
			return ok(p.show())
		}
	}
	return reply{}, notFound()
}

// putParameter sets a parameter. Policies have paths of their own, where they are validated; limits are for administrators, and a shovel may not reach
// further than the user who sets it.
func (c *call) putParameter() (reply, error) {
	component, name := c.path("component"), c.path("parameter")
	o, err := c.body()
	if err != nil {
		return reply{}, err
	}
	if err := o.require("value"); err != nil {
		return reply{}, err
	}
	value, _ := o.get("value")
	var created bool
	switch component {
	case policyComponent, operatorComponent:
		return reply{}, badRequest("policies may not be set using this method")
	case limitComponent:
		// nil and not empty: whoever lifts all limits has still set some.
		created = c.vhost.Limits() == nil
		err = c.setLimits(name, value)
	default:
		if err = c.maySetParameter(component, plainJSON(value)); err == nil {
			created, err = c.vhost.SetParameter(component, name, plainJSON(value))
		}
	}
	if err == nil {
		c.audit("parameter.set", "vhost", c.vhost.Name(), "component", component, "name", name)
	}
	return put(created, err)
}

// setLimits takes all limits of the virtual host at once.
func (c *call) setLimits(name string, value any) error {
	if !c.isAdministrator() {
		return refused("Not administrator user")
	}
	given, isObject := value.(object)
	if name != limitParameter || !isObject {
		return badRequest("Validation failed\n\nlimits must be an object\n")
	}
	// What is not named is lifted: the parameter is the whole set.
	all := make(vhost.Limits, len(given))
	for _, f := range given {
		// Read as 64 bits: a fraction or a number beyond is no limit.
		number, _ := f.value.(json.Number)
		n, err := number.Int64()
		if err != nil {
			return badRequest("Validation failed\n\n" + f.name + " should be a number, actually was " + term(f.value) + "\n")
		}
		all[f.name] = n
	}
	return c.api.server.SetVHostLimits(c.vhost.Name(), all)
}

// deleteParameter removes one, with the same exceptions.
func (c *call) deleteParameter() (reply, error) {
	component, name := c.path("component"), c.path("parameter")
	switch {
	case component == policyComponent:
		return reply{}, badRequest("policies may not be cleared using this method")
	case (component == limitComponent || component == operatorComponent) && !c.isAdministrator():
		return reply{}, refused("Not administrator user")
	}
	found, err := c.clearParameter(component, name)
	if err == nil && !found {
		return reply{}, notFound()
	}
	if err == nil {
		c.audit("parameter.cleared", "vhost", c.vhost.Name(), "component", component, "name", name)
	}
	return done(err)
}

// clearParameter clears a parameter wherever it is stored, and reports whether there was one.
func (c *call) clearParameter(component, name string) (found bool, err error) {
	switch {
	case component == limitComponent && name == limitParameter && c.vhost.Limits() != nil:
		return true, c.api.server.SetVHostLimits(c.vhost.Name(), nil)
	case component == operatorComponent: // clients that remove all parameters come across these
		return c.vhost.ClearOperatorPolicy(name)
	}
	return c.vhost.ClearParameter(component, name)
}
