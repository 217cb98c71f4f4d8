package management

import (
	"net/http"
	"time"

	"leveret/vhost"
)

// Shovels and federation links can be defined and are kept, but nothing runs them yet.
var linkRoutes = []route{
	{path: "/shovels", group: "Links", operations: []operation{
		{http.MethodGet, monitor, (*call).listShovels, "the shovels that are defined", "", false},
	}},
	{path: "/shovels/{vhost}", group: "Links", operations: []operation{
		{http.MethodGet, monitor, (*call).listShovels, "those of a virtual host", "", false},
	}},
	{path: "/federation-links", group: "Links", operations: []operation{
		{http.MethodGet, monitor, (*call).emptyList, "the links of federation: none", "", false},
	}},
	{path: "/federation-links/{vhost}", group: "Links", operations: []operation{
		{http.MethodGet, monitor, (*call).emptyList, "the links of federation: none", "", false},
	}},
}

func (c *call) listShovels() (reply, error) {
	list := []object{}
	hosts := c.api.vhosts()
	if c.path("vhost") != "" {
		if c.vhost == nil {
			return reply{}, notFound()
		}
		hosts = []*vhost.VHost{c.vhost}
	}
	for _, v := range hosts {
		for _, p := range v.Parameters(shovelComponent) {
			list = append(list, object{
				{"node", c.api.options.Node}, {"timestamp", time.Now().UTC().Format(time.DateTime)}, {"name", p.Name}, {"vhost", v.Name()},
				{"type", "dynamic"}, {"state", "terminated"}, {"reason", "this version runs no shovels"},
			})
		}
	}
	return ok(list)
}
