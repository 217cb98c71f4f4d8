package vhost

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"leveret/amqp"
	"leveret/queue"
)

// limits are the numbers that arguments and policies may both set: how two values become one, and where the result is found.
var limits = []struct {
	key      string
	together func(a, b int64) int64
	of       func(queue.Settings) int64
}{
	{"message-ttl", lower, func(s queue.Settings) int64 { return s.TTL }},
	{"expires", lower, func(s queue.Settings) int64 { return s.Expires }},
	{"max-length", lower, func(s queue.Settings) int64 { return s.MaxLength }},
	{"max-length-bytes", lower, func(s queue.Settings) int64 { return s.MaxBytes }},
	{"delivery-limit", finite, func(s queue.Settings) int64 { return s.DeliveryLimit }},
}

func lower(a, b int64) int64 { return min(a, b) }

// finite is lower where a negative number is no limit.
func finite(a, b int64) int64 {
	switch {
	case a < 0 && b < 0:
		return -1
	case a < 0:
		return b
	case b < 0:
		return a
	}
	return min(a, b)
}

// TestLimitsModel sets a limit by argument, policy and operator policy, each or none, and folds what is there.
func TestLimitsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]queueType{classic, quorum}).Draw(t, "kind")
		var arguments amqp.Table
		ordinary, operator := definition{}, definition{}
		want := make([]int64, len(limits))
		for i, l := range limits {
			least := int64(0)
			if l.key == "delivery-limit" {
				least = -1
			}
			value := rapid.Int64Range(least, 4)
			var all []int64
			if rapid.Bool().Draw(t, "argument of "+l.key) {
				n := value.Draw(t, "argument")
				all = append(all, n)
				arguments = append(arguments, amqp.Field{Name: "x-" + l.key, Value: int32(n)})
			}
			for _, d := range []definition{ordinary, operator} {
				if rapid.Bool().Draw(t, "policy of "+l.key) {
					n := value.Draw(t, "policy")
					all = append(all, n)
					d[l.key] = n
				}
			}
			want[i] = -1
			if len(all) == 0 && l.key == "delivery-limit" && kind == quorum {
				want[i] = 20
			}
			for j, n := range all {
				if j == 0 {
					want[i] = n
				} else {
					want[i] = l.together(want[i], n)
				}
			}
		}
		s := wishes{kind, arguments, merge(ordinary, operator)}.settings()
		for i, l := range limits {
			if got := l.of(s); got != want[i] {
				t.Fatalf("%s: %d, want %d; arguments %v, policy %v, operator %v", l.key, got, want[i], arguments, ordinary, operator)
			}
		}
	})
}

// TestMergeModel compares merge with its rule for every key that operator policies may have.
func TestMergeModel(t *testing.T) {
	var keys []string
	for i := range policyKeys {
		if policyKeys[i].operator {
			keys = append(keys, policyKeys[i].name)
		}
	}
	numeric := []string{"message-ttl", "expires", "max-length", "max-length-bytes", "max-in-memory-length", "max-in-memory-bytes",
		"delayed-retry-min", "delayed-retry-max", "default-prefetch"}
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.Int64Range(-1, 3).AsAny(), rapid.SampledFrom([]any{"a", "b", true}))
		draw := func(name string) definition {
			return rapid.MapOf(rapid.SampledFrom(append([]string{"alternate-exchange"}, keys...)), value).Draw(t, name)
		}
		ordinary, operator := draw("ordinary"), draw("operator")
		want := definition{}
		for _, key := range append([]string{"alternate-exchange"}, keys...) {
			mine, has := ordinary[key]
			theirs, also := operator[key]
			a, aOK := mine.(int64)
			b, bOK := theirs.(int64)
			switch {
			case !has && !also:
			case !also:
				want[key] = mine
			case !has || !aOK || !bOK:
				want[key] = theirs
			case slices.Contains(numeric, key):
				want[key] = min(a, b)
			case key == "delivery-limit" && (a < 0 || b < 0), key == "max-prefetch" && (a == 0 || b == 0):
				want[key] = max(a, b)
			case key == "delivery-limit", key == "max-prefetch":
				want[key] = min(a, b)
			default:
				want[key] = theirs
			}
		}
		if got := merge(ordinary, operator); len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// TestPickModel compares the policy that is picked with the best one of those that apply, looked for in no order.
func TestPickModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]queueType{classic, quorum, stream, theExchanges}).Draw(t, "kind")
		name := rapid.SampledFrom([]string{"orders", "amq.topic", "orders.eu"}).Draw(t, "name")
		names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}), 0, 5, rapid.ID).Draw(t, "names")
		var policies []*policy
		var best *policy
		for _, n := range names {
			fields := map[string]any{
				"pattern":    rapid.SampledFrom([]string{"", "^orders", `^(?!amq\.)`, "eu$"}).Draw(t, "pattern"),
				"priority":   rapid.Int64Range(-1, 1).Draw(t, "priority"),
				"apply-to":   rapid.SampledFrom([]string{"all", "queues", "classic_queues", "quorum_queues", "streams", "exchanges"}).Draw(t, "apply-to"),
				"definition": map[string]any{rapid.SampledFrom([]string{"max-length-bytes", "max-length", "max-age", "delivery-limit"}).Draw(t, "key"): int64(1)},
			}
			if d := fields["definition"].(map[string]any); d["max-age"] != nil {
				d["max-age"] = "1h"
			}
			p, err := parsePolicy(n, fields, false)
			if err != nil {
				t.Fatal(err)
			}
			policies = append(policies, p)
			_, unsupported := p.unsupported[kind]
			if !slices.Contains(kindsOf[p.ApplyTo], kind) || !p.pattern.Match(name) || unsupported {
				continue
			}
			if best == nil || p.Priority > best.Priority || p.Priority == best.Priority && p.Name < best.Name {
				best = p
			}
		}
		a := newPolicySet(policies, nil).apply(kind, name)
		want := ""
		if best != nil {
			want = best.Name
		}
		if a.Policy != want || a.Operator != "" || a.Effective == nil {
			t.Fatalf("picked %q, want %q", a.Policy, want)
		}
		for _, s := range a.Skipped {
			if s.Name == want || s.Reason == "" {
				t.Fatalf("skipped %+v, picked %q", s, want)
			}
		}
	})
}
