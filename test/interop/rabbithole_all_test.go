package interop

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	rabbithole "github.com/michaelklishin/rabbit-hole/v2"
)

// readers are the arguments of the client's methods that read something and need to be told what. All methods that are called so and are not here
// take none.
func readers(connection string, port uint) map[string][]any {
	in, pages := "/", url.Values{"page": {"1"}}
	return map[string][]any{
		"ListBindingsIn": {in}, "ListQueueBindings": {in, "q"}, "ListExchangeBindingsWithSource": {in, "x"}, "ListExchangeBindingsWithDestination": {in, "y"},
		"ListExchangeBindings": {in, "x", rabbithole.BindingSource}, "ListExchangeBindingsBetween": {in, "x", "y"}, "ListQueueBindingsBetween": {in, "x", "q"},
		"GetChannel": {connection + " (1)"}, "GetConnection": {connection}, "ListConsumersIn": {in}, "ListVhostDefinitions": {in}, "ListExchangesIn": {in}, "GetExchange": {in, "x"},
		"ListFederationUpstreamsIn": {in}, "GetFederationUpstream": {in, "up"}, "ListFederationLinksIn": {in}, "GetGlobalParameter": {"g"},
		"HealthCheckCertificateExpiration": {uint(1), rabbithole.DAYS}, "HealthCheckPortListener": {port}, "HealthCheckProtocolListener": {rabbithole.AMQP}, "ListOperatorPoliciesIn": {in},
		"GetOperatorPolicy": {in, "o"}, "ListPermissionsOf": {"u"}, "GetPermissionsIn": {in, "u"}, "ListPoliciesIn": {in}, "GetPolicy": {in, "p"}, "ListQueuesIn": {in}, "GetQueue": {in, "q"},
		"ListQueuesWithParameters": {url.Values{"sort": {"name"}}}, "ListQueuesWithParametersIn": {in, url.Values{"sort": {"name"}}}, "PagedListQueuesWithParameters": {pages},
		"PagedListQueuesWithParametersIn": {in, pages}, "GetQueueWithParameters": {in, "q", url.Values{"msg_rates_age": {"60"}, "msg_rates_incr": {"5"}}},
		"ListRuntimeParametersFor": {"shovel"}, "ListRuntimeParametersIn": {"shovel", in}, "GetRuntimeParameter": {"shovel", in, "s"}, "ListShovelsIn": {in}, "GetShovel": {in, "s"},
		"ListShovelStatus": {in}, "ListTopicPermissionsOf": {"u"}, "GetTopicPermissionsIn": {in, "u"}, "GetTopicPermissions": {in, "u", "amq.topic"}, "GetUser": {"u"}, "GetUserLimits": {"u"},
		"GetVhost": {in}, "GetVhostLimits": {in}, "ListVhostConnections": {in}, "GetNode": {""},
	}
}

// empty are those that have nothing to list here: links of federation, and what RabbitMQ 4 does not have any more.
var empty = []string{"ListFederationLinks", "ListFederationLinksIn", "HealthCheckNodeIsMirrorSyncCritical"}

// one of everything that can be read.
func oneOfEach(h *hole) {
	q := func(name string) { h.did(201)(h.DeclareQueue("/", name, rabbithole.QueueSettings{Durable: true})) }
	q("q")
	q("q2")
	for _, name := range []string{"x", "y"} {
		h.did(201)(h.DeclareExchange("/", name, rabbithole.ExchangeSettings{Type: "topic", Durable: true}))
	}
	h.did(201)(h.DeclareBinding("/", rabbithole.BindingInfo{Source: "x", Destination: "q", DestinationType: "queue", RoutingKey: "a"}))
	h.did(201)(h.DeclareBinding("/", rabbithole.BindingInfo{Source: "x", Destination: "y", DestinationType: "exchange", RoutingKey: "a"}))
	h.did(201)(h.PutUser("u", rabbithole.UserSettings{Password: "secret", Tags: rabbithole.UserTags{"monitoring"}}))
	h.did(201)(h.UpdatePermissionsIn("/", "u", rabbithole.Permissions{Configure: "a", Write: "b", Read: "c"}))
	h.did(201)(h.UpdateTopicPermissionsIn("/", "u", rabbithole.TopicPermissions{Exchange: "amq.topic", Write: "w", Read: "r"}))
	h.did(204)(h.PutUserLimits("u", rabbithole.UserLimitsValues{"max-channels": 4}))
	h.did(204)(h.PutVhostLimits("/", rabbithole.VhostLimitsValues{"max-queues": 400}))
	h.did(201)(h.PutPolicy("/", "p", rabbithole.Policy{Pattern: "^q", ApplyTo: "queues", Definition: rabbithole.PolicyDefinition{"max-length": 10}}))
	h.did(201)(h.PutOperatorPolicy("/", "o", rabbithole.OperatorPolicy{Pattern: "^q", ApplyTo: "queues", Definition: rabbithole.PolicyDefinition{"max-length": 5}}))
	h.did(201)(h.PutGlobalParameter("g", map[string]any{"a": 1}))
	h.did(201)(h.PutFederationUpstream("/", "up", rabbithole.FederationDefinition{Uri: []string{"amqp://far"}}))
	h.did(201)(h.PutRuntimeParameter("shovel", "/", "s", map[string]any{"src-uri": "amqp://", "src-queue": "q", "dest-uri": "amqp://", "dest-queue": "q2"}))
}

// Whatever the client has a method for to read is read, and is not empty: the methods are found by their names, so a new one fails until it is told here.
func TestRabbitHoleReadsEverything(t *testing.T) {
	h := openHole(t)
	connection := busyWithClient(t, h.b, "busy")
	oneOfEach(h)
	h.b.eventually(t, "/shovels", func(v any) bool { return at(v, 0, "state") == "running" })
	arguments := readers(connection, uint(portOf(t, h.b.addr)))
	arguments["GetNode"] = []any{read[*rabbithole.Overview](t)(h.Overview()).Node}
	client := reflect.ValueOf(h.Client)
	called := 0
	for i := range client.NumMethod() {
		name := client.Type().Method(i).Name
		if !slices.ContainsFunc([]string{"List", "Get", "PagedList", "HealthCheck", "Overview", "Whoami", "ProtocolPorts", "EnabledProtocols"}, func(verb string) bool { return strings.HasPrefix(name, verb) }) {
			continue
		}
		if slices.Contains(empty, name) {
			continue
		}
		var in []reflect.Value
		for _, a := range arguments[name] {
			in = append(in, reflect.ValueOf(a))
		}
		if method := client.Method(i); method.Type().NumIn() != len(in) {
			t.Errorf("%s has arguments that this test does not know", name)
			continue
		}
		out := client.Method(i).Call(in)
		called++
		if err, _ := out[1].Interface().(error); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if v := reflect.Indirect(out[0]); v.Kind() == reflect.Slice && v.Len() == 0 || v.IsZero() {
			t.Errorf("%s: nothing", name)
		}
	}
	if called < 60 {
		t.Errorf("%d methods", called)
	}
}

// And what it can write besides, its other tests not having done so, is written.
func TestRabbitHoleWritesTheRest(t *testing.T) {
	h := openHole(t)
	connection := busyWithClient(t, h.b, "busy")
	oneOfEach(h)
	h.did(204)(h.EnableFeatureFlag("quorum_queue"))
	h.did(204)(h.ClearTopicPermissionsIn("/", "u"))
	h.did(204)(h.DeleteRuntimeParameter("shovel", "/", "s"))
	h.did(204)(h.DeleteVhostLimits("/", rabbithole.VhostLimits{"max-connections", "max-queues"})) // of which one was never set
	h.did(204)(h.CloseConnection(connection))
	if _, err := h.SyncQueue("/", "q"); err == nil {
		t.Error("a queue that is not mirrored was synchronised")
	}
	if err := h.DeleteAllRuntimeParameters(); err != nil {
		t.Error(err)
	}
	want(t, "parameters left", read[[]rabbithole.RuntimeParameter](t)(h.ListRuntimeParameters()), "[]")
}

// What Terraform's provider wrote it reads again in the same form, finds by the identifier that it keeps, and misses when it is gone.
func TestTerraformBindings(t *testing.T) {
	h := openHole(t)
	const vhost = "v/1"
	h.did(201)(h.PutVhost(vhost, rabbithole.VhostSettings{}))
	for _, name := range []string{"q", "a q%2F"} {
		h.did(201)(h.DeclareQueue(vhost, name, rabbithole.QueueSettings{Durable: true}))
	}
	for _, b := range []rabbithole.BindingInfo{
		{Source: "amq.topic", Destination: "q", DestinationType: "queue", RoutingKey: "order.#"},
		{Source: "amq.topic", Destination: "q", DestinationType: "queue", RoutingKey: "a/b c%d~"},
		{Source: "amq.topic", Destination: "q", DestinationType: "queue", RoutingKey: ""},
		{Source: "amq.headers", Destination: "a q%2F", DestinationType: "queue", RoutingKey: "k", Arguments: map[string]any{"x-match": "any", "n": 5.0}},
		{Source: "amq.topic", Destination: "amq.fanout", DestinationType: "exchange", RoutingKey: "ü"},
	} {
		declared, err := h.DeclareBinding(vhost, b)
		if err != nil {
			t.Fatal(err)
		}
		declared.Body.Close()
		location := strings.Split(declared.Header.Get("Location"), "/")
		key, err := url.PathUnescape(location[len(location)-1])
		if err != nil {
			t.Fatal(err)
		}
		list, err := h.ListQueueBindingsBetween(vhost, b.Source, b.Destination)
		if b.DestinationType == "exchange" {
			list, err = h.ListExchangeBindingsBetween(vhost, b.Source, b.Destination)
		}
		i := slices.IndexFunc(list, func(found rabbithole.BindingInfo) bool { return found.PropertiesKey == key })
		if err != nil || i < 0 {
			t.Errorf("%q: no properties key %q in %v, %v", b.RoutingKey, key, list, err)
			continue
		}
		want(t, "binding", fmt.Sprint(list[i].RoutingKey, list[i].Vhost, len(list[i].Arguments)), fmt.Sprint(b.RoutingKey, vhost, len(b.Arguments)))
		for name, v := range b.Arguments {
			want(t, name, list[i].Arguments[name], v)
		}
		b.PropertiesKey = key
		h.did(204)(h.DeleteBinding(vhost, b))
		res, err := h.DeleteBinding(vhost, b)
		if err != nil || res.StatusCode != http.StatusNotFound {
			t.Errorf("%q: deleted again: %v", b.RoutingKey, err)
		}
	}
}

// Of everything else that the provider knows: create, read, update, read, delete, and miss it.
func TestTerraformResources(t *testing.T) {
	h := openHole(t)
	missing := func(what string, err error) {
		t.Helper()
		if refused, ok := err.(rabbithole.ErrorResponse); !ok || refused.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %v, want 404", what, err)
		}
	}
	h.did(201)(h.PutVhost("v", rabbithole.VhostSettings{Description: "one"}))
	h.did(204)(h.PutVhost("v", rabbithole.VhostSettings{Description: "two", Tracing: true}))
	v := read[*rabbithole.VhostInfo](t)(h.GetVhost("v"))
	want(t, "vhost", fmt.Sprint(v.Description, " ", v.Tracing), "two true")
	want(t, "no limits", len(read[[]rabbithole.VhostLimitsInfo](t)(h.GetVhostLimits("v"))), 0)
	h.did(204)(h.PutVhostLimits("v", rabbithole.VhostLimitsValues{"max-queues": 10, "max-connections": -1}))
	want(t, "limits", read[[]rabbithole.VhostLimitsInfo](t)(h.GetVhostLimits("v"))[0].Value, map[string]int{"max-connections": -1, "max-queues": 10})

	arguments := map[string]any{"x-max-length": 10.0, "x-queue-type": "quorum", "x-dead-letter-exchange": "dead", "x-delivery-limit": 5.0}
	h.did(201)(h.DeclareQueue("v", "q", rabbithole.QueueSettings{Durable: true, Arguments: arguments}))
	want(t, "arguments are what they were", read[*rabbithole.DetailedQueueInfo](t)(h.GetQueue("v", "q")).Arguments, arguments)
	h.did(201)(h.DeclareExchange("v", "x", rabbithole.ExchangeSettings{Type: "fanout", Durable: true, Arguments: map[string]any{"alternate-exchange": "rest"}}))
	want(t, "exchange", read[*rabbithole.DetailedExchangeInfo](t)(h.GetExchange("v", "x")).Arguments, map[string]any{"alternate-exchange": "rest"})

	h.did(201)(h.PutUser("u", rabbithole.UserSettings{Password: "secret", Tags: rabbithole.UserTags{}}))
	h.did(204)(h.PutUser("u", rabbithole.UserSettings{Password: "other", Tags: rabbithole.UserTags{"management", "policymaker"}}))
	want(t, "tags", read[*rabbithole.UserInfo](t)(h.GetUser("u")).Tags, []string{"management", "policymaker"})
	h.did(201)(h.UpdatePermissionsIn("v", "u", rabbithole.Permissions{Configure: "", Write: ".*", Read: ".*"}))
	h.did(204)(h.UpdatePermissionsIn("v", "u", rabbithole.Permissions{Configure: "^a", Write: "", Read: ""}))
	want(t, "permissions", fmt.Sprintf("%q", read[rabbithole.PermissionInfo](t)(h.GetPermissionsIn("v", "u")).Configure), `"^a"`)
	for _, x := range []string{"amq.topic", "x"} {
		h.did(201)(h.UpdateTopicPermissionsIn("v", "u", rabbithole.TopicPermissions{Exchange: x, Write: "w", Read: "r"}))
	}
	want(t, "topic permissions", len(read[[]rabbithole.TopicPermissionInfo](t)(h.GetTopicPermissionsIn("v", "u"))), 2)
	h.did(204)(h.ClearTopicPermissionsIn("v", "u"))

	shovel := rabbithole.ShovelDefinition{AckMode: "on-confirm", SourceURI: []string{"amqp:///v"}, SourceQueue: "q", DestinationURI: []string{"amqp:///v"}, DestinationQueue: "q2",
		SourceProtocol: "amqp091", DestinationProtocol: "amqp091", ReconnectDelay: 1, SourceDeleteAfter: "never", SourcePrefetchCount: 10}
	h.did(201)(h.DeclareShovel("v", "s", shovel))
	shovel.ReconnectDelay = 2
	h.did(204)(h.DeclareShovel("v", "s", shovel))
	got := read[*rabbithole.ShovelInfo](t)(h.GetShovel("v", "s"))
	want(t, "shovel", fmt.Sprintf("%s %s %+v", got.Name, got.Vhost, got.Definition), fmt.Sprintf("s v %+v", shovel))
	upstream := rabbithole.FederationDefinition{Uri: []string{"amqp://far"}, PrefetchCount: 1000, ReconnectDelay: 5, AckMode: "on-confirm", MaxHops: 1, Exchange: "x"}
	h.did(201)(h.PutFederationUpstream("v", "up", upstream))
	want(t, "upstream", fmt.Sprintf("%+v", read[*rabbithole.FederationUpstream](t)(h.GetFederationUpstream("v", "up")).Definition), fmt.Sprintf("%+v", upstream))

	h.did(204)(h.DeleteFederationUpstream("v", "up"))
	_, err := h.GetFederationUpstream("v", "up")
	missing("upstream", err)
	h.did(204)(h.DeleteShovel("v", "s"))
	_, err = h.GetShovel("v", "s")
	missing("shovel", err)
	h.did(204)(h.ClearPermissionsIn("v", "u"))
	_, err = h.GetPermissionsIn("v", "u")
	missing("permissions", err)
	_, err = h.GetTopicPermissionsIn("v", "u")
	missing("topic permissions", err)
	h.did(204)(h.DeleteUser("u"))
	_, err = h.GetUser("u")
	missing("user", err)
	h.did(204)(h.DeleteQueue("v", "q"))
	_, err = h.GetQueue("v", "q")
	missing("queue", err)
	h.did(204)(h.DeleteExchange("v", "x"))
	_, err = h.GetExchange("v", "x")
	missing("exchange", err)
	h.did(204)(h.DeleteVhost("v"))
	_, err = h.GetVhost("v")
	missing("vhost", err)
}
