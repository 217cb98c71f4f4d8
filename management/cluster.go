package management

import (
	"net/http"
)

var clusterRoutes = []route{
	{path: "/cluster-name", group: "Broker", operations: []operation{
		{http.MethodGet, managementTag, (*call).getClusterName, "the cluster's name", "", false},
		{http.MethodPut, administrator, (*call).putClusterName, "give the cluster a name", "name*", false},
	}},
	{path: "/config/effective", group: "Broker", operations: []operation{
		{http.MethodGet, administrator, (*call).settings, "the settings in force, as lines of a configuration file", "", true},
	}},
	{path: "/rebalance/queues", group: "Broker", operations: []operation{
		{http.MethodPost, administrator, (*call).nothing, "nothing: there is one node", "", false},
	}},
	{path: "/reset", group: "Broker", operations: []operation{
		{http.MethodDelete, administrator, (*call).reset, "forget the samples that rates are made from", "", false},
	}},
	{path: "/reset/{node}", group: "Broker", operations: []operation{
		{http.MethodDelete, administrator, (*call).resetNode, "the same", "", false},
	}},
	{path: "/auth/attempts/{node}", group: "Broker", operations: []operation{
		{http.MethodGet, monitor, (*call).attempts, "how many logins were tried and failed, by protocol", "", false},
		{http.MethodDelete, administrator, (*call).resetAttempts, "count from 0 again", "", false},
	}},
	{path: "/auth/attempts/{node}/source", group: "Broker", operations: []operation{
		{http.MethodGet, monitor, (*call).attemptsBySource, "the same by address and user, if that is switched on", "", false},
		{http.MethodDelete, administrator, (*call).resetAttempts, "count from 0 again", "", false},
	}},
	{path: "/feature-flags", group: "Broker", operations: []operation{
		{http.MethodGet, managementTag, (*call).featureFlags, "what RabbitMQ calls feature flags: all are on", "", false},
	}},
	{path: "/feature-flags/{flag}/enable", group: "Broker", operations: []operation{
		{http.MethodPut, administrator, (*call).enableFlag, "nothing: all are on", "", false},
	}},
	{path: "/deprecated-features", group: "Broker", operations: []operation{
		{http.MethodGet, managementTag, (*call).deprecatedFeatures, "what RabbitMQ means to remove", "", false},
	}},
	{path: "/deprecated-features/used", group: "Broker", operations: []operation{
		{http.MethodGet, managementTag, (*call).emptyList, "that of it which is in use: none", "", false},
	}},
	{path: "/queues/quorum/{vhost}/{queue}/status", group: "Queues", first: true, operations: []operation{
		{http.MethodGet, vhostUser, (*call).quorumStatus, "the replicas of a quorum queue: one", "", false},
	}},
	{path: "/queues/quorum/{vhost}/{queue}/replicas/add", group: "Queues", first: true, operations: []operation{
		{http.MethodPost, administrator, (*call).changeReplicas, "refused: there is one node", "node*", false},
	}},
	{path: "/queues/quorum/{vhost}/{queue}/replicas/delete", group: "Queues", first: true, operations: []operation{
		{http.MethodDelete, administrator, (*call).changeReplicas, "refused: there is one node", "node*", false},
	}},
	{path: "/queues/quorum/replicas/on/{node}/grow", group: "Queues", first: true, operations: []operation{
		{http.MethodPost, administrator, (*call).growReplicas, "nothing: there is one node", "strategy", false},
	}},
	{path: "/queues/quorum/replicas/on/{node}/shrink", group: "Queues", first: true, operations: []operation{
		{http.MethodDelete, administrator, (*call).growReplicas, "nothing: there is one node", "", false},
	}},
}

// nothing is for what a cluster would have to do and one node has not: tools go on if it succeeds.
func (c *call) nothing() (reply, error) { return noContent() }

// emptyList is for things that there can be none of here.
func (c *call) emptyList() (reply, error) { return ok([]object{}) }

// settings are those in force, as a configuration file.
func (c *call) settings() (reply, error) {
	return reply{status: http.StatusOK, text: []byte(c.api.options.Settings()), kind: "text/plain; charset=utf-8"}, nil
}

// reset forgets what rates are made from. Counters go on.
func (c *call) reset() (reply, error) {
	c.api.rates.forget()
	return noContent()
}

// resetNode is reset for a node by its name, of which there is one.
func (c *call) resetNode() (reply, error) {
	if err := c.ownNode(); err != nil {
		return reply{}, err
	}
	return c.reset()
}

// attempts are counted by the users' side, from the start of the broker or the last reset on.
func (c *call) attempts() (reply, error) {
	if err := c.ownNode(); err != nil {
		return reply{}, err
	}
	list := []object{}
	for _, n := range c.api.users.AttemptsByProtocol() {
		list = append(list, object{
			{"protocol", n.Protocol}, {"auth_attempts", n.Total}, {"auth_attempts_failed", n.Failed}, {"auth_attempts_succeeded", n.Total - n.Failed},
		})
	}
	return ok(list)
}

// attemptsBySource is empty unless the setting is on that keeps counters by address and user, since strangers can make many of these.
func (c *call) attemptsBySource() (reply, error) {
	if err := c.ownNode(); err != nil {
		return reply{}, err
	}
	list := []object{}
	for _, n := range c.api.users.AttemptsBySource() {
		list = append(list, object{
			{"remote_address", n.Address}, {"username", n.User}, {"protocol", n.Protocol}, {"auth_attempts", n.Total},
			{"auth_attempts_failed", n.Failed}, {"auth_attempts_succeeded", n.Total - n.Failed},
		})
	}
	return ok(list)
}

// resetAttempts sets all counters of logins to 0, those by address and user too.
func (c *call) resetAttempts() (reply, error) {
	if err := c.ownNode(); err != nil {
		return reply{}, err
	}
	c.api.users.ResetAttempts()
	return noContent()
}

// flags are feature flags of RabbitMQ that tools look for. What they stand for is always on here.
var flags = []string{
	"classic_mirrored_queue_version", "classic_queue_type_delivery_support", "detailed_queues_endpoint", "direct_exchange_routing_v2",
	"drop_unroutable_metric", "empty_basic_get_metric", "feature_flags_v2", "implicit_default_bindings", "khepri_db", "listener_records_in_ets",
	"maintenance_mode_status", "message_containers", "quorum_queue", "rabbitmq_4.0.0", "rabbitmq_4.1.0", "rabbitmq_4.2.0", "rabbitmq_4.3.0",
	"stream_filtering", "stream_queue", "tracking_records_in_ets", "user_limits", "virtual_host_metadata",
}

// featureFlags shows all as enabled and required: management tools refuse to work with a broker that lacks some.
func (c *call) featureFlags() (reply, error) {
	list := make([]object, len(flags))
	for i, name := range flags {
		list[i] = object{
			{"name", name}, {"desc", ""}, {"doc_url", ""}, {"state", "enabled"}, {"stability", "required"}, {"require_level", "hard"},
			{"experiment_level", "unsupported"}, {"callbacks", []any{}}, {"provided_by", "rabbit"},
		}
	}
	return ok(list)
}

// enableFlag succeeds for flags that are there, as what they stand for is on; "all" is what upgrade scripts ask for.
func (c *call) enableFlag() (reply, error) {
	// A flag that nobody knows is refused, as a script would otherwise count on it.
	for _, name := range append([]string{"all"}, flags...) {
		if name == c.path("flag") {
			return noContent()
		}
	}
	return reply{}, badRequest("unsupported")
}

// deprecated are features that RabbitMQ means to remove; here they stay.
var deprecated = []string{"amqp_address_v1", "global_qos", "management_metrics_collection", "queue_master_locator", "transient_nonexcl_queues"}

// deprecatedFeatures shows all as permitted: nothing here stops working because of the list.
func (c *call) deprecatedFeatures() (reply, error) {
	list := make([]object, len(deprecated))
	for i, name := range deprecated {
		list[i] = object{
			{"name", name}, {"state", "permitted"}, {"desc", ""}, {"deprecation_phase", "permitted_by_default"}, {"doc_url", ""},
			{"provided_by", "rabbit"},
		}
	}
	return ok(list)
}

// quorumStatus shows the replicas of a queue of a kind that has some.
func (c *call) quorumStatus() (reply, error) {
	q := findQueue(c.vhost, c.path("queue"))
	if q == nil {
		return reply{}, notFound()
	}
	// By its type alone: it has one replica, which always leads.
	if typeOf(q.Options()) != "quorum" {
		// RabbitMQ answers 503 here, of all statuses, and rabbitmq-queues looks at that.
		return unhealthy(typeOf(q.Options()) + "_queue_not_supported")
	}
	return ok([]object{{
		{"Node Name", c.api.options.Node}, {"Raft State", "leader"}, {"Membership", "voter"}, {"Last Log Index", 0}, {"Last Written", 0},
		{"Last Applied", 0}, {"Commit Index", 0}, {"Snapshot Index", 0}, {"Term", 1}, {"Machine Version", 0},
	}})
}

// changeReplicas answers for adding and removing a replica. Here it is added already, and is never removed; elsewhere is no node.
func (c *call) changeReplicas() (reply, error) {
	o, err := c.body()
	if err != nil {
		return reply{}, err
	}
	if err := o.require("node"); err != nil {
		return reply{}, err
	}
	// That it is a member already is no error: it is what was asked for.
	if node, _ := o.get("node"); node == c.api.options.Node {
		return noContent()
	}
	return reply{}, badRequest("Node is not a cluster member")
}

// growReplicas answers with the queues that got or lost a replica: none.
func (c *call) growReplicas() (reply, error) {
	if err := c.ownNode(); err != nil {
		return reply{}, err
	}
	return ok([]object{})
}

// getClusterName shows it to whoever may log in: tools put it above their pages.
func (c *call) getClusterName() (reply, error) { return ok(object{{"name", c.api.clusterName()}}) }

// putClusterName gives the cluster a name, which dashboards show and shovels do not care for.
func (c *call) putClusterName() (reply, error) {
	o, err := c.body()
	if err != nil {
		return reply{}, err
	}
	texts, err := o.texts("name")
	if err != nil {
		return reply{}, err
	}
	err = c.api.setClusterName(texts[0])
	if err == nil {
		c.audit("cluster.named", "name", texts[0])
	}
	return done(err)
}
