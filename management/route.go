package management

import (
	"net/http"
	"slices"
	"strings"
)

// route is one path and what can be done there. Paths are below /api, in the notation of net/http.
type route struct {
	path string
	// first puts a route before those that would take its path for a name: /connections/username/{user}.
	first      bool
	group      string // heading in the reference
	operations []operation
}

// operation is a method on a path.
type operation struct {
	method  string
	level   level
	run     func(c *call) (reply, error)
	summary string // one line for the reference
	fields  string // of the body, names with "*" behind those that are required; empty: no body
	plain   bool   // the answer is no JSON
}

// level is who may call an operation.
type level uint8

const (
	// The order means nothing: each check names the levels that it is for.
	anybody       level = iota // no login
	managementTag              // any of the tags that give access
	vhostUser                  // and the virtual host of the path
	vhostViewer                // the same, but monitoring users see all virtual hosts
	policymaker                // may set policies and parameters
	monitor                    // sees the node and others' connections
	administrator
)

// String names the level as the reference does.
func (l level) String() string {
	return [...]string{"nobody has to log in", "management", "management, virtual host", "management, virtual host", "policymaker", "monitoring", "administrator"}[l]
}

// routes are all paths.
func routes() []route {
	return slices.Concat(
		generalRoutes, nodeRoutes, connectionRoutes, channelRoutes, exchangeRoutes, queueRoutes, messageRoutes, bindingRoutes,
		vhostRoutes, limitRoutes, userRoutes, permissionRoutes, policyRoutes, parameterRoutes, globalRoutes, shovelRoutes, linkRoutes, definitionRoutes,
		healthRoutes, clusterRoutes, controlledRoutes, inspectRoutes, replayRoutes, controlRoutes,
	)
}

// allow is the Allow header of a path: HEAD where GET is, OPTIONS last.
func (r *route) allow() string {
	var methods []string
	for _, op := range r.operations {
		if op.method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
		methods = append(methods, op.method)
	}
	return strings.Join(append(methods, http.MethodOptions), ", ")
}

// operation finds what a method does, nil if it does nothing. HEAD does what GET does; net/http leaves the body away.
func (r *route) operation(method string) *operation {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for i := range r.operations {
		if r.operations[i].method == method {
			return &r.operations[i]
		}
	}
	return nil
}
