package management_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"leveret/management"
	"leveret/shovel"
)

// withShovels serves by an API of a broker that runs shovels.
func (r *rig) withShovels() {
	shovels := shovel.New(r.server, "rabbit@test", r.parts.Log)
	shovels.Start()
	r.t.Cleanup(shovels.Close)
	r.http.Close()
	r.api.Close()
	r.parts.Shovels = shovels
	r.api = management.New(r.options, r.parts)
	r.http = httptest.NewServer(r.api)
}

// shovelIn waits for the only shovel to be in a state.
func (r *rig) shovelIn(state string) map[string]any {
	r.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		list := r.get("/api/shovels/%2F").list(r)
		if len(list) == 1 && list[0]["state"] == state {
			return list[0]
		}
		if time.Now().After(end) {
			r.t.Fatalf("no shovel is %s: %v", state, list)
		}
	}
}

func TestShovels(t *testing.T) {
	r := start(t)
	r.withShovels()
	const path = "/api/parameters/shovel/%2F/s"
	r.must(http.StatusCreated, http.MethodPut, path, `{"value":{"src-uri":"amqp://","src-queue":"a","dest-uri":"amqp:///%2F","dest-exchange":"amq.topic"}}`)
	for name, want := range map[string]any{
		"name": "s", "vhost": "/", "node": "rabbit@test", "type": "dynamic", "src_uri": "amqp://", "dest_uri": "amqp:///%2F", "src_protocol": "amqp091",
		"src_queue": "a", "dest_exchange": "amq.topic", "blocked_status": "running", "remaining": "unlimited", "forwarded": 0.0, "pending": 0.0, "dest_queue": nil,
	} {
		if got := r.shovelIn("running")[name]; got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	r.must(http.StatusNoContent, http.MethodDelete, "/api/shovels/vhost/%2F/s/restart", "")
	r.shovelIn("running")
	r.must(http.StatusNotFound, http.MethodDelete, "/api/shovels/vhost/%2F/other/restart", "")
	r.must(http.StatusNotFound, http.MethodDelete, "/api/shovels/vhost/nowhere/s/restart", "")

	r.must(http.StatusNoContent, http.MethodPut, path, `{"value":{"src-uri":"amqp://u:secret@127.0.0.1:1","src-queue":"a","dest-uri":"amqp://"}}`)
	if reason, _ := r.shovelIn("terminated")["reason"].(string); !strings.Contains(reason, "connect to the source") || strings.Contains(reason, "secret") {
		t.Errorf("reason %q", reason)
	}
	r.must(http.StatusNoContent, http.MethodDelete, "/api/shovels/vhost/%2F/s", "")
	if list := r.get("/api/shovels").list(r); len(list) > 0 {
		t.Errorf("left: %v", list)
	}
	if !strings.Contains(r.logged(), "action=parameter.cleared") {
		t.Error("nothing of it in the audit log")
	}
}

// TestShovelNeedsAccess: a shovel opens virtual hosts of this broker without a password, so its author needs access to them.
func TestShovelNeedsAccess(t *testing.T) {
	r := start(t)
	r.must(http.StatusCreated, http.MethodPut, "/api/vhosts/other", "")
	r.must(http.StatusNoContent, http.MethodDelete, "/api/permissions/other/guest", "")
	const path = "/api/parameters/shovel/%2F/s"
	a := r.must(http.StatusBadRequest, http.MethodPut, path, `{"value":{"src-uri":"amqp:///other","src-queue":"a","dest-uri":"amqp://"}}`)
	if want := `user \"guest\" may not connect to vhost \"other\"`; !strings.Contains(a.text, want) {
		t.Errorf("%s, want %s", a.text, want)
	}
	r.must(http.StatusCreated, http.MethodPut, path, `{"value":{"src-uri":"amqp://u:p@/other","src-queue":"a","dest-uri":"amqp://"}}`)
}
