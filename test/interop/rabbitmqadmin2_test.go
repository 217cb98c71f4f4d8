package interop

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// The second rabbitmqadmin has a type for each answer, and refuses one that lacks a field or has it in another form: text:name, number:port and so on.
var typedAnswers = []struct{ path, fields string }{
	{"/whoami", "text:name list:tags"},
	{"/cluster-name", "text:name"},
	{"/overview", "text:cluster_name text:node text:rabbitmq_version text:product_name text:product_version text:erlang_version object:queue_totals object:object_totals list:listeners " +
		"list:exchange_types object:churn_rates object:message_stats number:statistics_db_event_queue"},
	{"/nodes", "text:name number:uptime number:run_queue number:processors text:os_pid number:fd_total number:proc_total number:mem_limit truth:mem_alarm number:disk_free_limit " +
		"truth:disk_free_alarm text:rates_mode list:enabled_plugins truth:being_drained"},
	{"/nodes/{node}/memory", "object:memory"},
	{"/nodes/{node}/memory#memory", "number:connection_readers number:connection_writers number:connection_channels number:connection_other number:queue_procs number:quorum_queue_procs " +
		"number:stream_queue_procs number:stream_queue_replica_reader_procs number:stream_queue_coordinator_procs number:plugins number:metadata_store number:other_proc number:metrics " +
		"number:mgmt_db number:mnesia number:quorum_ets number:metadata_store_ets number:other_ets number:binary number:msg_index number:code number:atom number:other_system " +
		"number:allocated_unused number:reserved_unallocated text:strategy object:total"},
	{"/auth/attempts/{node}", "text:protocol number:auth_attempts number:auth_attempts_failed number:auth_attempts_succeeded"},
	{"/connections", "text:name text:node text:protocol text:user number:connected_at object:client_properties"},
	{"/connections/username/guest", "text:name text:node text:user text:vhost"},
	{"/channels", "number:number text:name object:connection_details text:vhost text:state number:consumer_count truth:confirm number:prefetch_count number:messages_unacknowledged " +
		"number:messages_unconfirmed"},
	{"/consumers", "text:consumer_tag truth:active truth:ack_required number:prefetch_count truth:exclusive object:arguments number:consumer_timeout object:queue object:channel_details"},
	{"/consumers#channel_details", "number:number text:name text:connection_name text:node text:peer_host number:peer_port text:user"},
	{"/queues", "text:name text:vhost text:type truth:durable truth:auto_delete truth:exclusive object:arguments text:node text:state number:memory number:consumers number:messages"},
	{"/queues/detailed", "text:name text:vhost text:type truth:durable truth:auto_delete truth:exclusive object:arguments number:message_bytes"},
	{"/exchanges", "text:name text:vhost text:type truth:durable truth:auto_delete object:arguments"},
	{"/bindings", "text:vhost text:source text:destination text:destination_type text:routing_key object:arguments text:properties_key"},
	{"/vhosts", "text:name list:tags text:description text:default_queue_type object:metadata"},
	{"/vhost-limits", "text:vhost object:value"},
	{"/users", "text:name list:tags text:password_hash"},
	{"/user-limits", "text:user object:value"},
	{"/permissions", "text:user text:vhost text:configure text:read text:write"},
	{"/topic-permissions", "text:user text:vhost text:exchange text:read text:write"},
	{"/policies", "text:name text:vhost text:pattern text:apply-to number:priority object:definition"},
	{"/operator-policies", "text:name text:vhost text:pattern text:apply-to number:priority object:definition"},
	{"/parameters/shovel", "text:name text:vhost text:component object:value"},
	{"/global-parameters", "text:name"},
	{"/shovels", "text:node text:name text:vhost text:type text:state text:src_uri text:dest_uri text:src_protocol text:dest_protocol"},
	{"/feature-flags", "text:name text:state text:desc text:doc_url text:stability text:provided_by"},
	{"/deprecated-features", "text:name text:desc text:deprecation_phase text:doc_url text:provided_by"},
	{"/definitions", "text:rabbitmq_version list:users list:vhosts list:permissions list:parameters list:policies list:queues list:exchanges list:bindings"},
	{"/definitions/%2F", "object:metadata list:parameters list:policies list:queues list:exchanges list:bindings"},
}

// form is what a decoded value is called in typedAnswers.
func form(v any) string {
	switch v.(type) {
	case string:
		return "text"
	case float64:
		return "number"
	case bool:
		return "truth"
	case []any:
		return "list"
	case map[string]any:
		return "object"
	}
	return "nothing"
}

// typed fails the test unless an object has the fields, in their forms.
func typed(t *testing.T, path string, v any, fields string) {
	t.Helper()
	for f := range strings.FieldsSeq(fields) {
		kind, name, _ := strings.Cut(f, ":")
		if got := form(at(v, name)); got != kind {
			t.Errorf("%s: %s is %s, not %s: %v", path, name, got, kind, at(v, name))
		}
	}
}

// Every listing command of the second rabbitmqadmin can read what it gets from a broker that has one of everything.
func TestRabbitmqadminTypes(t *testing.T) {
	b := withHTTP(t)
	busyWithClient(t, b, "busy")
	b.plays(t, nil, []request{
		{"PUT", "/vhosts/v", `{"name": "v", "description": "d", "tags": ["a"], "default_queue_type": "quorum", "tracing": false}`, 201},
		{"PUT", "/users/nobody", `{"name": "nobody", "password_hash": "", "tags": ""}`, 201},
		{"PUT", "/users/app", `{"name": "app", "password": "secret", "tags": "monitoring,management"}`, 201},
		{"PUT", "/permissions/%2F/app", `{"user": "app", "vhost": "/", "configure": "", "read": ".*", "write": ""}`, 201},
		{"PUT", "/topic-permissions/%2F/app", `{"exchange": "amq.topic", "write": ".*", "read": ".*"}`, 201},
		{"PUT", "/user-limits/app/max-channels", `{"value": 5}`, 204},
		{"PUT", "/vhost-limits/v/max-queues", `{"value": 5}`, 204},
		{"PUT", "/queues/%2F/quorum", `{"name": "quorum", "durable": true, "auto_delete": false, "exclusive": false, "arguments": {"x-queue-type": "quorum"}}`, 201},
		{"PUT", "/exchanges/%2F/x", `{"name": "x", "type": "fanout", "durable": true, "auto_delete": false, "arguments": {}}`, 201},
		{"POST", "/bindings/%2F/e/x/q/quorum", `{"routing_key": "", "arguments": {}}`, 201},
		{"PUT", "/policies/%2F/p", `{"vhost": "/", "name": "p", "pattern": "^q", "apply-to": "queues", "priority": 1, "definition": {"max-length": 5}}`, 201},
		{"PUT", "/operator-policies/%2F/o", `{"vhost": "/", "name": "o", "pattern": "^q", "apply-to": "queues", "priority": 1, "definition": {"max-length": 5}}`, 201},
		{"PUT", "/global-parameters/g", `{"name": "g", "value": {"a": 1}}`, 201},
		{"PUT", "/parameters/shovel/%2F/s", `{"name": "s", "vhost": "/", "component": "shovel", "value": {"src-uri": "amqp://", "src-protocol": "amqp091", "src-queue": "busy", "src-predeclared": true, "dest-uri": "amqp://", "dest-protocol": "amqp091", "dest-queue": "quorum", "dest-predeclared": true, "ack-mode": "on-confirm", "reconnect-delay": 5}}`, 201},
		{"POST", "/exchanges/%2F/amq.default/publish", `{"routing_key": "quorum", "payload": "x", "payload_encoding": "string", "properties": {}}`, 200},
		{"POST", "/queues/%2F/quorum/get", `{"count": 1, "ackmode": "ack_requeue_true", "encoding": "auto"}`, 200},
		{"PUT", "/feature-flags/all/enable", `{"name": "all"}`, 204},
		{"POST", "/rebalance/queues", `{}`, 204},
	})
	b.eventually(t, "/shovels", func(v any) bool { return at(v, 0, "state") == "running" })
	_, nodes := b.fetch(t, http.MethodGet, "/nodes", "")
	node := url.PathEscape(at(nodes, 0, "name").(string))
	for _, a := range typedAnswers {
		path, inner, nested := strings.Cut(strings.ReplaceAll(a.path, "{node}", node), "#")
		_, got := b.fetch(t, http.MethodGet, path, "")
		list, isList := got.([]any)
		if !isList {
			list = []any{got}
		}
		if len(list) == 0 {
			t.Errorf("%s: an empty list", path)
		}
		for _, v := range list {
			if nested {
				v = at(v, inner)
			}
			typed(t, a.path, v, a.fields)
		}
	}
}

// Its health checks tell a healthy broker from one with an alarm by the status, and find the details of a failure.
func TestRabbitmqadminHealth(t *testing.T) {
	b := withHTTP(t)
	b.plays(t, nil, []request{
		{"GET", "/health/checks/alarms", "", 200}, {"GET", "/health/checks/local-alarms", "", 200}, {"GET", "/health/checks/node-is-quorum-critical", "", 200},
		{"GET", "/health/checks/port-listener/1", "", 503}, {"GET", "/health/checks/protocol-listener/amqp", "", 200}, {"GET", "/health/checks/protocol-listener/mqtt", "", 503},
		{"PUT", "/leveret/alarms/memory", "", 204},
		{"GET", "/health/checks/alarms", "", 503}, {"GET", "/health/checks/local-alarms", "", 503},
	})
	_, alarmed := b.fetch(t, http.MethodGet, "/health/checks/local-alarms", "")
	typed(t, "alarms", alarmed, "text:status text:reason list:alarms")
	typed(t, "alarms", at(alarmed, "alarms", 0), "text:node text:resource")
	_, port := b.fetch(t, http.MethodGet, "/health/checks/port-listener/1", "")
	typed(t, "port", port, "text:status text:reason number:missing")
	_, protocol := b.fetch(t, http.MethodGet, "/health/checks/protocol-listener/mqtt", "")
	typed(t, "protocol", protocol, "text:status text:reason list:protocols list:missing")
	b.plays(t, nil, []request{{"DELETE", "/leveret/alarms/memory", "", 204}, {"GET", "/health/checks/alarms", "", 200}})
}

// An autoscaler's query sees the backlog and both rates of a queue that is worked on, by the queue's path and by a pattern over pages.
func TestScalerQueries(t *testing.T) {
	b := withHTTP(t)
	busyWithClient(t, b, "orders.eu")
	s := dialBroker(t, b)
	done := make(chan struct{})
	var work sync.WaitGroup
	defer work.Wait()
	defer close(done)
	work.Go(func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if s.ch.Publish("", "orders.eu", false, false, amqp091.Publishing{Body: []byte("x")}) != nil {
					return // and the rates will be missed
				}
			}
		}
	})
	b.eventually(t, "/queues/%2F/orders.eu", func(v any) bool {
		in, _ := at(v, "message_stats", "publish_details", "rate").(float64)
		out, _ := at(v, "message_stats", "deliver_get_details", "rate").(float64)
		return in > 0 && out > 0
	})
	_, page := b.fetch(t, http.MethodGet, "/queues/%2F?page=1&use_regex=true&pagination=false&name=%5Eorders&page_size=100", "")
	typed(t, "page", page, "list:items number:total_count number:filtered_count")
	typed(t, "queue of the page", at(page, "items", 0), "text:name number:messages number:messages_ready number:messages_unacknowledged object:message_stats")
	_, queue := b.fetch(t, http.MethodGet, "/queues/%2F/orders.eu", "")
	if n := at(queue, "messages").(float64); n < 1 || at(queue, "message_stats", "publish").(float64) < n {
		t.Errorf("%v messages of %v", n, at(queue, "message_stats", "publish"))
	}
}
