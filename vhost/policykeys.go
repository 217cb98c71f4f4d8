package vhost

import (
	"slices"

	"leveret/amqp"
	"leveret/queue"
)

// policyKey is a key that the definition of a policy may have.
type policyKey struct {
	name  string
	what  string // its value is, in the text about one that is not
	valid func(value any) bool
	// operator says that operator policies may have it too: those that set limits.
	operator bool
	// unsupported are the types of queues that pass over a policy with this key as a whole. An exchange passes over none.
	unsupported []queueType
}

// policyKeys are all that there are: RabbitMQ's, then ours.
var policyKeys = []policyKey{
	{name: "alternate-exchange", what: "alternate exchange name", valid: isText},
	{name: "dead-letter-exchange", what: "dead letter exchange name", valid: isText, unsupported: onStream},
	{name: "dead-letter-routing-key", what: "dead letter routing key", valid: isText, unsupported: onStream},
	{name: "dead-letter-strategy", what: "dead letter strategy", valid: oneOf("at-most-once", "at-least-once"), unsupported: butQuorum},
	{name: "message-ttl", what: "message TTL", valid: between(0, noLimit), operator: true, unsupported: onStream},
	{name: "expires", what: "queue expiry", valid: between(1, noLimit), operator: true, unsupported: onStream},
	{name: "max-length", what: "maximum length", valid: between(0, noLimit), operator: true, unsupported: onStream},
	{name: "max-length-bytes", what: "maximum length in bytes", valid: between(0, noLimit), operator: true},
	{name: "overflow", what: "overflow value", valid: oneOf("drop-head", "reject-publish", "reject-publish-dlx"), operator: true, unsupported: onStream},
	{name: "max-in-memory-length", what: "maximum memory in bytes", valid: between(0, noLimit), operator: true, unsupported: butQuorum},
	{name: "max-in-memory-bytes", what: "maximum memory in bytes", valid: between(0, noLimit), operator: true, unsupported: butQuorum},
	{name: "queue-mode", what: "queue-mode value", valid: oneOf("default", "lazy"), unsupported: butClassic},
	{name: "queue-version", what: "queue-version value", valid: between(1, 2), operator: true},
	{name: "delivery-limit", what: "delivery limit", valid: between(-noLimit-1, noLimit), operator: true, unsupported: butQuorum},
	{name: "consumer-timeout", what: "consumer timeout", valid: between(0, noLimit)},
	{name: "consumer-disconnected-timeout", what: "consumer disconnected timeout", valid: between(0, noLimit)},
	{name: "delayed-retry-type", what: "delayed retry type", valid: oneOf("disabled", "all", "failed", "returned"), operator: true},
	{name: "delayed-retry-min", what: "delayed retry min", valid: between(0, noLimit), operator: true},
	{name: "delayed-retry-max", what: "delayed retry max", valid: between(0, noLimit), operator: true},
	{name: "max-age", what: "max age", valid: isAge, unsupported: butStream},
	{name: "stream-max-segment-size-bytes", what: "segment size", valid: between(0, 3_000_000_000), unsupported: butStream},
	{name: "stream-filter-size-bytes", what: "filter size. Valid range is 16-255", valid: between(16, 255)},
	{name: "queue-leader-locator", what: "queue leader locator value", valid: oneOf("client-local", "balanced", "random", "least-leaders")},
	{name: "initial-cluster-size", what: "cluster size", valid: between(0, noLimit), unsupported: butStream},
	{name: "target-group-size", what: "qq target count value", valid: between(1, noLimit), operator: true, unsupported: butQuorum},
	{name: "member-placement-tag", what: "member placement tag", valid: isName, operator: true},
	{name: "federation-upstream", what: "federation upstream name", valid: isText},
	{name: "federation-upstream-set", what: "federation upstream set name", valid: isText},
	{name: "federation-upstream-pattern", what: "federation upstream pattern name", valid: isText},

	{name: "ha-mode", valid: anyValue, unsupported: butClassic},
	{name: "ha-params", valid: anyValue, unsupported: butClassic},
	{name: "ha-sync-mode", valid: anyValue, unsupported: butClassic},
	{name: "ha-sync-batch-size", valid: anyValue, unsupported: butClassic},
	{name: "ha-promote-on-shutdown", valid: anyValue, unsupported: butClassic},
	{name: "ha-promote-on-failure", valid: anyValue, unsupported: butClassic},
	{name: "queue-master-locator", valid: anyValue, unsupported: butClassic},

	{name: "delayed-message", what: "delayed-message value", valid: isBoolean},
	{name: "expire-anywhere", what: "expire-anywhere value", valid: isBoolean, unsupported: onStream},
	{name: "delayed-retry-multiplier", what: "delayed retry multiplier", valid: numberBetween(1, maxMultiplier), unsupported: onStream},
	{name: "delayed-retry-jitter", what: "delayed retry jitter", valid: numberBetween(0, 1), unsupported: onStream},
	{name: "delivery-limit-counts", what: "delivery-limit-counts value", valid: oneOf(string(queue.CountFailed), string(queue.CountEvery)), unsupported: onStream},
	{name: "dispatch", what: "dispatch value", valid: oneOf(dispatchRoundRobin, dispatchLeastUnacked), unsupported: onStream},
	{name: "default-prefetch", what: "prefetch", valid: between(0, maxPrefetch), operator: true, unsupported: onStream},
	{name: "max-prefetch", what: "prefetch", valid: between(0, maxPrefetch), operator: true, unsupported: onStream},
	{name: "priority-max-burst", what: "priority burst", valid: between(1, noLimit), unsupported: onStream},
	{name: "priority-aging", what: "priority aging", valid: between(1, tenYears), unsupported: onStream},
}

// outdated are keys of RabbitMQ before 4.0 that old definitions have. They are taken, so that such files can be imported, to no effect.
var outdated = []string{
	"ha-mode", "ha-params", "ha-sync-mode", "ha-sync-batch-size", "ha-promote-on-shutdown", "ha-promote-on-failure", "queue-master-locator",
}

var (
	butClassic = []queueType{quorum, stream}
	butQuorum  = []queueType{classic, stream}
	butStream  = []queueType{classic, quorum}
)

// policyKeyOf finds a key by its name, nil when there is none.
func policyKeyOf(name string) *policyKey {
	if i := slices.IndexFunc(policyKeys, func(k policyKey) bool { return k.name == name }); i >= 0 {
		return &policyKeys[i]
	}
	return nil
}

// The checks of values of a policy's keys follow. JSON's numbers are int64 here where they are whole.
func anyValue(any) bool { return true }

func isText(value any) bool {
	_, ok := value.(string)
	return ok
}

// isName is for names of exchanges and queues that can't be empty.
func isName(value any) bool {
	s, ok := value.(string)
	return ok && s != ""
}

func isBoolean(value any) bool {
	_, ok := value.(bool)
	return ok
}

// isAge is for lengths of time with a unit: 7D, 12h.
func isAge(value any) bool {
	s, _ := value.(string)
	_, ok := parseAge(s)
	return ok
}

// oneOf takes a few words.
func oneOf(accepted ...string) func(any) bool {
	return func(value any) bool {
		s, ok := value.(string)
		return ok && slices.Contains(accepted, s)
	}
}

// between takes whole numbers, both bounds included.
func between(least, most int64) func(any) bool {
	return func(value any) bool {
		n, ok := value.(int64)
		return ok && n >= least && n <= most
	}
}

// numberBetween takes fractions too.
func numberBetween(least, most float64) func(any) bool {
	return func(value any) bool {
		n, ok := numberOf(value)
		return ok && n >= least && n <= most
	}
}

// check returns what is wrong with a definition, empty if nothing is. A wrong value of a key that exists goes before keys that do not.
func (d definition) check(operator bool) string {
	if len(d) == 0 {
		return amqp.DetailNoPolicy
	}
	known := 0
	for i := range policyKeys {
		k := &policyKeys[i]
		value, ok := d[k.name]
		if !ok || operator && !k.operator {
			continue
		}
		known++
		if !k.valid(value) {
			return amqp.DetailValue(value, k.what)
		}
	}
	if known < len(d) {
		unknown := make(map[string]any)
		for name, value := range d {
			if k := policyKeyOf(name); k == nil || operator && !k.operator {
				unknown[name] = value
			}
		}
		return amqp.DetailSettings(unknown)
	}
	return d.checkTogether()
}

// checkTogether is check for what depends on several keys; each of them is valid.
func (d definition) checkTogether() string {
	shortest, hasMin := d["delayed-retry-min"].(int64)
	longest, hasMax := d["delayed-retry-max"].(int64)
	if kind, ok := d["delayed-retry-type"].(string); ok && kind != "disabled" && !hasMin {
		return amqp.DetailRetryMin(kind)
	}
	if hasMin && hasMax && longest < shortest {
		return amqp.DetailRetryMax(longest, shortest)
	}
	upstreams := 0
	for _, name := range []string{"federation-upstream", "federation-upstream-set", "federation-upstream-pattern"} {
		if _, ok := d[name]; ok {
			upstreams++
		}
	}
	if upstreams > 1 {
		return amqp.DetailFederationTwice
	}
	return ""
}
