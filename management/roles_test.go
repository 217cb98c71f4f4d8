package management_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"leveret/amqp"
	"leveret/auth"
)

// consumers are tag, whether it is active and its status, of each consumer in the order of the list.
func (r *rig) consumers() string {
	r.t.Helper()
	var b strings.Builder
	for _, o := range r.get("/api/consumers/%2F").list(r) {
		fmt.Fprintf(&b, "%v %v %v, ", o["consumer_tag"], o["active"], o["activity_status"])
	}
	return strings.TrimSuffix(b.String(), ", ")
}

// Of a queue with a single active consumer one is active and the others wait; when it goes the next takes over, and the queue names it.
func TestSingleActiveConsumer(t *testing.T) {
	r := start(t)
	r.must(http.StatusCreated, http.MethodPut, "/api/queues/%2F/single", `{"durable":true,"arguments":{"x-single-active-consumer":true}}`)
	r.must(http.StatusCreated, http.MethodPut, "/api/queues/%2F/all", `{"durable":true}`)
	c := r.client()
	for _, tag := range []string{"first", "second"} {
		c.consume("single", tag, 0)
	}
	c.consume("all", "third", 0)
	c.sync()
	if got, want := r.consumers(), "first true single_active, second false waiting, third true up"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := r.get("/api/queues/%2F/single").one(r)["single_active_consumer_tag"]; got != "first" {
		t.Errorf("the active consumer is %v", got)
	}
	c.send(1, &amqp.BasicCancel{ConsumerTag: "first"})
	c.expect(amqp.MethodBasicCancelOk)
	eventually(t, "the second takes over", func() bool { return r.consumers() == "second true single_active, third true up" })
	if got := r.get("/api/queues/%2F/single").one(r)["single_active_consumer_tag"]; got != "second" {
		t.Errorf("the active consumer is %v", got)
	}
}

// A queue tells who has it for himself, and nobody once he has gone.
func TestExclusiveConsumer(t *testing.T) {
	r := start(t)
	r.must(http.StatusCreated, http.MethodPut, "/api/queues/%2F/q", `{"durable":true}`)
	tag := func() any { return r.get("/api/queues/%2F/q").one(r)["exclusive_consumer_tag"] }
	c := r.client()
	c.consume("q", "shared", 0)
	if got := tag(); got != nil {
		t.Errorf("a consumer that shares the queue: %v", got)
	}
	c.send(1, &amqp.BasicCancel{ConsumerTag: "shared"}, &amqp.BasicConsume{Queue: "q", ConsumerTag: "alone", Exclusive: true})
	c.expect(amqp.MethodBasicConsumeOk)
	if got := tag(); got != "alone" {
		t.Errorf("the exclusive consumer is %v", got)
	}
	if got := r.get("/api/consumers/%2F").list(r)[0]["exclusive"]; got != true {
		t.Errorf("it is exclusive: %v", got)
	}
	c.conn.Close()
	eventually(t, "nobody has the queue for himself", func() bool { return tag() == nil })
}

// Logins are counted by address and user where that is switched on, the failed ones too, until somebody resets them.
func TestAttemptsBySource(t *testing.T) {
	r := startAs(t, func(o *auth.Options) { o.TrackSources = true })
	const path = "/api/auth/attempts/rabbit@test/source"
	for range 3 {
		r.must(http.StatusUnauthorized, http.MethodGet, "/api/whoami", "", "Authorization", basic("guest:wrong"))
	}
	r.client()
	found := map[string]string{}
	for _, o := range r.get(path).list(r) {
		found[fmt.Sprint(o["protocol"], " ", o["username"])] = fmt.Sprint(o["remote_address"], " ", o["auth_attempts_failed"], " ", o["auth_attempts_succeeded"])
	}
	if got := found["amqp091 guest"]; got != "127.0.0.1 0 1" {
		t.Errorf("over AMQP: %q of %v", got, found)
	}
	if got := found["http guest"]; !strings.HasPrefix(got, "127.0.0.1 3 ") {
		t.Errorf("over HTTP: %q of %v", got, found)
	}
	r.must(http.StatusNoContent, http.MethodDelete, path, "")
	for _, o := range r.get(path).list(r) {
		if o["auth_attempts_failed"] != 0.0 || o["protocol"] == "amqp091" && o["auth_attempts"] != 0.0 {
			t.Errorf("after the reset: %v", o)
		}
	}
	r.must(http.StatusNotFound, http.MethodGet, "/api/auth/attempts/rabbit@other/source", "")
}

// Who may set policies and parameters may not go round limits and operator policies by the general paths, which only administrators set.
func TestPolicymakersLimits(t *testing.T) {
	r := start(t)
	password := "secret"
	_, err := r.users.SetUser(auth.UserUpdate{Name: "maker", Password: &password, Tags: []string{"policymaker"}, Permissions: map[string]auth.Permissions{"/": auth.AllPermissions()}})
	if err != nil {
		t.Fatal(err)
	}
	const refused = "Not administrator user"
	for _, tt := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"PUT", "/api/policies/%2F/p", `{"pattern":"^none","definition":{"max-length":1}}`, 201, ""},
		{"PUT", "/api/parameters/federation-upstream/%2F/u", `{"value":{"uri":"amqp://h"}}`, 201, ""},
		{"PUT", "/api/global-parameters/g", `{"value":1}`, 201, ""},
		{"PUT", "/api/operator-policies/%2F/p", `{"pattern":"^none","definition":{"max-length":1}}`, 401, refused},
		{"PUT", "/api/parameters/vhost-limits/%2F/limits", `{"value":{"max-queues":1}}`, 401, refused},
		{"DELETE", "/api/parameters/vhost-limits/%2F/limits", "", 401, refused},
		{"DELETE", "/api/parameters/operator_policy/%2F/p", "", 401, refused},
		{"PUT", "/api/parameters/operator_policy/%2F/p", `{"value":{}}`, 400, "policies may not be set using this method"},
		{"DELETE", "/api/parameters/policy/%2F/p", "", 400, "policies may not be cleared using this method"},
		{"PUT", "/api/vhost-limits/%2F/max-queues", `{"value":1}`, 401, refused},
	} {
		a := r.send(tt.method, tt.path, tt.body, "Authorization", basic("maker:secret"))
		if a.status != tt.status || !strings.Contains(a.text, tt.want) {
			t.Errorf("%s %s: %d %s, want %d %s", tt.method, tt.path, a.status, a.text, tt.status, tt.want)
		}
	}
	if got := r.get("/api/vhost-limits").text; got != "[]" {
		t.Errorf("limits were set: %s", got)
	}
}

// A replay that can't be understood, or to where the caller may not write, moves nothing.
func TestReplayRefusals(t *testing.T) {
	r := start(t)
	r.fill("dead", 3)
	password := "secret"
	_, err := r.users.SetUser(auth.UserUpdate{Name: "reader", Password: &password, Tags: []string{"administrator"},
		Permissions: map[string]auth.Permissions{"/": {Configure: "", Write: "^amq.topic$", Read: ".*"}}})
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]struct {
		status int
		reason string
	}{
		`{"headers":[]}`:    {400, "headers must be an object"},
		`{"headers":null}`:  {400, "headers must be an object"},
		`{"count":-1}`:      {400, "count must not be negative"},
		`{"rate":-5}`:       {400, "rate must not be negative"},
		`{"count":"many"}`:  {400, "not_integer"},
		`{"rate":0.5}`:      {400, "not_integer"},
		`{"dry_run":"yes"}`: {400, "not_boolean"},
		`{"exchange":5}`:    {400, "not_string"},
		`{"exchange":"amq.topic","routing_key":[]}`:    {400, "not_string"},
		`{"exchange":"nowhere"}`:                       {404, "exchange_not_found"},
		`{"exchange":"amq.direct","routing_key":"k"}`:  {401, "Access refused."},
		`{"exchange":"amq.default","routing_key":"k"}`: {401, "Access refused."},
	} {
		a := r.send(http.MethodPost, "/api/queues/%2F/dead/replay", body, "Authorization", basic("reader:secret"))
		if a.status != want.status || !strings.Contains(a.text, want.reason) {
			t.Errorf("%s: %d %s, want %d %s", body, a.status, a.text, want.status, want.reason)
		}
	}
	if got := r.get("/api/queues/%2F/dead").one(r)["messages"]; got != 3.0 {
		t.Errorf("%v messages are left of 3", got)
	}
}

// What an operator does to a consumer, a channel or a message that is not there any more is 404, and leaves no line in the audit log.
func TestControlOfWhatHasGone(t *testing.T) {
	r := start(t)
	r.fill("q", 1)
	c := r.client()
	c.consume("q", "tag", 1)
	connection := c.name()
	place := "/api/consumers/%2F/" + connection + "/1/"
	for _, tt := range []struct {
		method, path, body string
		status             int
	}{
		{"PUT", place + "other", `{"prefetch":5}`, 404}, {"PUT", "/api/consumers/%2F/" + connection + "/2/tag", `{"prefetch":5}`, 404},
		{"PUT", "/api/consumers/%2F/" + connection + "/x/tag", `{"prefetch":5}`, 404}, {"PUT", "/api/consumers/%2F/nobody/1/tag", `{"prefetch":5}`, 404},
		{"PUT", place + "tag", `{"prefetch":65536}`, 400}, {"PUT", place + "tag", `{"prefetch":-1}`, 400}, {"PUT", place + "tag", `{}`, 400},
		{"DELETE", place + "other", "", 404}, {"POST", place + "other/requeue", "", 404}, {"PUT", "/api/channels/" + url.PathEscape("nobody (1)") + "/prefetch", `{"prefetch":1}`, 404},
		{"POST", "/api/queues/%2F/q/unacked/99/requeue", "", 404}, {"DELETE", "/api/queues/%2F/q/messages/99", "", 404}, {"DELETE", "/api/queues/%2F/q/messages/first", "", 404},
	} {
		if a := r.send(tt.method, tt.path, tt.body); a.status != tt.status {
			t.Errorf("%s %s %s: %d %s, want %d", tt.method, tt.path, tt.body, a.status, a.text, tt.status)
		}
	}
	if strings.Contains(r.logged(), "msg=audit") {
		t.Errorf("acts that were none are in the audit log:\n%s", r.logged())
	}
	r.must(http.StatusNoContent, "PUT", place+"tag", `{"prefetch":5}`)
	if !strings.Contains(r.logged(), "action=consumer.prefetch.set") {
		t.Error("one that was is not")
	}
}
