package shovel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rabbitmq/amqp091-go"

	"leveret/shovel"
	"leveret/vhost"
)

// TestMoveAll moves what is in a queue at the start, in each mode; the shovel removes itself then.
func TestMoveAll(t *testing.T) {
	for _, mode := range []string{"on-confirm", "on-publish", "no-ack"} {
		t.Run(mode, func(t *testing.T) {
			r := start(t)
			r.queue("from", nil)
			const n = 2500 // more than are under way at once
			bodies := make([]string, n)
			for i := range bodies {
				bodies[i] = fmt.Sprint(i)
			}
			r.send("from", bodies...)
			r.put("s", map[string]any{"src-queue": "from", "dest-queue": "to", "src-delete-after": "queue-length", "ack-mode": mode})
			r.gone("s")
			if from, to := r.count("from"), r.count("to"); from != 0 || to != n {
				t.Fatalf("%d left, %d moved", from, to)
			}
			for i := range n {
				if d := r.get("to"); string(d.Body) != fmt.Sprint(i) || d.Exchange != "" || d.RoutingKey != "to" {
					t.Fatalf("message %d is %q from %q with key %q", i, d.Body, d.Exchange, d.RoutingKey)
				}
			}
		})
	}
}

// TestMoveNumber moves so many and leaves the rest.
func TestMoveNumber(t *testing.T) {
	r := start(t)
	r.queue("from", nil)
	r.send("from", "a", "b", "c", "d", "e")
	r.put("s", map[string]any{"src-queue": "from", "dest-queue": "to", "delete-after": 3})
	r.gone("s")
	if from, to := r.count("from"), r.count("to"); from != 2 || to != 3 {
		t.Fatalf("%d left, %d moved", from, to)
	}
	if d := r.get("from"); string(d.Body) != "d" {
		t.Fatalf("%q is left first", d.Body)
	}
}

// TestMoveNothing: an empty queue is moved at once.
func TestMoveNothing(t *testing.T) {
	r := start(t)
	r.put("s", map[string]any{"src-queue": "from", "dest-queue": "to", "src-delete-after": "queue-length"})
	r.gone("s")
	if r.count("from") != 0 || r.count("to") != 0 { // they were declared
		t.Fatal("messages came from nowhere")
	}
}

// TestExchanges: from one exchange to another, with the key that messages have, and the headers that tell of it.
func TestExchanges(t *testing.T) {
	r := start(t)
	r.queue("to", nil)
	r.must(r.ch.QueueBind("to", "#", "amq.topic", false, nil))
	r.put("s", map[string]any{
		"src-exchange": "amq.direct", "src-exchange-key": "k", "dest-exchange": "amq.topic", "dest-add-forward-headers": true,
		"dest-add-timestamp-header": true, "dest-publish-properties": map[string]any{"delivery_mode": 2, "app-id": "shop"},
	})
	r.eventually("the shovel", func() bool { return r.state("s") == shovel.Running })
	before := amqp091.Table{"shovel-name": "earlier"}
	r.must(r.ch.PublishWithContext(context.Background(), "amq.direct", "k", false, false, amqp091.Publishing{
		Headers: amqp091.Table{"mine": "x", "x-shovelled": []any{before}}, UserId: "guest", Body: []byte("m"),
	}))
	d := r.get("to")
	if d.Exchange != "amq.topic" || d.RoutingKey != "k" || d.DeliveryMode != 2 || d.AppId != "shop" || d.UserId != "guest" || d.Headers["mine"] != "x" {
		t.Fatalf("%+v", d)
	}
	way, _ := d.Headers["x-shovelled"].([]any)
	if len(way) != 2 || fmt.Sprint(way[1]) != fmt.Sprint(before) {
		t.Fatalf("x-shovelled: %v", way)
	}
	want := amqp091.Table{
		"shovelled-by": "rabbit@test", "shovel-type": "dynamic", "shovel-name": "s", "shovel-vhost": "/", "src-uri": "amqp://", "dest-uri": "amqp:///%2F",
		"src-exchange": "amq.direct", "src-exchange-key": "k", "dest-exchange": "amq.topic",
	}
	got := way[0].(amqp091.Table)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("x-shovelled\n %v\nwant\n %v", got, want)
	}
	if at, _ := d.Headers["x-shovelled-timestamp"].(int64); at == 0 {
		t.Errorf("x-shovelled-timestamp: %v", d.Headers["x-shovelled-timestamp"])
	}
}

// TestFollowsParameters: a shovel comes, changes and goes with its parameter.
func TestFollowsParameters(t *testing.T) {
	r := start(t)
	r.put("s", map[string]any{"src-queue": "from", "dest-queue": "one"})
	r.eventually("the shovel", func() bool { return r.state("s") == shovel.Running })
	r.send("from", "a")
	r.get("one")
	r.acked()
	r.put("s", map[string]any{"src-queue": "from", "dest-queue": "two"})
	r.eventually("the change", func() bool { s := r.status("s"); return s.State == shovel.Running && s.TargetQueue == "two" })
	r.send("from", "b")
	r.get("two")
	r.eventually("the count", func() bool { return r.status("s").Forwarded == 1 })
	r.acked()
	if !r.shovels.Restart("/", "s") || r.shovels.Restart("/", "other") {
		t.Error("restarts the wrong one")
	}
	r.eventually("the restart", func() bool { s := r.status("s"); return s.State == shovel.Running && s.Forwarded == 0 })
	_, err := r.VHost("/").ClearParameter(shovel.Component, "s")
	r.must(err)
	r.gone("s")
	r.eventually("the last session's end", func() bool {
		q, err := r.ch.QueueDeclarePassive("from", true, false, false, false, nil)
		r.must(err)
		return q.Consumers == 0
	})
	r.send("from", "c")
	r.get("from")
}

// TestVHosts: shovels go with their virtual host, and reach into another.
func TestVHosts(t *testing.T) {
	r := start(t)
	_, err := r.CreateVHost("far/away", vhost.Metadata{})
	r.must(err)
	_, err = r.VHost("far/away").SetParameter(shovel.Component, "s", map[string]any{
		"src-uri": "amqp:///far%2Faway", "src-queue": "from", "dest-uri": "amqp://", "dest-queue": "here",
	})
	r.must(err)
	r.eventually("the shovel", func() bool { return r.state("s") == shovel.Running })
	conn, err := amqp091.Dial("amqp://guest:guest@" + r.address() + "/far%2Faway")
	if err == nil { // guest has no rights there
		conn.Close()
		t.Fatal("guest is let in")
	}
	r.must(r.DeleteVHost("far/away"))
	r.eventually("the end", func() bool { return len(r.shovels.List()) == 0 })
}

// TestTerminated: a shovel that cannot run says why, and does not try again if it is not to.
func TestTerminated(t *testing.T) {
	for reason, fields := range map[string]map[string]any{
		"connect to the source":  {"src-uri": []any{"amqp://127.0.0.1:1", "amqp:///nowhere"}, "src-queue": "q"},
		"connect to the target":  {"dest-uri": "amqp://guest:wrong@", "src-queue": "q"},
		"no queue 'missing'":     {"src-queue": "missing", "src-predeclared": true},
		"no queue 'other'":       {"src-queue": "q", "dest-queue": "other", "dest-predeclared": true},
		"no exchange 'x'":        {"src-queue": "q", "dest-exchange": "x", "dest-predeclared": true},
		"no exchange 'y'":        {"src-exchange": "y"},
		"AMQP 1.0 is not spoken": {"src-queue": "q", "dest-protocol": "amqp10"},
	} {
		t.Run(reason, func(t *testing.T) {
			r := start(t)
			fields["reconnect-delay"] = 0
			r.put("s", fields)
			r.eventually("the end", func() bool { return r.state("s") == shovel.Terminated })
			s := r.status("s")
			if !strings.Contains(s.Reason, reason) || strings.Contains(s.Reason+s.TargetURI, "wrong") {
				t.Errorf("%+v", s)
			}
		})
	}
}

// A shovel with a lifetime moves what comes in that, and then deletes itself; listeners are told of all its states.
func TestLifetime(t *testing.T) {
	timed(t, func(r *rig) {
		r.queue("from", nil)
		r.queue("to", nil)
		r.send("from", "a", "b", "c")
		r.put("s", map[string]any{"src-queue": "from", "dest-queue": "to", "src-delete-after-duration": 1})
		begun := time.Now()
		r.eventually("the messages", func() bool { return r.count("to") == 3 })
		r.gone("s")
		if lived := time.Since(begun); lived < time.Second || lived > time.Second+10*step {
			r.t.Errorf("it lived for %v", lived)
		}
		want := "status / s starting, status / s running, status / s terminated done, removed / s"
		r.eventually("the events", func() bool { return r.told.String() == want })
	})
}

// A lifetime ends too while there is nothing to connect to.
func TestLifetimeWithoutSource(t *testing.T) {
	timed(t, func(r *rig) {
		r.put("s", map[string]any{"src-queue": "none", "src-predeclared": true, "dest-queue": "to", "src-delete-after-duration": 1, "reconnect-delay": 0})
		r.eventually("its end", func() bool { return r.state("s") == shovel.Terminated })
		r.gone("s")
	})
}
