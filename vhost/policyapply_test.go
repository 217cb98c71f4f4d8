package vhost_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"leveret/queue"
	"leveret/vhost"
)

// says is what the policies say of a queue, in a line: the names, the definition, those skipped.
func says(a *vhost.Applied) string {
	var line strings.Builder
	line.WriteString(fmt.Sprintf("%s/%s %v", a.Policy, a.Operator, a.Effective))
	for _, s := range a.Skipped {
		line.WriteString(fmt.Sprintf(", not %s: %s", s.Name, s.Reason))
	}
	return line.String()
}

func (h *host) says(want string, q *queue.Queue) {
	h.t.Helper()
	if got := says(h.PolicyFor(q)); got != want {
		h.t.Errorf("%s:\n got %s\nwant %s", q.Name(), got, want)
	}
}

func TestWhichPolicyApplies(t *testing.T) {
	h := newHost(t)
	q := h.queue("orders.eu")
	h.says("/ map[]", q)
	h.policy("low", "^orders", object{"max-length": 5, "expires": 60000}, priority(1))
	h.says("low/ map[expires:60000 max-length:5]", q)
	h.policy("high", "eu$", object{"message-ttl": 60000}, priority(2))
	h.says("high/ map[message-ttl:60000], not low: 'high' has a higher priority", q)
	h.policy("also", "eu", object{"message-ttl": 1}, priority(2))
	h.policy("other", "^us", object{"max-length": 1}, priority(9))
	h.policy("streams", "", object{"max-length-bytes": 1}, priority(9), applyTo("streams"))
	h.says("also/ map[message-ttl:1], not high: 'also' has the same priority and a name that comes first, not low: 'also' has a higher priority", q)
	h.policy("old", "", object{"max-age": "1h", "max-length": 1, "initial-cluster-size": 3}, priority(10))
	h.says("also/ map[message-ttl:1], not old: key 'initial-cluster-size' is not supported by classic queues, "+
		"not high: 'also' has the same priority and a name that comes first, not low: 'also' has a higher priority", q)
	if _, err := h.ClearPolicy("also"); err != nil {
		t.Fatal(err)
	}
	h.operatorPolicy("guard", `^(?!amq\.)`, object{"message-ttl": 10, "max-length": 7})
	h.says("high/guard map[max-length:7 message-ttl:10], not old: key 'initial-cluster-size' is not supported by classic queues, "+
		"not low: 'high' has a higher priority", q)
	if got, want := q.Settings().TTL, int64(10); got != want {
		t.Errorf("TTL %d, not %d", got, want)
	}
}

func TestSlowPatternIsSaidToBeSlow(t *testing.T) {
	h := newHost(t)
	q := h.queue(strings.Repeat("a", 60) + "b")
	h.policy("slow", `^(?=x?)(a+)+\1$`, object{"max-length": 1})
	h.says("/ map[], not slow: pattern takes too long to match", q)
}

func TestApplyTo(t *testing.T) {
	h := newHost(t)
	h.exchange("direct", "x")
	made := map[string]func() *vhost.Applied{"exchange": func() *vhost.Applied { return h.PolicyForExchange(h.Exchange([]byte("x"))) }}
	for _, kind := range kinds {
		q := h.queue(kind, args(arg("x-queue-type", kind)))
		made[kind] = func() *vhost.Applied { return h.PolicyFor(q) }
	}
	for kinds, want := range map[string]string{
		"all": "classic quorum stream exchange", "queues": "classic quorum stream", "classic_queues": "classic",
		"quorum_queues": "quorum", "streams": "stream", "exchanges": "exchange",
	} {
		h.policy("p", "", object{"max-length-bytes": 5}, applyTo(kinds))
		for kind, applied := range made {
			if got := applied().Policy == "p"; got != slices.Contains(strings.Fields(want), kind) {
				t.Errorf("%s on %s: %t", kinds, kind, got)
			}
		}
	}
}

// TestUnsupportedKeys sets for each type of queue a policy with one key that it does not support, and one with all that it does.
func TestUnsupportedKeys(t *testing.T) {
	h := newHost(t)
	for kind, unsupported := range map[string]string{
		"classic": "max-age stream-max-segment-size-bytes initial-cluster-size delivery-limit dead-letter-strategy max-in-memory-length " +
			"max-in-memory-bytes target-group-size",
		"quorum": "queue-mode ha-mode ha-params ha-sync-mode ha-sync-batch-size ha-promote-on-shutdown ha-promote-on-failure " +
			"queue-master-locator max-age stream-max-segment-size-bytes initial-cluster-size",
		"stream": "expires message-ttl dead-letter-exchange dead-letter-routing-key dead-letter-strategy max-length max-in-memory-length " +
			"max-in-memory-bytes overflow queue-mode delivery-limit ha-mode ha-params ha-sync-mode ha-sync-batch-size " +
			"ha-promote-on-shutdown ha-promote-on-failure queue-master-locator target-group-size expire-anywhere " +
			"delayed-retry-multiplier delayed-retry-jitter delivery-limit-counts dispatch default-prefetch max-prefetch priority-max-burst priority-aging",
	} {
		q := h.queue(kind, args(arg("x-queue-type", kind)))
		for _, c := range policyValues {
			h.policy("p", "", object{c.key: c.good[0], "max-length-bytes": 5})
			want := !slices.Contains(strings.Fields(unsupported), c.key)
			if a := h.PolicyFor(q); (a.Policy == "p") != want || !want && (len(a.Effective) > 0 || len(a.Skipped) != 1) {
				t.Errorf("%s on %s: %s", c.key, kind, says(a))
			}
		}
	}
}

func TestPoliciesOfNewQueuesAndAfterRestart(t *testing.T) {
	h := newHost(t)
	h.policy("p", "^q", object{"max-length": 5})
	check := func(q *queue.Queue) {
		t.Helper()
		if got := q.Settings().MaxLength; got != 5 {
			t.Errorf("%s: %d", q.Name(), got)
		}
		h.says("p/ map[max-length:5]", q)
	}
	check(h.queue("q"))
	check(h.queue("q transient", transient))
	check(h.queue("q exclusive", exclusive))
	h = h.restart()
	check(h.find("q"))
	if got := h.PolicyForExchange(h.Exchange([]byte("amq.topic"))).Policy; got != "" {
		t.Errorf("amq.topic has %q", got)
	}
}

// find is the queue of that name.
func (h *host) find(name string) *queue.Queue {
	h.t.Helper()
	q, err := h.Queue(name, me)
	if err != nil {
		h.t.Fatal(err)
	}
	return q
}

// TestPoliciesWhileQueuesAreDeclared changes policies and declares queues at a time: all must end with what the last policy says.
func TestPoliciesWhileQueuesAreDeclared(t *testing.T) {
	h := newHost(t)
	var working sync.WaitGroup
	for i := range 4 {
		working.Go(func() {
			for j := range 100 {
				if _, err := h.DeclareQueue(queueOf(fmt.Sprintf("q%d.%d", i, j), transient), me, all()); err != nil {
					t.Error(err)
				}
			}
		})
		working.Go(func() {
			for j := range 50 {
				if _, err := h.SetPolicy(vhost.Policy{Name: "p", Pattern: "", Definition: object{"max-length": i*1000 + j}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	working.Wait()
	want := h.Policies()[0].Definition["max-length"].(int64)
	n := 0
	h.Queues(func(q *queue.Queue) bool {
		n++
		if got := q.Settings().MaxLength; got != want {
			t.Errorf("%s has %d, the policy says %d", q.Name(), got, want)
		}
		if got := h.PolicyFor(q).Effective["max-length"]; got != want {
			t.Errorf("%s shows %v, the policy says %d", q.Name(), got, want)
		}
		return true
	})
	if n != 400 {
		t.Errorf("%d queues", n)
	}
}

func TestPolicyForManyQueues(t *testing.T) {
	h := manyQueues(t, 500)
	h.policy("p", "^q.*[05]$", object{"max-length": 5})
	n := 0
	h.Queues(func(q *queue.Queue) bool {
		if q.Settings().MaxLength == 5 {
			n++
		}
		return true
	})
	if n != 100 {
		t.Errorf("applies to %d queues", n)
	}
}

// manyQueues has so many queues and ten policies that match none of them, which cost the most time.
func manyQueues(t testing.TB, n int) *host {
	h := newHost(t)
	for i := range 10 {
		h.policy(fmt.Sprint("other", i), fmt.Sprintf(`^(?!amq\.)x%d`, i), object{"max-length": 3})
	}
	for i := range n {
		h.queue(fmt.Sprint("q", i), transient)
	}
	return h
}

func BenchmarkPolicyFor10000Queues(b *testing.B) {
	h := manyQueues(b, 10_000)
	for i := 0; b.Loop(); i++ {
		h.policy("p", "^q.*[05]$", object{"max-length": i})
	}
}

func TestAppliedIsShared(t *testing.T) {
	h := newHost(t)
	q, r := h.queue("q1"), h.queue("q2")
	if h.PolicyFor(q) != h.PolicyFor(r) {
		t.Error("two queues without a policy have each their own nothing")
	}
	h.policy("p", "q", object{"max-length": 5})
	if h.PolicyFor(q) != h.PolicyFor(r) {
		t.Error("two queues with one policy have each their own")
	}
	if !reflect.DeepEqual(h.PolicyFor(q).Effective, object{"max-length": int64(5)}) {
		t.Errorf("effective %v", h.PolicyFor(q).Effective)
	}
}
