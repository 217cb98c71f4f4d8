package management

import (
	"encoding/json"
	"net/http"
	"strings"

	"leveret/vhost"
)

var policyRoutes = append(
	policyKind{component: policyComponent, set: (*vhost.VHost).SetPolicy, clear: (*vhost.VHost).ClearPolicy, list: (*vhost.VHost).Policies}.
		routes("policies", policymaker),
	policyKind{component: operatorComponent, set: (*vhost.VHost).SetOperatorPolicy, clear: (*vhost.VHost).ClearOperatorPolicy,
		list: (*vhost.VHost).OperatorPolicies, operator: true}.routes("operator-policies", administrator)...,
)

// policyKind is one of the two kinds of policies: those that give settings, and those that operators bound them with.
type policyKind struct {
	component string
	operator  bool
	// The virtual host keeps the two kinds apart.
	set   func(*vhost.VHost, vhost.Policy) (created bool, err error)
	clear func(*vhost.VHost, string) (found bool, err error)
	list  func(*vhost.VHost) []vhost.Policy
}

// routes are the paths of the kind; who may change them is who.
func (k policyKind) routes(name string, who level) []route {
	// Two levels may call: policymakers are stopped before for a virtual host that is not theirs, administrators are not.
	write := func(run func(*call) (reply, error)) func(*call) (reply, error) {
		return func(c *call) (reply, error) {
			if c.vhost == nil && c.request.Method == http.MethodPut { // an administrator's calls are not stopped before
				return reply{}, missing("vhost_not_found")
			} else if c.vhost == nil {
				return reply{}, notFound()
			}
			return run(c)
		}
	}
	return []route{
		{path: "/" + name, group: "Policies", operations: []operation{
			{http.MethodGet, managementTag, k.all, "all " + strings.ReplaceAll(name, "-", " "), "", false},
		}},
		{path: "/" + name + "/{vhost}", group: "Policies", operations: []operation{
			{http.MethodGet, vhostUser, k.all, "those of a virtual host", "", false},
		}},
		{path: "/" + name + "/{vhost}/{policy}", group: "Policies", operations: []operation{
			{http.MethodGet, vhostUser, k.one, "one of them", "", false},
			{http.MethodPut, who, write(k.put), "set it", "pattern* definition* priority apply-to", false},
			{http.MethodDelete, who, write(k.delete), "remove it", "", false},
		}},
	}
}

// policyIn is a policy with the name of its virtual host.
type policyIn struct {
	vhost string
	vhost.Policy
}

// show is a policy; operator policies have the same form.
func (p policyIn) show() object {
	return object{
		{"vhost", p.vhost}, {"name", p.Name}, {"pattern", p.Pattern}, {"apply-to", p.ApplyTo}, {"definition", p.Definition}, {"priority", p.Priority},
	}
}

// all lists policies of the kind in the virtual hosts that the user sees.
func (k policyKind) all(c *call) (reply, error) {
	var list []policyIn
	for _, v := range c.vhostsNamed() {
		for _, p := range k.list(v) {
			list = append(list, policyIn{v.Name(), p})
		}
	}
	return listing[policyIn]{
		items: list,
		id:    func(p policyIn) identity { return identity{p.vhost, p.Name} },
		show:  policyIn.show,
	}.reply(c)
}

// one shows a policy. enterVHost has checked that the virtual host is there.
func (k policyKind) one(c *call) (reply, error) {
	for _, p := range k.list(c.vhost) {
		if p.Name == c.path("policy") {
			return ok(policyIn{c.vhost.Name(), p}.show())
		}
	}
	return reply{}, notFound()
}

// put sets a policy. It is validated whole before it counts; queues and exchanges that it fits follow it at once.
func (k policyKind) put(c *call) (reply, error) {
	o, err := c.body()
	if err != nil {
		return reply{}, err
	}
	if err := o.require("pattern", "definition"); err != nil {
		return reply{}, err
	}
	definition, _ := o.get("definition")
	if fields, isObject := definition.(object); isObject {
		// Which of two values would count is a matter of the parser, so RabbitMQ refuses both.
		if twice := fields.duplicates(); len(twice) > 0 {
			encoded, _ := json.Marshal(twice) // texts can always be encoded
			return reply{}, badRequest("Validation failed\n\n" + string(encoded) + " duplicate keys not allowed\n")
		}
	}
	name := c.path("policy")
	// Operator policies may hold fewer keys, those that bound something.
	p, err := vhost.PolicyOf(name, plainMap(o), k.operator)
	if err != nil {
		return reply{}, err
	}
	created, err := k.set(c.vhost, p)
	if err == nil {
		c.audit(k.component+".set", "vhost", c.vhost.Name(), "name", name, "pattern", p.Pattern, "definition", p.Definition)
	}
	return put(created, err)
}

// delete removes one; what it applied to is ruled by the next that fits.
func (k policyKind) delete(c *call) (reply, error) {
	name := c.path("policy")
	found, err := k.clear(c.vhost, name)
	if err == nil && !found {
		return reply{}, notFound()
	}
	if err == nil {
		c.audit(k.component+".cleared", "vhost", c.vhost.Name(), "name", name)
	}
	return done(err)
}

// duplicates are the names that more than one field has.
func (o object) duplicates() []string {
	var twice []string
	seen := make(map[string]int, len(o))
	for _, f := range o {
		if seen[f.name]++; seen[f.name] == 2 {
			twice = append(twice, f.name)
		}
	}
	return twice
}

// plainMap is an object as the standard library would have read it.
// The last of two fields of a name counts; the callers for which that matters have refused them.
func plainMap(o object) map[string]any {
	m := make(map[string]any, len(o))
	for _, f := range o {
		m[f.name] = plainJSON(f.value)
	}
	return m
}

// plainJSON turns objects within a value into maps, which is what packages below the API know. Numbers stay as they were written.
func plainJSON(v any) any {
	switch v := v.(type) {
	case object:
		return plainMap(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plainJSON(v[i])
		}
		return list
	}
	return v
}
