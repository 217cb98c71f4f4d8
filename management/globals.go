package management

import (
	"net/http"
	"strings"
)

var globalRoutes = []route{
	{path: "/global-parameters", group: "Parameters", operations: []operation{
		{http.MethodGet, policymaker, (*call).listGlobals, "the parameters of the whole broker", "", false},
	}},
	{path: "/global-parameters/{parameter}", group: "Parameters", operations: []operation{
		{http.MethodGet, policymaker, (*call).getGlobal, "one of them", "", false},
		{http.MethodPut, policymaker, (*call).putGlobal, "set it to any value", "value*", false},
		{http.MethodDelete, policymaker, (*call).deleteGlobal, "remove it", "", false},
	}},
}

// Global parameters that are there always, whether somebody has set them or not.
const (
	clusterNameParameter = "cluster_name"
	clusterTagsParameter = "cluster_tags"
)

// clusterName is the name that an operator gave the broker's cluster of one, or the one it began with.
func (a *API) clusterName() string {
	if value, found := a.server.GlobalParameter(clusterNameParameter); found {
		if name, isText := value.(string); isText {
			return name
		}
	}
	return a.options.Cluster
}

// setClusterName keeps the name where RabbitMQ keeps it, so that definitions files carry it along.
func (a *API) setClusterName(name string) error {
	// A parameter like any other, and in definitions files among them.
	_, err := a.server.SetGlobalParameter(clusterNameParameter, name)
	return err
}

// clusterTags are whatever an operator says of the cluster.
func (a *API) clusterTags() any {
	if value, found := a.server.GlobalParameter(clusterTagsParameter); found {
		return value
	}
	return map[string]any{}
}

// showGlobal shows a parameter of the whole broker, which has neither component nor virtual host.
func showGlobal(name string, value any) object { return object{{"value", value}, {"name", name}} }

// listGlobals lists those that clients may know, in order of their names, with those that are there always.
func (c *call) listGlobals() (reply, error) {
	values := map[string]any{clusterNameParameter: c.api.clusterName(), clusterTagsParameter: c.api.clusterTags()}
	for _, p := range c.api.server.GlobalParameters() {
		if !strings.HasPrefix(p.Name, "internal") { // the broker's own
			values[p.Name] = p.Value
		}
	}
	list := []object{}
	for _, f := range sortedObject(values) {
		list = append(list, showGlobal(f.name, f.value))
	}
	return ok(list)
}

// global finds a parameter of the whole broker.
func (a *API) global(name string) (value any, found bool) {
	switch name {
	case clusterNameParameter:
		return a.clusterName(), true
	case clusterTagsParameter:
		return a.clusterTags(), true
	}
	return a.server.GlobalParameter(name)
}

// getGlobal shows one. Those whose names begin with "internal" are not hidden here: who knows the name may see it.
func (c *call) getGlobal() (reply, error) {
	name := c.path("parameter")
	value, found := c.api.global(name)
	if !found {
		return reply{}, notFound()
	}
	return ok(showGlobal(name, value))
}

// putGlobal sets one to any JSON value; 201 if it was not there.
func (c *call) putGlobal() (reply, error) {
	name := c.path("parameter")
	o, err := c.body()
	if err != nil {
		return reply{}, err
	}
	if err := o.require("value"); err != nil {
		return reply{}, err
	}
	value, _ := o.get("value")
	_, existed := c.api.global(name)
	_, err = c.api.server.SetGlobalParameter(name, plainJSON(value))
	if err == nil {
		c.audit("parameter.set", "name", name)
	}
	return put(!existed, err)
}

// deleteGlobal removes one. Of those that are always there this removes what somebody set.
func (c *call) deleteGlobal() (reply, error) {
	name := c.path("parameter")
	found, err := c.api.server.ClearGlobalParameter(name)
	if err == nil && !found {
		return reply{}, notFound()
	}
	if err == nil {
		c.audit("parameter.cleared", "name", name)
	}
	return done(err)
}
