package interop

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// request is one that a tool makes, with the status that it takes for success.
type request struct {
	method, path, body string
	status             int
}

// plays makes the requests of a tool in order. A word {name} in a path or body stands for a value.
func (b *broker) plays(t *testing.T, values map[string]string, requests []request) {
	t.Helper()
	var pairs []string
	for name, value := range values {
		pairs = append(pairs, "{"+name+"}", value)
	}
	fill := strings.NewReplacer(pairs...)
	for _, r := range requests {
		path, body := fill.Replace(r.path), fill.Replace(r.body)
		if status, got := b.fetch(t, r.method, path, body); status != r.status {
			t.Errorf("%s %s %s: %d %v, want %d", r.method, path, body, status, got, r.status)
		}
	}
}

// busyWithClient has a client with a named connection and a consumer, and returns the connection's name.
func busyWithClient(t *testing.T, b *broker, queue string) (connection string) {
	t.Helper()
	conn, err := amqp091.DialConfig(b.url(), amqp091.Config{Properties: amqp091.Table{"connection_name": "busy"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	s := (&session{t: t, conn: conn}).channel()
	if _, err := s.ch.QueueDeclare(queue, true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ch.Consume(queue, "worker", false, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	_, list := b.fetch(t, http.MethodGet, "/connections", "")
	return at(list, 0, "name").(string)
}

// The script that RabbitMQ 3 ships says everything as texts, sends what stands in the path in the body too, and looks at each column of what it lists.
func TestRabbitmqadminScript(t *testing.T) {
	b := withHTTP(t)
	connection := busyWithClient(t, b, "busy")
	b.plays(t, nil, []request{
		{"PUT", "/vhosts/v%2F1", `{"name": "v/1", "vhost": "/", "tracing": "true"}`, 201},
		{"PUT", "/users/app", `{"hashing_algorithm": "rabbit_password_hashing_sha512", "name": "app", "password": "secret", "tags": "monitoring", "vhost": "/"}`, 201},
		{"PUT", "/permissions/v%2F1/app", `{"vhost": "v/1", "user": "app", "configure": ".*", "write": ".*", "read": ".*"}`, 201},
		{"PUT", "/permissions/v%2F1/guest", `{"vhost": "v/1", "user": "guest", "configure": ".*", "write": ".*", "read": ".*"}`, 204},
		{"PUT", "/exchanges/v%2F1/x", `{"auto_delete": "false", "durable": "true", "internal": "false", "arguments": {}, "name": "x", "type": "topic", "vhost": "v/1"}`, 201},
		{"PUT", "/queues/v%2F1/q", `{"auto_delete": "false", "durable": "true", "arguments": {"x-queue-type": "quorum"}, "name": "q", "queue_type": "quorum", "vhost": "v/1"}`, 201},
		{"PUT", "/queues/v%2F1/plain", `{"auto_delete": "false", "durable": "true", "arguments": {}, "node": "", "name": "plain", "vhost": "v/1"}`, 400},
		{"PUT", "/queues/v%2F1/plain", `{"auto_delete": "false", "durable": "true", "arguments": {}, "name": "plain", "vhost": "v/1"}`, 201},
		{"POST", "/bindings/v%2F1/e/x/q/q", `{"destination_type": "queue", "routing_key": "a.#", "arguments": {}, "source": "x", "destination": "q", "vhost": "v/1"}`, 201},
		{"POST", "/bindings/v%2F1/e/x/e/amq.fanout", `{"destination_type": "exchange", "routing_key": "", "arguments": {"x": 1}, "source": "x", "destination": "amq.fanout", "vhost": "v/1"}`, 201},
		{"POST", "/bindings/v%2F1/e/x/q/plain", `{"destination_type": "queue", "routing_key": "", "arguments": {}, "source": "x", "destination": "plain", "vhost": "v/1"}`, 201},
		{"PUT", "/policies/v%2F1/p", `{"priority": 0, "name": "p", "pattern": "^q", "definition": {"max-length": 10}, "vhost": "v/1"}`, 201},
		{"PUT", "/policies/v%2F1/p", `{"priority": 3, "name": "p", "pattern": "^q", "definition": {"max-length": 10}, "apply-to": "queues", "vhost": "v/1"}`, 204},
		{"PUT", "/operator-policies/v%2F1/o", `{"priority": 0, "name": "o", "pattern": "^q", "definition": {"max-length": 20}, "vhost": "v/1"}`, 201},
		{"PUT", "/vhost-limits/v%2F1/max-queues", `{"vhost": "v/1", "name": "max-queues", "value": 50}`, 204},
		{"PUT", "/parameters/federation-upstream/v%2F1/up", `{"component": "federation-upstream", "name": "up", "value": {"uri": "amqp://far"}, "vhost": "v/1"}`, 201},
		{"POST", "/exchanges/v%2F1/x/publish", `{"properties": {}, "exchange": "x", "payload_encoding": "string", "routing_key": "a.b", "payload": "hello", "vhost": "v/1"}`, 200},
		{"POST", "/exchanges/v%2F1/x/publish", `{"properties": {"headers": {"a": 1}}, "exchange": "x", "payload_encoding": "base64", "routing_key": "a.b", "payload": "aGVsbG8=", "vhost": "v/1"}`, 200},
		{"POST", "/queues/v%2F1/q/get", `{"count": "2", "ackmode": "ack_requeue_true", "encoding": "auto", "queue": "q", "vhost": "v/1"}`, 200},
		{"DELETE", "/queues/v%2F1/q/contents", "", 204},
		{"GET", "/definitions", "", 200},
		{"GET", "/definitions/v%2F1", "", 200},
		{"GET", "/overview?columns=rabbitmq_version,cluster_name,queue_totals.messages,object_totals.queues", "", 200},
	})
	for path, least := range map[string]int{
		"/connections?columns=name,user,channels": 1, "/channels?columns=name,user": 1, "/consumers": 1, "/exchanges?columns=name,type": 16,
		"/queues?columns=name,messages&sort=messages&sort_reverse=true": 3, "/queues/v%2F1?columns=name,messages": 2, "/bindings?columns=source,destination,routing_key": 6, "/users": 2,
		"/vhosts?columns=name,messages": 2, "/permissions": 3, "/nodes?columns=name,type,mem_used": 1, "/parameters": 1, "/policies": 1, "/operator-policies": 1, "/vhost-limits": 1, "/queues": 3,
	} {
		_, got := b.fetch(t, http.MethodGet, path, "")
		list, ok := got.([]any)
		if !ok || len(list) < least {
			t.Errorf("%s: %v", path, got)
		}
		tabular(t, path, list)
	}
	b.plays(t, map[string]string{"connection": url.PathEscape(connection)}, []request{
		{"DELETE", "/bindings/v%2F1/e/x/q/plain/~", "", 204},
		{"DELETE", "/bindings/v%2F1/e/x/q/q/a.%2523", "", 204},
		{"DELETE", "/policies/v%2F1/p", "", 204},
		{"DELETE", "/operator-policies/v%2F1/o", "", 204},
		{"DELETE", "/vhost-limits/v%2F1/max-queues", "", 204},
		{"DELETE", "/parameters/federation-upstream/v%2F1/up", "", 204},
		{"DELETE", "/queues/v%2F1/q", "", 204},
		{"DELETE", "/exchanges/v%2F1/x", "", 204},
		{"DELETE", "/permissions/v%2F1/app", "", 204},
		{"DELETE", "/users/app", "", 204},
		{"DELETE", "/vhosts/v%2F1", "", 204},
		{"DELETE", "/vhosts/v%2F1", "", 404},
		{"DELETE", "/connections/{connection}", "", 204},
	})
}

// tabular fails the test for values that the script's tables can't show: it takes the length of each, and null has none.
func tabular(t *testing.T, path string, list []any) {
	t.Helper()
	for _, item := range list {
		for name, v := range item.(map[string]any) {
			if v == nil {
				t.Errorf("%s: %s is null", path, name)
			}
		}
	}
}

// The definitions that the script exported are those that it imports, as JSON of which it does not look at the type.
func TestRabbitmqadminDefinitions(t *testing.T) {
	b := withHTTP(t)
	b.plays(t, nil, []request{{"PUT", "/queues/%2F/kept", `{"durable": "true", "arguments": {}}`, 201}})
	_, exported := b.fetch(t, http.MethodGet, "/definitions/%2F", "")
	name := at(exported, "queues", 0, "name")
	want(t, "exported", name, "kept")
	b.plays(t, nil, []request{
		{"DELETE", "/queues/%2F/kept", "", 204},
		{"POST", "/definitions/%2F", fmt.Sprintf(`{"queues": [{"name": %q, "durable": true, "auto_delete": false, "arguments": {}}], "exchanges": [], "bindings": []}`, name), 204},
		{"GET", "/queues/%2F/kept", "", 200},
	})
}
