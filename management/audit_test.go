package management_test

import (
	"net/http"
	"strings"
	"testing"

	"leveret/events"
)

// listener keeps the names of the acts that it hears of, with who did them.
type listener chan string

func (l listener) Wants(key string) bool { return strings.HasPrefix(key, "audit.") }

func (l listener) Take(e events.Event) {
	user, _ := e.Properties.Get("user")
	name, _ := e.Properties.Get("name")
	l <- e.Key + " by " + user.(string) + " of " + name.(string)
}

// TestAudit: what can't be undone is told in the log and as an event; what can is not.
func TestAudit(t *testing.T) {
	bus, heard := events.New(), make(listener, 10)
	bus.Listen(heard)
	defer bus.Close()
	r := start(t)
	r.withEvents(bus)
	r.must(http.StatusCreated, "PUT", "/api/queues/%2F/q", "{}")
	r.must(http.StatusNoContent, "DELETE", "/api/queues/%2F/q/contents", "")
	r.must(http.StatusNoContent, "DELETE", "/api/queues/%2F/q", "")
	r.must(http.StatusNotFound, "DELETE", "/api/queues/%2F/q", "")
	for _, want := range []string{"audit.queue.purged by guest of q", "audit.queue.deleted by guest of q"} {
		if got := <-heard; got != want {
			t.Errorf("event %q, want %q", got, want)
		}
		action := strings.TrimPrefix(strings.Fields(want)[0], "audit.")
		if line := "msg=audit action=" + action + " user=guest peer=127.0.0.1:"; !strings.Contains(r.logged(), line) {
			t.Errorf("the log has no %q:\n%s", line, r.logged())
		}
	}
	if n := strings.Count(r.logged(), "msg=audit"); n != 2 {
		t.Errorf("%d lines of audit, want 2:\n%s", n, r.logged())
	}
}

// TestAuditedActs: each of these calls is one act, told by its name.
func TestAuditedActs(t *testing.T) {
	r := start(t)
	r.must(http.StatusCreated, "PUT", "/api/queues/%2F/q", "{}")
	for _, tt := range []struct{ method, path, body, act string }{
		{"PUT", "/vhosts/v", "{}", "vhost.set"},
		{"PUT", "/vhost-limits/v/max-queues", `{"value":5}`, "vhost.limits.set"},
		{"DELETE", "/vhost-limits/v/max-queues", "", "vhost.limits.cleared"},
		{"DELETE", "/parameters/vhost-limits/v/limits", "", "parameter.cleared"},
		{"POST", "/vhosts/v/deletion/protection", "", "vhost.protected"},
		{"DELETE", "/vhosts/v/deletion/protection", "", "vhost.unprotected"},
		{"PUT", "/users/u", `{"password":"p","tags":""}`, "user.set"},
		{"PUT", "/user-limits/u/max-channels", `{"value":5}`, "user.limits.set"},
		{"DELETE", "/user-limits/u/max-channels", "", "user.limits.cleared"},
		{"PUT", "/permissions/v/u", `{"configure":"","write":"","read":""}`, "permission.set"},
		{"PUT", "/topic-permissions/v/u", `{"exchange":"amq.topic","write":"","read":""}`, "topic.permission.set"},
		{"DELETE", "/topic-permissions/v/u", "", "topic.permission.deleted"},
		{"DELETE", "/permissions/v/u", "", "permission.deleted"},
		{"PUT", "/policies/%2F/p", `{"pattern":"^q","definition":{"max-length":5}}`, "policy.set"},
		{"DELETE", "/policies/%2F/p", "", "policy.cleared"},
		{"PUT", "/operator-policies/%2F/p", `{"pattern":"^q","definition":{"max-length":5}}`, "operator_policy.set"},
		{"DELETE", "/operator-policies/%2F/p", "", "operator_policy.cleared"},
		{"PUT", "/parameters/federation-upstream/%2F/p", `{"value":{"uri":"amqp://h"}}`, "parameter.set"},
		{"DELETE", "/parameters/federation-upstream/%2F/p", "", "parameter.cleared"},
		{"PUT", "/global-parameters/p", `{"value":1}`, "parameter.set"},
		{"DELETE", "/global-parameters/p", "", "parameter.cleared"},
		{"PUT", "/cluster-name", `{"name":"n"}`, "cluster.named"},
		{"PUT", "/queues/%2F/q/pause", "", "queue.paused"},
		{"PUT", "/queues/%2F/q/resume", "", "queue.resumed"},
		{"POST", "/queues/%2F/q/replay", "{}", "queue.replayed"},
		{"POST", "/bindings/%2F/e/amq.topic/q/q", `{"routing_key":"k"}`, ""},
		{"DELETE", "/bindings/%2F/e/amq.topic/q/q/k", "", "binding.deleted"},
		{"PUT", "/exchanges/%2F/x", "{}", ""},
		{"DELETE", "/exchanges/%2F/x", "", "exchange.deleted"},
		{"POST", "/definitions", "{}", "definitions.imported"},
		{"PUT", "/leveret/log-level", `{"level":"info"}`, "broker.changed"},
		{"POST", "/queues/%2F/q/get", `{"count":1,"ackmode":"ack_requeue_false","encoding":"auto"}`, ""}, // there is none
		{"POST", "/users/bulk-delete", `{"users":["u"]}`, "users.deleted"},
		{"DELETE", "/vhosts/v", "", "vhost.deleted"},
	} {
		before := len(r.logged())
		if a := r.send(tt.method, "/api"+tt.path, tt.body); a.status >= http.StatusBadRequest {
			t.Fatalf("%s %s: %d %s", tt.method, tt.path, a.status, a.text)
		}
		var acts []string
		for line := range strings.Lines(r.logged()[before:]) {
			if _, rest, ok := strings.Cut(line, "msg=audit action="); ok {
				act, facts, _ := strings.Cut(rest, " ")
				acts = append(acts, act)
				if !strings.HasPrefix(facts, "user=guest peer=127.0.0.1:") {
					t.Errorf("%s: who did it? %s", act, facts)
				}
			}
		}
		if got := strings.Join(acts, " "); got != tt.act {
			t.Errorf("%s %s: acts %q, want %q", tt.method, tt.path, got, tt.act)
		}
	}
}

// TestAuditBehindAProxy: who did it is not the proxy.
func TestAuditBehindAProxy(t *testing.T) {
	r := start(t)
	r.must(http.StatusCreated, "PUT", "/api/users/boss", `{"password":"x","tags":"administrator"}`)
	r.must(http.StatusCreated, "PUT", "/api/vhosts/v", "{}", "Authorization", basic("boss:x"), "X-Forwarded-For", "192.0.2.7")
	if line := "msg=audit action=vhost.set user=boss peer=192.0.2.7:"; !strings.Contains(r.logged(), line) {
		t.Errorf("the log has no %q:\n%s", line, r.logged())
	}
}
