package vhost_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"leveret/amqp"
	"leveret/vhost"
)

// object is short for what comes out of JSON.
type object = map[string]any

// details are what the error says after its heading.
func details(t *testing.T, err error) string {
	t.Helper()
	var invalid *amqp.ValidationError
	if !errors.As(err, &invalid) {
		t.Fatalf("got %v, not a refusal", err)
	}
	return strings.TrimSuffix(strings.TrimPrefix(err.Error(), "Validation failed\n\n"), "\n")
}

func TestPolicyRefusals(t *testing.T) {
	const kinds = "unrecognised; should be one of: 'queues', 'classic_queues',  'quorum_queues', 'streams', 'exchanges', or 'all'"
	some := object{"max-length": 1.0}
	for _, c := range []struct {
		fields object
		want   string
	}{
		{object{"pattern": "a", "definition": object{}}, "no policy provided"},
		{object{"pattern": "a", "definition": "x"}, `definition must be a dictionary: <<"x">>`},
		{object{"pattern": "a"}, `Key "definition" not found in p`},
		{object{"definition": some}, `Key "pattern" not found in p`},
		{object{"pattern": 5.0, "definition": some}, "pattern should be a binary but was 5"},
		{object{"pattern": "(", "definition": some}, "pattern should be regular expression but is invalid: invalid regular expression: error parsing regexp: missing closing ): `(`"},
		{object{"pattern": "a", "definition": some, "priority": "high"}, `priority should be a number, actually was <<"high">>`},
		{object{"pattern": "a", "definition": some, "apply-to": "foo"}, "apply-to 'foo' " + kinds},
		{object{"pattern": "a", "definition": some, "apply-to": 5}, "apply-to '5' " + kinds},
		{object{"pattern": "a", "definition": object{"foo": 1.0, "bar": "x"}}, `[{<<"bar">>,<<"x">>},{<<"foo">>,1}] are not recognised policy settings`},
		{object{"pattern": "a", "definition": object{"foo": 1.0, "max-length": -1.0}}, "-1 is not a valid maximum length"},
		{object{"pattern": 1.0, "definition": object{}, "apply-to": "x", "priority": true},
			"no policy provided\napply-to 'x' " + kinds + "\npattern should be a binary but was 1\npriority should be a number, actually was true"},
	} {
		if _, err := vhost.PolicyOf("p", c.fields, false); details(t, err) != c.want {
			t.Errorf("%v:\n got %s\nwant %s", c.fields, details(t, err), c.want)
		}
	}
	if _, err := vhost.PolicyOf("", object{"pattern": "a", "definition": some}, false); details(t, err) != "name must not be empty" {
		t.Error(err)
	}
}

// policyValues are each key's good values, then its bad ones with what the text calls it.
var policyValues = []struct {
	key       string
	good, bad []any
	what      string
	operator  bool
}{
	{"alternate-exchange", []any{"", "a"}, []any{1, nil, true}, "alternate exchange name", false},
	{"dead-letter-exchange", []any{"", "a"}, []any{1}, "dead letter exchange name", false},
	{"dead-letter-routing-key", []any{"", "a"}, []any{1.5}, "dead letter routing key", false},
	{"dead-letter-strategy", []any{"at-most-once", "at-least-once"}, []any{"x", 1}, "dead letter strategy", false},
	{"message-ttl", []any{0, 1e12}, []any{-1, "x", 1.5, nil}, "message TTL", true},
	{"expires", []any{3_600_000}, []any{0, -1, "1"}, "queue expiry", true},
	{"max-length", []any{0}, []any{-1, "x"}, "maximum length", true},
	{"max-length-bytes", []any{0}, []any{-1}, "maximum length in bytes", true},
	{"max-in-memory-length", []any{0}, []any{-1}, "maximum memory in bytes", true},
	{"max-in-memory-bytes", []any{0}, []any{-1}, "maximum memory in bytes", true},
	{"overflow", []any{"drop-head", "reject-publish", "reject-publish-dlx"}, []any{"x", 1}, "overflow value", true},
	{"queue-mode", []any{"lazy", "default"}, []any{"x"}, "queue-mode value", false},
	{"queue-version", []any{1, 2}, []any{0, 3, "2"}, "queue-version value", true},
	{"delivery-limit", []any{-1, 0, 5}, []any{"x", 1.5}, "delivery limit", true},
	{"consumer-timeout", []any{0}, []any{-1, "x"}, "consumer timeout", false},
	{"consumer-disconnected-timeout", []any{0}, []any{-1}, "consumer disconnected timeout", false},
	{"delayed-retry-type", []any{"disabled"}, []any{"x", 1}, "delayed retry type", true},
	{"delayed-retry-min", []any{0}, []any{-1}, "delayed retry min", true},
	{"delayed-retry-max", []any{0}, []any{-1}, "delayed retry max", true},
	{"max-age", []any{"1h", "2Y"}, []any{"x", 1, "0h"}, "max age", false},
	{"stream-max-segment-size-bytes", []any{0, 3e9}, []any{3000000001, -1}, "segment size", false},
	{"stream-filter-size-bytes", []any{16, 255}, []any{15, 256, "16"}, "filter size. Valid range is 16-255", false},
	{"queue-leader-locator", []any{"client-local", "balanced", "random", "least-leaders"}, []any{"x"}, "queue leader locator value", false},
	{"initial-cluster-size", []any{0, 3}, []any{-1}, "cluster size", false},
	{"target-group-size", []any{1}, []any{0, -1}, "qq target count value", true},
	{"member-placement-tag", []any{"a"}, []any{"", 1}, "member placement tag", true},
	{"federation-upstream", []any{"a"}, []any{1}, "federation upstream name", false},
	{"federation-upstream-set", []any{"all"}, []any{1}, "federation upstream set name", false},
	{"federation-upstream-pattern", []any{"a"}, []any{1}, "federation upstream pattern name", false},
	{"ha-mode", []any{"all", 1}, nil, "", false},
	{"ha-params", []any{1}, nil, "", false},
	{"ha-sync-mode", []any{"automatic"}, nil, "", false},
	{"ha-sync-batch-size", []any{1}, nil, "", false},
	{"ha-promote-on-shutdown", []any{"always"}, nil, "", false},
	{"ha-promote-on-failure", []any{"always"}, nil, "", false},
	{"queue-master-locator", []any{"min-masters"}, nil, "", false},
	{"delayed-message", []any{true}, []any{1, "true"}, "delayed-message value", false},
	{"expire-anywhere", []any{true, false}, []any{1}, "expire-anywhere value", false},
	{"delayed-retry-multiplier", []any{1, 1.5}, []any{0.5, "x", 1001}, "delayed retry multiplier", false},
	{"delayed-retry-jitter", []any{0, 0.5, 1}, []any{-0.1, 1.1}, "delayed retry jitter", false},
	{"delivery-limit-counts", []any{"failed", "returns"}, []any{"x"}, "delivery-limit-counts value", false},
	{"dispatch", []any{"round-robin", "least-unacked"}, []any{"x"}, "dispatch value", false},
	{"default-prefetch", []any{0, 65535}, []any{-1, 65536}, "prefetch", true},
	{"max-prefetch", []any{0, 65535}, []any{65536}, "prefetch", true},
	{"priority-max-burst", []any{1}, []any{0}, "priority burst", false},
	{"priority-aging", []any{1}, []any{0}, "priority aging", false},
}

func TestPolicyValues(t *testing.T) {
	of := func(key string, value any, operator bool) error {
		_, err := vhost.PolicyOf("p", object{"pattern": "a", "definition": object{key: value}}, operator)
		return err
	}
	for _, c := range policyValues {
		for _, value := range c.good {
			if err := of(c.key, value, false); err != nil {
				t.Errorf("%s %v: %v", c.key, value, err)
			}
			switch err := of(c.key, value, true); {
			case c.operator && err != nil:
				t.Errorf("%s %v for operators: %v", c.key, value, err)
			case !c.operator && !strings.HasSuffix(details(t, err), "are not recognised policy settings"):
				t.Errorf("%s %v for operators: %v", c.key, value, err)
			}
		}
		for _, value := range c.bad {
			if err := of(c.key, value, false); !strings.HasSuffix(details(t, err), " is not a valid "+c.what) {
				t.Errorf("%s %v: %v", c.key, value, err)
			}
		}
	}
	foreign := object{"max-priority": 5, "single-active-consumer": true, "queue-type": "quorum", "durable": true}
	for key, value := range foreign {
		if err := of(key, value, false); !strings.HasSuffix(details(t, err), "are not recognised policy settings") {
			t.Errorf("%s: %v", key, err)
		}
	}
	together := map[string]object{
		"delayed-retry-min is required when delayed-retry-type is all":                                        {"delayed-retry-type": "all"},
		"delayed-retry-max (5) must not be smaller than delayed-retry-min (6)":                                {"delayed-retry-max": 5, "delayed-retry-min": 6},
		"cannot specify federation-upstream, federation-upstream-set or federation-upstream-pattern together": {"federation-upstream": "a", "federation-upstream-set": "b"},
	}
	for want, definition := range together {
		if _, err := vhost.PolicyOf("p", object{"pattern": "a", "definition": definition}, false); details(t, err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestPoliciesAreListed(t *testing.T) {
	h := newHost(t)
	definition := object{"max-length": 5, "dead-letter-exchange": "d"}
	for i, name := range []string{"b", "a"} {
		if created, err := h.SetPolicy(vhost.Policy{Name: name, Pattern: "^a", Priority: i, Definition: definition}); !created || err != nil {
			t.Fatalf("created %t, %v", created, err)
		}
	}
	if created, err := h.SetPolicy(vhost.Policy{Name: "a", Pattern: "^b", ApplyTo: "queues", Priority: -3, Definition: object{"expires": 7.0}}); created || err != nil {
		t.Fatalf("created %t, %v", created, err)
	}
	if _, err := h.SetOperatorPolicy(vhost.Policy{Name: "o", Pattern: "", Definition: object{"max-length": 3}}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.SetPolicy(vhost.Policy{Name: "bad", Pattern: "", Definition: object{"x": 3}}); err == nil {
		t.Error("a bad policy was taken")
	}
	check := func(h *host) {
		t.Helper()
		want := []vhost.Policy{
			{Name: "a", Pattern: "^b", ApplyTo: "queues", Priority: -3, Definition: object{"expires": int64(7)}},
			{Name: "b", Pattern: "^a", ApplyTo: "all", Definition: object{"max-length": int64(5), "dead-letter-exchange": "d"}},
		}
		if got := h.Policies(); !reflect.DeepEqual(got, want) {
			t.Errorf("policies\n got %v\nwant %v", got, want)
		}
		want = []vhost.Policy{{Name: "o", ApplyTo: "all", Definition: object{"max-length": int64(3)}}}
		if got := h.OperatorPolicies(); !reflect.DeepEqual(got, want) {
			t.Errorf("operator policies\n got %v\nwant %v", got, want)
		}
	}
	check(h)
	h = h.restart()
	check(h)
	definition["max-length"] = 7 // the caller's own
	check(h)
	for name, want := range map[string]bool{"a": true, "none": false} {
		if found, err := h.ClearPolicy(name); found != want || err != nil {
			t.Errorf("clearing %s: %t, %v", name, found, err)
		}
	}
	if found, err := h.ClearOperatorPolicy("o"); !found || err != nil {
		t.Errorf("found %t, %v", found, err)
	}
	if h = h.restart(); len(h.Policies()) != 1 || len(h.OperatorPolicies()) != 0 {
		t.Errorf("left over: %v, %v", h.Policies(), h.OperatorPolicies())
	}
}

func TestPolicyIsDurableOrNotThere(t *testing.T) {
	h := newHost(t)
	q := h.queue("q")
	h.policy("p", "q", object{"max-length": 5})
	h.disk.broken = errors.New("disk on fire")
	if _, err := h.SetPolicy(vhost.Policy{Name: "p", Pattern: "q", Definition: object{"max-length": 3}}); !errors.Is(err, h.disk.broken) {
		t.Errorf("got %v", err)
	}
	if found, err := h.ClearPolicy("p"); found || !errors.Is(err, h.disk.broken) {
		t.Errorf("found %t, %v", found, err)
	}
	if got := q.Settings().MaxLength; got != 5 {
		t.Errorf("a change that failed is in force: %d", got)
	}
}

// policy sets an ordinary policy for all kinds.
func (h *host) policy(name, pattern string, definition object, change ...func(*vhost.Policy)) {
	h.t.Helper()
	p := vhost.Policy{Name: name, Pattern: pattern, Definition: definition}
	for _, c := range change {
		c(&p)
	}
	if _, err := h.SetPolicy(p); err != nil {
		h.t.Fatalf("policy %q: %v", name, err)
	}
}

func (h *host) operatorPolicy(name, pattern string, definition object) {
	h.t.Helper()
	if _, err := h.SetOperatorPolicy(vhost.Policy{Name: name, Pattern: pattern, Definition: definition}); err != nil {
		h.t.Fatalf("operator policy %q: %v", name, err)
	}
}

func priority(n int) func(*vhost.Policy)       { return func(p *vhost.Policy) { p.Priority = n } }
func applyTo(kinds string) func(*vhost.Policy) { return func(p *vhost.Policy) { p.ApplyTo = kinds } }

func TestPolicyKeysOfATable(t *testing.T) {
	seen := make(map[string]bool)
	for _, c := range policyValues {
		if seen[c.key] {
			t.Errorf("%s stands here twice", c.key)
		}
		seen[c.key] = true
	}
	for _, key := range vhost.PolicyKeys() {
		if !seen[key] {
			t.Errorf("%s is not tested", key)
		}
	}
	if len(seen) != len(vhost.PolicyKeys()) {
		t.Error(fmt.Sprint(len(seen), " keys are tested of ", len(vhost.PolicyKeys())))
	}
}
