package management_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// fields are the names in an object.
func fields(o map[string]any) []string { return slices.Sorted(maps.Keys(o)) }

// one is the answer as an object.
func (a answer) one(r *rig) map[string]any {
	r.t.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(a.text), &o); err != nil {
		r.t.Fatalf("%v: %s", err, a.text)
	}
	return o
}

// A queue has the same fields whether anything has happened to it or not, as autoscalers and typed clients take what is missing for nothing; only
// message_stats comes with the first message. Lists leave out what is null.
func TestFormsOfAQueue(t *testing.T) {
	r := start(t)
	for kind, extra := range map[string][]string{
		"classic": {"exclusive_consumer_tag", "head_message_timestamp", "messages_ready_ram", "messages_unacknowledged_ram", "storage_version"},
		"quorum":  {"leader", "members", "online", "delivery_limit", "messages_by_priority", "open_files", "delayed_retry"},
	} {
		path := "/api/queues/%2F/" + kind
		r.must(http.StatusCreated, http.MethodPut, path, `{"durable":true,"arguments":{"x-queue-type":"`+kind+`"}}`)
		empty := r.get(path).one(r)
		for _, name := range append(extra, "name", "vhost", "type", "durable", "auto_delete", "exclusive", "arguments", "node", "state", "messages", "messages_ready",
			"messages_unacknowledged", "messages_details", "consumers", "memory", "policy", "operator_policy", "effective_policy_definition", "idle_since",
			"consumer_details", "incoming", "deliveries", "oldest_ready_age", "oldest_unacked_age") {
			if _, there := empty[name]; !there {
				t.Errorf("%s: no %s", kind, name)
			}
		}
		if empty["type"] != kind || empty["message_stats"] != nil {
			t.Errorf("%s: type %v, message_stats %v", kind, empty["type"], empty["message_stats"])
		}
		r.must(http.StatusOK, http.MethodPost, "/api/exchanges/%2F/amq.default/publish", strings.Replace(publishBody, `"q"`, `"`+kind+`"`, 1))
		used := r.get(path).one(r)
		stats, _ := used["message_stats"].(map[string]any)
		if stats["publish"] != 1.0 || used["messages"] != 1.0 || used["messages_ready"] != 1.0 {
			t.Errorf("%s: after one message %v, %v messages", kind, stats, used["messages"])
		}
		delete(used, "message_stats")
		if got, want := fields(used), fields(empty); !slices.Equal(got, want) {
			t.Errorf("%s: fields of an empty queue %v, with a message %v", kind, want, got)
		}
	}
	for _, o := range r.get("/api/queues").list(r) {
		for name, v := range o {
			if v == nil {
				t.Errorf("list: %s of %s is null", name, o["name"])
			}
		}
		if o["consumer_details"] != nil || o["idle_since"] != nil {
			t.Errorf("list: %s has what a single queue has alone", o["name"])
		}
	}
	for _, o := range r.get("/api/queues/detailed").list(r) {
		if _, there := o["idle_since"]; !there || o["consumer_details"] != nil {
			t.Errorf("detailed list: fields %v", fields(o))
		}
	}
}

// Clients that want definitions alone, or these and how many messages there are, get neither rates nor anything that has to be asked of connections.
func TestQueuesWithoutStatistics(t *testing.T) {
	r := start(t)
	r.must(http.StatusCreated, http.MethodPut, "/api/queues/%2F/q", `{"durable":true}`)
	declared := []string{"arguments", "auto_delete", "durable", "effective_policy_definition", "exclusive", "internal", "internal_owner", "name", "node",
		"operator_policy", "policy", "state", "type", "vhost"}
	totals := slices.Sorted(slices.Values(append(slices.Clone(declared), "messages", "messages_ready", "messages_unacknowledged")))
	for query, want := range map[string][]string{
		"disable_stats=true": declared, "disable_stats=true&enable_queue_totals=true": totals,
	} {
		if got := fields(r.get("/api/queues?" + query).list(r)[0]); !slices.Equal(got, want) {
			t.Errorf("list with %s: %v, want %v", query, got, want)
		}
		if got := fields(r.get("/api/queues/%2F/q?" + query).one(r)); !slices.Equal(got, want) {
			t.Errorf("one with %s: %v, want %v", query, got, want)
		}
	}
	whole := fields(r.get("/api/queues").list(r)[0])
	for _, query := range []string{"disable_stats=false", "enable_queue_totals=true", "disable_stats=1"} {
		if got := fields(r.get("/api/queues?" + query).list(r)[0]); !slices.Equal(got, whole) {
			t.Errorf("with %s: %v, want all: %v", query, got, whole)
		}
	}
}

// Whatever asks for curves gets them beside its rates, and only the kinds that it asked for.
func TestCurvesOfObjects(t *testing.T) {
	r := start(t)
	r.must(http.StatusCreated, http.MethodPut, "/api/queues/%2F/q", `{"durable":true}`)
	r.must(http.StatusOK, http.MethodPost, "/api/exchanges/%2F/amq.default/publish", publishBody)
	at := func(o map[string]any, path string) map[string]any {
		for name := range strings.SplitSeq(path, ".") {
			o, _ = o[name].(map[string]any)
		}
		return o
	}
	for _, tt := range []struct{ path, kind, with, without string }{
		{"/api/queues/%2F/q", "lengths", "messages_details", "message_stats.publish_details"},
		{"/api/queues/%2F/q", "msg_rates", "message_stats.publish_details", "messages_details"},
		{"/api/exchanges/%2F/amq.default", "msg_rates", "message_stats.publish_in_details", ""},
		{"/api/overview", "lengths", "queue_totals.messages_details", "message_stats.publish_details"},
		{"/api/overview", "msg_rates", "message_stats.publish_details", "queue_totals.messages_details"},
		{"/api/vhosts/%2F", "data_rates", "recv_oct_details", "messages_details"},
		{"/api/vhosts/%2F", "lengths", "messages_details", "recv_oct_details"},
		{"/api/nodes/rabbit@test", "node_stats", "mem_used_details", ""},
	} {
		o := r.get(tt.path + "?" + tt.kind + "_age=60&" + tt.kind + "_incr=5").one(r)
		with := at(o, tt.with)
		if samples, _ := with["samples"].([]any); len(samples) != 13 || with["avg"] == nil || with["avg_rate"] == nil || with["rate"] == nil {
			t.Errorf("%s with %s: %s is %v", tt.path, tt.kind, tt.with, with)
		}
		if tt.without == "" {
			continue
		}
		if without := at(o, tt.without); without["samples"] != nil || without["rate"] == nil {
			t.Errorf("%s with %s: %s is %v", tt.path, tt.kind, tt.without, without)
		}
	}
	for _, path := range []string{"/api/queues", "/api/queues/%2F/q", "/api/exchanges", "/api/connections", "/api/channels", "/api/overview", "/api/vhosts", "/api/nodes"} {
		a := r.must(http.StatusBadRequest, http.MethodGet, path+"?lengths_age=10000000000&lengths_incr=10000000000", "")
		if !strings.Contains(a.text, "Invalid range parameters: age 10000000000, incr 10000000000") {
			t.Errorf("%s: %s", path, a.text)
		}
	}
}
