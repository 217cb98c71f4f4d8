package management

import "net/http"

// Federation links can be defined and are kept, but nothing runs them yet.
var linkRoutes = []route{
	{path: "/federation-links", group: "Links", operations: []operation{
		{http.MethodGet, monitor, (*call).emptyList, "the links of federation: none", "", false},
	}},
	{path: "/federation-links/{vhost}", group: "Links", operations: []operation{
		{http.MethodGet, monitor, (*call).emptyList, "the links of federation: none", "", false},
	}},
}
