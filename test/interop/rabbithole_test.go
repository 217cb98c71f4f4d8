package interop

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"

	rabbithole "github.com/michaelklishin/rabbit-hole/v2"
)

// hole is the client that Terraform's provider and the topology operator are built on, connected to a broker of its own.
type hole struct {
	*rabbithole.Client
	t *testing.T
	b *broker
}

func openHole(t *testing.T) *hole {
	t.Helper()
	b := withHTTP(t)
	c, err := rabbithole.NewClient("http://"+b.http, "guest", "guest")
	if err != nil {
		t.Fatal(err)
	}
	return &hole{c, t, b}
}

// withHTTP starts a broker with an HTTP listener.
func withHTTP(t *testing.T) *broker {
	t.Helper()
	b := ownBroker(t, "--http-addr", "127.0.0.1:0")
	if b.http == "" {
		t.Skip("the broker that runs elsewhere has no HTTP address here")
	}
	return b
}

// did fails the test unless a call had the status.
func (h *hole) did(status int) func(*http.Response, error) {
	h.t.Helper()
	return func(res *http.Response, err error) {
		h.t.Helper()
		if err != nil {
			h.t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != status {
			h.t.Fatalf("%s %s: %s, want %d", res.Request.Method, res.Request.URL, res.Status, status)
		}
	}
}

// read fails the test if a call failed, and returns what it read.
func read[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// want compares two values by what they look like.
func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprintf("%v", got) != fmt.Sprintf("%v", want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestRabbitHoleTopology(t *testing.T) {
	h := openHole(t)
	const vhost = "hole/1"
	h.did(http.StatusCreated)(h.PutVhost(vhost, rabbithole.VhostSettings{Description: "d", Tags: []string{"a", "b"}}))
	v := read[*rabbithole.VhostInfo](t)(h.GetVhost(vhost))
	want(t, "vhost", fmt.Sprint(v.Name, v.Description, v.Tags), fmt.Sprint(vhost, "d", []string{"a", "b"}))
	want(t, "vhosts", len(read[[]rabbithole.VhostInfo](t)(h.ListVhosts())), 2)

	arguments := map[string]any{"x-max-length": 10, "x-dead-letter-exchange": "x"}
	h.did(http.StatusCreated)(h.DeclareExchange(vhost, "x", rabbithole.ExchangeSettings{Type: "topic", Durable: true}))
	h.did(http.StatusNoContent)(h.DeclareExchange(vhost, "x", rabbithole.ExchangeSettings{Type: "topic", Durable: true}))
	h.did(http.StatusCreated)(h.DeclareQueue(vhost, "q", rabbithole.QueueSettings{Durable: true, Arguments: arguments}))
	x := read[*rabbithole.DetailedExchangeInfo](t)(h.GetExchange(vhost, "x"))
	want(t, "exchange", fmt.Sprint(x.Name, x.Vhost, x.Type, x.Durable, x.AutoDelete, x.Internal), fmt.Sprint("x", vhost, "topic", true, false, false))
	q := read[*rabbithole.DetailedQueueInfo](t)(h.GetQueue(vhost, "q"))
	want(t, "queue", fmt.Sprint(q.Name, q.Vhost, q.Durable, q.Type, q.Messages, q.Consumers), fmt.Sprint("q", vhost, true, "classic", 0, 0))
	want(t, "arguments", q.Arguments, map[string]any{"x-max-length": 10, "x-dead-letter-exchange": "x", "x-queue-type": "classic"})

	binding := rabbithole.BindingInfo{Source: "x", Destination: "q", DestinationType: "queue", RoutingKey: "a.#", Arguments: map[string]any{"note": "n"}}
	h.did(http.StatusCreated)(h.DeclareBinding(vhost, binding))
	list := read[[]rabbithole.BindingInfo](t)(h.ListQueueBindingsBetween(vhost, "x", "q"))
	want(t, "bindings", len(list), 1)
	want(t, "binding", fmt.Sprint(list[0].RoutingKey, list[0].Arguments), fmt.Sprint("a.#", binding.Arguments))
	want(t, "all bindings of the queue", len(read[[]rabbithole.BindingInfo](t)(h.ListQueueBindings(vhost, "q"))), 2)
	h.did(http.StatusNoContent)(h.DeleteBinding(vhost, list[0]))
	want(t, "bindings left", len(read[[]rabbithole.BindingInfo](t)(h.ListExchangeBindingsWithSource(vhost, "x"))), 0)

	page := read[rabbithole.PagedQueueInfo](t)(h.PagedListQueuesWithParametersIn(vhost, url.Values{"page": {"1"}, "name": {"q"}}))
	want(t, "page", fmt.Sprint(page.Page, page.PageCount, page.FilteredCount, page.TotalCount, len(page.Items)), "1 1 1 1 1")
	h.did(http.StatusNoContent)(h.PurgeQueue(vhost, "q"))
	h.did(http.StatusNoContent)(h.DeleteQueue(vhost, "q", rabbithole.QueueDeleteOptions{IfEmpty: true, IfUnused: true}))
	h.did(http.StatusNoContent)(h.DeleteExchange(vhost, "x"))
	h.did(http.StatusNoContent)(h.DeleteVhost(vhost))
	_, err := h.GetVhost(vhost)
	var refused rabbithole.ErrorResponse
	if !errors.As(err, &refused) || refused.StatusCode != http.StatusNotFound {
		t.Errorf("deleted virtual host: %v", err)
	}
}

func TestRabbitHolePeople(t *testing.T) {
	h := openHole(t)
	want(t, "whoami", read[*rabbithole.WhoamiInfo](t)(h.Whoami()).Name, "guest")
	h.did(http.StatusCreated)(h.PutUser("u", rabbithole.UserSettings{Password: "secret", Tags: rabbithole.UserTags{"monitoring", "other"}}))
	u := read[*rabbithole.UserInfo](t)(h.GetUser("u"))
	want(t, "user", fmt.Sprint(u.Name, u.Tags, u.HashingAlgorithm), fmt.Sprint("u", []string{"monitoring", "other"}, "rabbit_password_hashing_sha256"))
	h.did(http.StatusCreated)(h.PutUserWithoutPassword("v", rabbithole.UserSettings{Tags: rabbithole.UserTags{}}))
	want(t, "users", len(read[[]rabbithole.UserInfo](t)(h.ListUsers())), 3)

	h.did(http.StatusCreated)(h.UpdatePermissionsIn("/", "u", rabbithole.Permissions{Configure: "^a", Write: ".*", Read: ""}))
	p := read[rabbithole.PermissionInfo](t)(h.GetPermissionsIn("/", "u"))
	want(t, "permissions", fmt.Sprint(p.Configure, p.Write, p.Read), fmt.Sprint("^a", ".*", ""))
	want(t, "permissions of u", len(read[[]rabbithole.PermissionInfo](t)(h.ListPermissionsOf("u"))), 1)
	h.did(http.StatusCreated)(h.UpdateTopicPermissionsIn("/", "u", rabbithole.TopicPermissions{Exchange: "amq.topic", Write: "^w", Read: "^r"}))
	want(t, "topic permissions", len(read[[]rabbithole.TopicPermissionInfo](t)(h.GetTopicPermissionsIn("/", "u"))), 1)
	h.did(http.StatusNoContent)(h.DeleteTopicPermissionsIn("/", "u", "amq.topic"))
	h.did(http.StatusNoContent)(h.ClearPermissionsIn("/", "u"))

	h.did(http.StatusNoContent)(h.PutUserLimits("u", rabbithole.UserLimitsValues{"max-connections": 3, "max-channels": 4}))
	limits := read[[]rabbithole.UserLimitsInfo](t)(h.GetUserLimits("u"))
	want(t, "user limits", limits[0].Value, map[string]int{"max-channels": 4, "max-connections": 3})
	h.did(http.StatusNoContent)(h.DeleteUserLimits("u", rabbithole.UserLimits{"max-connections"}))
	h.did(http.StatusNoContent)(h.PutVhostLimits("/", rabbithole.VhostLimitsValues{"max-queues": 30}))
	want(t, "vhost limits", read[[]rabbithole.VhostLimitsInfo](t)(h.GetVhostLimits("/"))[0].Value, map[string]int{"max-queues": 30})
	h.did(http.StatusNoContent)(h.DeleteVhostLimits("/", rabbithole.VhostLimits{"max-queues"}))
	h.did(http.StatusNoContent)(h.DeleteUser("u"))
}

func TestRabbitHolePolicies(t *testing.T) {
	h := openHole(t)
	h.did(http.StatusCreated)(h.DeclareQueue("/", "q", rabbithole.QueueSettings{Durable: true}))
	policy := rabbithole.Policy{Pattern: "^q", ApplyTo: "queues", Priority: 2, Definition: rabbithole.PolicyDefinition{"max-length": 10}}
	h.did(http.StatusCreated)(h.PutPolicy("/", "p", policy))
	got := read[*rabbithole.Policy](t)(h.GetPolicy("/", "p"))
	want(t, "policy", fmt.Sprint(got.Name, got.Pattern, got.ApplyTo, got.Priority, got.Definition), fmt.Sprint("p", "^q", "queues", 2, policy.Definition))
	want(t, "policy of the queue", read[*rabbithole.DetailedQueueInfo](t)(h.GetQueue("/", "q")).Policy, "p")
	h.did(http.StatusCreated)(h.PutOperatorPolicy("/", "o", rabbithole.OperatorPolicy{Pattern: "^q", ApplyTo: "queues", Definition: rabbithole.PolicyDefinition{"max-length": 5}}))
	want(t, "operator policies", len(read[[]rabbithole.OperatorPolicy](t)(h.ListOperatorPoliciesIn("/"))), 1)
	want(t, "policies", len(read[[]rabbithole.Policy](t)(h.ListPolicies())), 1)
	h.did(http.StatusNoContent)(h.DeleteOperatorPolicy("/", "o"))
	h.did(http.StatusNoContent)(h.DeletePolicy("/", "p"))

	h.did(http.StatusCreated)(h.PutGlobalParameter("g", map[string]any{"k": []any{"v", 1}}))
	want(t, "global parameter", read[*rabbithole.GlobalRuntimeParameter](t)(h.GetGlobalParameter("g")).Value, map[string]any{"k": []any{"v", 1}})
	h.did(http.StatusNoContent)(h.DeleteGlobalParameter("g"))
	h.did(http.StatusCreated)(h.DeclareShovel("/", "s", rabbithole.ShovelDefinition{
		SourceURI: []string{"amqp://"}, SourceQueue: "q", DestinationURI: []string{"amqp://"}, DestinationQueue: "q2",
	}))
	want(t, "shovels", len(read[[]rabbithole.ShovelInfo](t)(h.ListShovels())), 1)
	h.did(http.StatusNoContent)(h.DeleteShovel("/", "s"))
	h.did(http.StatusCreated)(h.PutFederationUpstream("/", "up", rabbithole.FederationDefinition{Uri: []string{"amqp://far"}}))
	want(t, "upstreams", len(read[[]rabbithole.FederationUpstream](t)(h.ListFederationUpstreams())), 1)
	h.did(http.StatusNoContent)(h.DeleteFederationUpstream("/", "up"))
	want(t, "parameters", len(read[[]rabbithole.RuntimeParameter](t)(h.ListRuntimeParameters())), 0)
}

func TestRabbitHoleBroker(t *testing.T) {
	h := openHole(t)
	overview := read[*rabbithole.Overview](t)(h.Overview())
	if overview.RabbitMQVersion == "" || overview.Node == "" || len(overview.ExchangeTypes) < 4 || len(overview.Listeners) < 2 {
		t.Errorf("overview %+v", overview)
	}
	node := read[*rabbithole.NodeInfo](t)(h.GetNode(overview.Node))
	if !node.IsRunning || node.MemUsed == 0 || node.DiskFree == 0 || node.FdTotal == 0 {
		t.Errorf("node %+v", node)
	}
	want(t, "nodes", len(read[[]rabbithole.NodeInfo](t)(h.ListNodes())), 1)
	h.did(http.StatusNoContent)(h.SetClusterName(rabbithole.ClusterName{Name: "hares"}))
	want(t, "cluster name", read[*rabbithole.ClusterName](t)(h.GetClusterName()).Name, "hares")
	if protocols := read[[]string](t)(h.EnabledProtocols()); !slices.Contains(protocols, "amqp") {
		t.Errorf("protocols %v", protocols)
	}
	alarms := read[rabbithole.ResourceAlarmCheckStatus](t)(h.HealthCheckAlarms())
	want(t, "alarms", alarms.Status, "ok")
	want(t, "port", read[rabbithole.PortListenerCheckStatus](t)(h.HealthCheckPortListener(uint(portOf(t, h.b.addr)))).Status, "ok")
	if flags := read[[]rabbithole.FeatureFlag](t)(h.ListFeatureFlags()); len(flags) == 0 {
		t.Error("no feature flags")
	}
	h.did(http.StatusNoContent)(h.UploadDefinitions(&rabbithole.ExportedDefinitions{
		Queues: &[]rabbithole.QueueInfo{{Name: "imported", Vhost: "/", Durable: true}},
	}))
	definitions := read[*rabbithole.ExportedDefinitions](t)(h.ListDefinitions())
	if definitions.Queues == nil || len(*definitions.Queues) != 1 || (*definitions.Queues)[0].Name != "imported" {
		t.Errorf("definitions %+v", definitions)
	}
}
