package management_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"leveret/amqp"
)

// object is the answer as an object.
func (a answer) object(t testing.TB) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(a.text), &o); err != nil {
		t.Fatalf("%v: %s", err, a.text)
	}
	return o
}

// fill makes a durable queue with persistent messages of four bytes.
func (r *rig) fill(queue string, messages int) {
	r.t.Helper()
	r.must(http.StatusCreated, "PUT", "/api/queues/%2F/"+queue, `{"durable":true}`)
	for range messages {
		r.must(http.StatusOK, "POST", "/api/exchanges/%2F/amq.default/publish",
			`{"routing_key":"`+queue+`","properties":{"delivery_mode":2},"payload":"body","payload_encoding":"string"}`)
	}
}

// numbers compares fields of an object with their wishes.
func numbers(t *testing.T, what string, o map[string]any, want map[string]any) {
	t.Helper()
	for name, value := range want {
		if fmt.Sprint(o[name]) != fmt.Sprint(value) {
			t.Errorf("%s: %s is %v, want %v", what, name, o[name], value)
		}
	}
}

// durations fails unless a field has percentiles in order.
func durations(t *testing.T, o map[string]any, name string) {
	t.Helper()
	p, _ := o[name].(map[string]any)
	p50, ok50 := p["p50"].(float64)
	p95, ok95 := p["p95"].(float64)
	p99, ok99 := p["p99"].(float64)
	if !ok50 || !ok95 || !ok99 || p50 > p95 || p95 > p99 || p99 > 10_000 {
		t.Errorf("%s is %v", name, o[name])
	}
}

// TestTimings: a queue shows what waits, what is held, and how long both takes.
func TestTimings(t *testing.T) {
	r := start(t)
	const path = "/api/queues/%2F/jobs"
	r.fill("jobs", 3)
	numbers(t, "ready", r.get(path).object(t), map[string]any{
		"message_bytes": 12, "message_bytes_ready": 12, "message_bytes_unacknowledged": 0, "message_bytes_persistent": 12, "messages_persistent": 3,
		"wait_time": nil, "processing_time": nil, "oldest_unacked_age": 0, "redelivery_share": nil,
	})
	c := r.client()
	c.consume("jobs", "worker", 3)
	o := r.get(path).object(t)
	numbers(t, "held", o, map[string]any{
		"message_bytes": 12, "message_bytes_ready": 0, "message_bytes_unacknowledged": 12, "message_bytes_persistent": 12, "messages_persistent": 3,
		"processing_time": nil,
	})
	durations(t, o, "wait_time")
	if age, _ := o["oldest_unacked_age"].(float64); age < 1 {
		t.Errorf("the oldest is held for %v ms", o["oldest_unacked_age"])
	}
	c.send(1, &amqp.BasicAck{DeliveryTag: 2, Multiple: true})
	c.sync()
	o = r.get(path).object(t)
	numbers(t, "two acked", o, map[string]any{"message_bytes_unacknowledged": 4, "messages_persistent": 1, "message_bytes_persistent": 4})
	durations(t, o, "processing_time")
}

// TestFirstPass: consumers show how many messages they acked at the first try, and who holds a message is shown how often it came back.
func TestFirstPass(t *testing.T) {
	r := start(t)
	r.fill("jobs", 4)
	c := r.client()
	consumer := func(acked, failed int, share any) {
		t.Helper()
		c.sync()
		list := r.get("/api/consumers/%2F").list(r)
		if len(list) != 1 {
			t.Fatalf("%d consumers", len(list))
		}
		numbers(t, "consumer", list[0], map[string]any{"first_pass_acked": acked, "first_pass_failed": failed, "first_pass_share": share})
	}
	c.consume("jobs", "worker", 4)
	consumer(0, 0, nil)
	c.send(1, &amqp.BasicAck{DeliveryTag: 1}, &amqp.BasicAck{DeliveryTag: 2}, &amqp.BasicAck{DeliveryTag: 3})
	c.send(1, &amqp.BasicNack{DeliveryTag: 4, Requeue: true})
	c.delivered(1)
	consumer(3, 1, 0.75)
	held := r.get("/api/queues/%2F/jobs/unacked").list(r)
	if len(held) != 1 {
		t.Fatalf("%d messages held", len(held))
	}
	numbers(t, "held", held[0], map[string]any{"message": 4, "redelivered": true, "returned": 1, "failed": 0, "delivery_count": 2, "consumer_tag": "worker"})
	c.send(1, &amqp.BasicAck{DeliveryTag: 5})
	consumer(3, 1, 0.75)
}

// TestUnackedOfQuorumQueue: queues that count deliveries show the count.
func TestUnackedOfQuorumQueue(t *testing.T) {
	r := start(t)
	r.must(http.StatusCreated, "PUT", "/api/queues/%2F/qq", `{"durable":true,"arguments":{"x-queue-type":"quorum"}}`)
	r.must(http.StatusOK, "POST", "/api/exchanges/%2F/amq.default/publish",
		`{"routing_key":"qq","properties":{},"payload":"body","payload_encoding":"string"}`)
	c := r.client()
	c.consume("qq", "worker", 1)
	for tag := uint64(1); tag <= 3; tag++ {
		c.send(1, &amqp.BasicNack{DeliveryTag: tag, Requeue: true})
		c.delivered(1)
	}
	held := r.get("/api/queues/%2F/qq/unacked").list(r)
	if len(held) != 1 {
		t.Fatalf("%d messages held", len(held))
	}
	numbers(t, "held", held[0], map[string]any{"redelivered": true, "returned": 3, "failed": 0, "delivery_count": 4})
}

// TestHeadTimestamp: a queue shows the timestamp of its next message, and that of no other.
func TestHeadTimestamp(t *testing.T) {
	r := start(t)
	r.must(http.StatusCreated, "PUT", "/api/queues/%2F/jobs", `{}`)
	for _, properties := range []string{`{"timestamp":1700000000}`, `{}`} {
		r.must(http.StatusOK, "POST", "/api/exchanges/%2F/amq.default/publish",
			`{"routing_key":"jobs","properties":`+properties+`,"payload":"","payload_encoding":"string"}`)
	}
	shows := func(want any) bool {
		return fmt.Sprint(r.get("/api/queues/%2F/jobs").object(t)["head_message_timestamp"]) == fmt.Sprint(want)
	}
	eventually(t, "the timestamp shows", func() bool { return shows(1.7e9) })
	r.must(http.StatusOK, "POST", "/api/queues/%2F/jobs/get", `{"count":1,"ackmode":"ack_requeue_false","encoding":"auto"}`)
	eventually(t, "the next message has none", func() bool { return shows(nil) })
}

// TestDrained: a suspended broker says that it lets nobody in, and is in service again when it has resumed.
func TestDrained(t *testing.T) {
	r := start(t)
	checks := []string{"is-in-service", "ready-to-serve-clients", "protocol-listener/amqp", "port-listener/5672"}
	all := func(status int) {
		t.Helper()
		for _, check := range checks {
			r.must(status, "GET", "/api/health/checks/"+check, "")
		}
	}
	all(http.StatusOK)
	ctx, cancel := contextOf(patience)
	defer cancel()
	if err := r.server.Suspend(ctx); err != nil {
		t.Fatal(err)
	}
	all(http.StatusServiceUnavailable)
	r.must(http.StatusOK, "GET", "/api/health/checks/port-listener/15672", "")
	numbers(t, "node", r.get("/api/nodes/rabbit@test").object(t), map[string]any{"being_drained": true})
	if err := r.server.Resume(); err != nil {
		t.Fatal(err)
	}
	all(http.StatusOK)
}

// TestOwners: an exclusive queue shows whose it is.
func TestOwners(t *testing.T) {
	r := start(t)
	one, other := r.client(), r.client()
	one.send(1, &amqp.QueueDeclare{Queue: "mine", Exclusive: true})
	one.expect(amqp.MethodQueueDeclareOk)
	other.send(1, &amqp.QueueDeclare{Queue: "yours", Exclusive: true})
	other.expect(amqp.MethodQueueDeclareOk)
	peers := map[string]any{"mine": one.conn.LocalAddr().String(), "yours": other.conn.LocalAddr().String()}
	for _, o := range r.get("/api/queues").list(r) {
		owner, _ := o["owner_pid_details"].(map[string]any)
		name := fmt.Sprint(o["name"])
		if got := fmt.Sprintf("%v:%v", owner["peer_host"], owner["peer_port"]); got != peers[name] {
			t.Errorf("%s belongs to %s, want %s", name, got, peers[name])
		}
	}
}
