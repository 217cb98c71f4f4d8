package vhost

import (
	"slices"
	"strings"

	"leveret/amqp"
	"leveret/queue"
)

// Arguments that are ours. RabbitMQ stores what it does not know, to no effect, so the same declare works there; and as there, they are
// not compared when the queue is declared again.
const (
	argExpireAnywhere  = "x-expire-anywhere"
	argRetryMultiplier = "x-delayed-retry-multiplier"
	argRetryJitter     = "x-delayed-retry-jitter"
	argLimitCounts     = "x-delivery-limit-counts"
	argDispatch        = "x-dispatch"
	argDefaultPrefetch = "x-default-prefetch"
	argMaxPrefetch     = "x-max-prefetch"
	argMaxBurst        = "x-priority-max-burst"
	argAging           = "x-priority-aging"
	argGroupBy         = "x-group-by"
	argFairBy          = "x-fair-by"
	argDeduplicate     = "x-message-deduplication"
	argCacheSize       = "x-cache-size"
	argCacheTTL        = "x-cache-ttl"
	argCacheHeader     = "x-deduplication-header"
)

const (
	maxPrefetch      = 65535 // the largest that basic.qos can ask for
	maxCacheSize     = 10_000_000
	defaultCacheSize = 128
)

// extensions are our arguments, which queues of any type take.
var extensions = []argument{
	{name: argExpireAnywhere, check: boolean},
	{name: argRetryMultiplier, check: number(1, maxMultiplier)},
	{name: argRetryJitter, check: number(0, 1)},
	{name: argLimitCounts, check: text(amqp.ReasonCounting, string(queue.CountFailed), string(queue.CountEvery))},
	{name: argDispatch, check: text(amqp.ReasonDispatch, dispatchRoundRobin, dispatchLeastUnacked)},
	{name: argDefaultPrefetch, check: integer(0, maxPrefetch, maxExceeded)},
	{name: argMaxPrefetch, check: integer(0, maxPrefetch, maxExceeded)},
	{name: argMaxBurst, check: integer(1, noLimit, nil)},
	{name: argAging, check: integer(1, tenYears, tooLarge)},
	{name: argGroupBy, check: checkKeying},
	{name: argFairBy, check: checkKeying},
	{name: argDeduplicate, check: boolean},
	{name: argCacheSize, check: integer(1, maxCacheSize, maxExceeded)},
	{name: argCacheTTL, check: integer(1, tenYears, tooLarge)},
	{name: argCacheHeader, check: text("")},
}

// maxMultiplier is far more than anybody wants: ten waits later the longest wait that can be asked for is over ten years.
const maxMultiplier = 1000

// Values of x-dispatch.
const (
	dispatchRoundRobin   = "round-robin"
	dispatchLeastUnacked = "least-unacked"
)

// validateExtensions checks our arguments of a new queue, each by itself and then what they ask for together.
func validateExtensions(r amqp.Resource, kind queueType, t amqp.Table) error {
	for i := range extensions {
		a := &extensions[i]
		if value, ok := t.Get(a.name); ok {
			if err := a.check(r, a.name, value); err != nil {
				return err
			}
		}
	}
	has := func(name string) bool {
		_, ok := t.Get(name)
		return ok
	}
	// Each of these says which message is next, and a queue has one rule for that.
	rules := slices.DeleteFunc([]string{argMaxPriority, argFairBy, argGroupBy}, func(name string) bool { return !has(name) })
	if len(rules) > 1 {
		return amqp.InvalidArgument(rules[1], r, amqp.ReasonCombined(rules[0]))
	}
	for _, name := range []string{argMaxBurst, argAging} {
		if has(name) && !has(argMaxPriority) && kind != quorum {
			return amqp.InvalidArgument(name, r, amqp.ReasonAlone(argMaxPriority))
		}
	}
	return nil
}

// number checks for a number of any type from least to most.
func number(least, most float64) func(amqp.Resource, string, any) error {
	return func(r amqp.Resource, name string, value any) error {
		if n, ok := numberOf(value); !ok || n < least || n > most {
			return amqp.InvalidArgument(name, r, amqp.ReasonNumber(value, least, most))
		}
		return nil
	}
}

// numberOf is the value of a number; NaN is none.
func numberOf(value any) (float64, bool) {
	n, ok := amqp.Number(value)
	return n, ok && n == n
}

// checkKeying takes what says where in a message its key stands, header:NAME for one.
func checkKeying(r amqp.Resource, name string, value any) error {
	s, ok := value.(string)
	if !ok {
		return amqp.InvalidArgument(name, r, amqp.ReasonType(value))
	}
	if _, ok := parseKeying(s); !ok {
		return amqp.InvalidArgument(name, r, amqp.ReasonKeying)
	}
	return nil
}

// keyProperties are the properties that messages may be told apart by, and the routing key with them.
var keyProperties = []string{
	"routing-key", "correlation-id", "message-id", "reply-to", "type", "app-id", "user-id", "content-type", "content-encoding",
}

// parseKeying reads what x-group-by and x-fair-by say: header:NAME, a property, user or connection.
func parseKeying(s string) (queue.Keying, bool) {
	if name, ok := strings.CutPrefix(s, "header:"); ok {
		return queue.Keying{Source: queue.ByHeader, Name: name}, name != ""
	}
	switch s {
	case "user":
		return queue.Keying{Source: queue.ByUser}, true
	case "connection":
		return queue.Keying{Source: queue.ByConnection}, true
	}
	s = strings.ReplaceAll(s, "_", "-") // clients' libraries spell properties in both ways
	if !slices.Contains(keyProperties, s) {
		return queue.Keying{}, false
	}
	return queue.Keying{Source: queue.ByProperty, Name: s}, true
}

// fixed fills in what a queue has by its arguments for good.
func fixed(opts *queue.Options, kind queueType) {
	t := opts.Arguments
	opts.Quorum = kind == quorum
	opts.SingleActiveConsumer = get[bool](t, argSingleActiveConsumer)
	if value, ok := t.Get(argMaxPriority); ok {
		n, _ := amqp.Integer(value)
		opts.MaxPriority = int(max(1, n))
	}
	opts.FairBy, _ = parseKeying(get[string](t, argFairBy))
	opts.GroupBy, _ = parseKeying(get[string](t, argGroupBy))
	opts.Deduplication = deduplication(t)
}

// deduplication reads the arguments of LavinMQ's and of the plugin of that name.
func deduplication(t amqp.Table) queue.Deduplication {
	if !get[bool](t, argDeduplicate) {
		return queue.Deduplication{}
	}
	d := queue.Deduplication{Enabled: true, Header: get[string](t, argCacheHeader), Size: defaultCacheSize}
	if d.Header == "" {
		d.Header = argCacheHeader
	}
	if n, ok := integerIn(t, argCacheSize); ok {
		d.Size = int(n)
	}
	d.TTL, _ = integerIn(t, argCacheTTL)
	return d
}

// integerIn is an integer of any width in a table.
func integerIn(t amqp.Table, name string) (int64, bool) {
	value, ok := t.Get(name)
	if !ok {
		return 0, false
	}
	return amqp.Integer(value)
}
