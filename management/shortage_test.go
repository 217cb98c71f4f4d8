package management_test

import (
	"net/http"
	"testing"

	"leveret/server"
)

// What adds to a resource that the broker is low on is refused until there is more of it; what frees it, and looking, goes on.
func TestAlarms(t *testing.T) {
	r := start(t)
	r.must(http.StatusCreated, http.MethodPut, "/api/queues/%2F/q", `{"durable":true}`)
	const message = `{"routing_key":"q","properties":{},"payload":"m","payload_encoding":"string"}`
	calls := []struct {
		method, path, body string
		memory, disk       bool // refused while that is short
	}{
		{http.MethodPost, "/api/exchanges/%2F/amq.default/publish", message, true, true},
		{http.MethodPut, "/api/queues/%2F/p", `{}`, false, true},
		{http.MethodPut, "/api/exchanges/%2F/x", `{"type":"fanout"}`, false, true},
		{http.MethodPost, "/api/bindings/%2F/e/amq.fanout/q/q", `{}`, false, true},
		{http.MethodPost, "/api/definitions", `{}`, false, true},
		{http.MethodPost, "/api/definitions/%2F", `{}`, false, true},
		{http.MethodPost, "/api/queues/%2F/q/get", `{"count":1,"ackmode":"ack_requeue_false","encoding":"auto"}`, false, false},
		{http.MethodDelete, "/api/queues/%2F/q/contents", "", false, false},
		{http.MethodPut, "/api/policies/%2F/p", `{"pattern":"^q$","definition":{"max-length":1}}`, false, false},
		{http.MethodGet, "/api/queues", "", false, false},
	}
	try := func(when, reason string, refused func(i int) bool) {
		t.Helper()
		for i, call := range calls {
			a := r.send(call.method, call.path, call.body)
			if want := `{"error":"resource_alarm","reason":"` + reason + `"}`; (a.status == http.StatusServiceUnavailable) != refused(i) || refused(i) && a.text != want {
				t.Errorf("%s, %s %s: %d %s", when, call.method, call.path, a.status, a.text)
			}
			if a.status >= 400 && a.status != http.StatusServiceUnavailable {
				t.Errorf("%s, %s %s: %d %s", when, call.method, call.path, a.status, a.text)
			}
		}
	}
	r.server.ForceAlarm(server.Memory, true)
	try("low on memory", "low on memory", func(i int) bool { return calls[i].memory })
	r.server.ForceAlarm(server.Memory, false)
	r.server.ForceAlarm(server.Disk, true)
	try("low on disk", "low on disk", func(i int) bool { return calls[i].disk })
	r.server.ForceAlarm(server.Disk, false)
	try("afterwards", "", func(int) bool { return false })
}
