package vhost

import (
	"leveret/amqp"
	"leveret/queue"
)

// quorumDeliveryLimit is how many failed deliveries a message in a quorum queue survives, if nobody says otherwise.
const quorumDeliveryLimit = 20

// wishes are what a queue's arguments and the policies that apply to it say. A key of the policies is that of the argument without the "x-".
type wishes struct {
	kind      queueType
	arguments amqp.Table
	policy    definition // of both policies, merged
}

// settings is what the queue makes of them. Arguments were checked when the queue was declared, and policies when they were set; those of
// delivery limit and retry alone may have any value, and one that makes no sense counts as absent.
func (w wishes) settings() queue.Settings {
	s := queue.DefaultSettings()
	s.TTL = w.lowest("message-ttl")
	s.Expires = w.lowest("expires")
	s.MaxLength = w.lowest("max-length")
	s.MaxBytes = w.lowest("max-length-bytes")
	s.Overflow = w.overflow()
	w.deadLetters(&s)
	w.returns(&s)
	w.consumers(&s)
	s.ExpireAnywhere = preferred[bool](w, "expire-anywhere")
	s.PriorityMaxBurst = int(max(0, w.own("priority-max-burst")))
	s.PriorityAging = max(0, w.own("priority-aging"))
	return s
}

// overflow is what a queue does that is full. A policy's wish comes before an argument's for quorum queues alone, as in
// RabbitMQ.
func (w wishes) overflow() queue.Overflow {
	s := preferred[string](w, "overflow")
	if value, ok := w.policy["overflow"].(string); ok && w.kind == quorum {
		s = value
	}
	switch s {
	case "reject-publish":
		return queue.RejectPublish
	case "reject-publish-dlx":
		if w.kind != quorum { // which do not have it
			return queue.RejectPublishDLX
		}
	}
	return queue.DropHead
}

// deadLetters reads where dead messages go. At-least-once holds nothing up where messages may be dropped, so it needs reject-publish.
func (w wishes) deadLetters(s *queue.Settings) {
	s.DeadLetterExchange, s.DeadLetter = w.text("dead-letter-exchange")
	if !s.DeadLetter {
		return
	}
	s.DeadLetterKey, s.HasDeadLetterKey = w.text("dead-letter-routing-key")
	s.AtLeastOnce = w.wantsAtLeastOnce() && s.Overflow == queue.RejectPublish
}

// wantsAtLeastOnce tells whether dead letters stay until their target has them; whether they can depends on more.
func (w wishes) wantsAtLeastOnce() bool {
	return preferred[string](w, "dead-letter-strategy") == "at-least-once"
}

// returns reads what becomes of messages that come back.
func (w wishes) returns(s *queue.Settings) {
	s.DeliveryLimit = w.deliveryLimit()
	if w.kind == quorum {
		s.CountReturns = queue.CountFailed
	}
	if c := preferred[string](w, "delivery-limit-counts"); c != "" {
		s.CountReturns = queue.Counting(c)
	}
	s.RetryMin, s.RetryMax = w.lowest("delayed-retry-min"), w.lowest("delayed-retry-max")
	if s.RetryMin < 0 {
		s.RetryMin, s.RetryMax = -1, -1
		return // a wait has to begin with something
	}
	if s.RetryMax < 0 {
		s.RetryMax = s.RetryMin
	}
	s.RetryType = w.retryType()
	s.RetryMultiplier = w.number("delayed-retry-multiplier")
	s.RetryJitter = w.number("delayed-retry-jitter")
}

// deliveryLimit is the lower of the two that were asked for; -1 is none.
func (w wishes) deliveryLimit() int64 {
	argument, hasArgument := integerIn(w.arguments, "x-delivery-limit")
	value, hasPolicy := w.policy["delivery-limit"].(int64)
	limit := int64(-1)
	switch {
	case hasArgument && hasPolicy:
		limit = lowerLimit(argument, value)
	case hasArgument:
		limit = argument
	case hasPolicy:
		limit = value
	case w.kind == quorum:
		limit = quorumDeliveryLimit
	}
	return max(-1, limit)
}

// retryType is for which messages a delay holds that come back.
func (w wishes) retryType() queue.Retry {
	s := preferred[string](w, "delayed-retry-type")
	if value, ok := w.policy["delayed-retry-type"].(string); ok {
		s = value
	}
	switch s {
	case "all":
		return queue.RetryAll
	case "failed":
		return queue.RetryFailed
	case "returned":
		return queue.RetryReturned
	}
	return queue.RetryDisabled
}

// consumers reads what holds for each consumer. A timeout or prefetch of 0 is no limit, and so not the lower one.
func (w wishes) consumers(s *queue.Settings) {
	s.ConsumerTimeout = w.lowestUnlessZero("consumer-timeout")
	s.MaxPrefetch = int(max(0, w.lowestUnlessZero("max-prefetch")))
	s.DefaultPrefetch = int(max(0, w.own("default-prefetch")))
	if preferred[string](w, "dispatch") == dispatchLeastUnacked {
		s.Dispatch = queue.LeastUnacked
	}
}

// lowest is the lower one of two limits, -1 when there is none.
func (w wishes) lowest(key string) int64 {
	argument, hasArgument := integerIn(w.arguments, "x-"+key)
	value, hasPolicy := w.policy[key].(int64)
	hasArgument, hasPolicy = hasArgument && argument >= 0, hasPolicy && value >= 0
	switch {
	case w.kind == stream && hasPolicy:
		return value // of streams the policy wins
	case hasArgument && hasPolicy:
		return min(argument, value)
	case hasArgument:
		return argument
	case hasPolicy:
		return value
	}
	return -1
}

// lowestUnlessZero is lowest where 0 is no limit.
func (w wishes) lowestUnlessZero(key string) int64 {
	argument, hasArgument := integerIn(w.arguments, "x-"+key)
	value, hasPolicy := w.policy[key].(int64)
	if hasArgument && hasPolicy && min(argument, value) == 0 {
		return max(argument, value)
	}
	return w.lowest(key)
}

// own is the argument's value, or else the policy's, or else -1.
func (w wishes) own(key string) int64 {
	if n, ok := integerIn(w.arguments, "x-"+key); ok {
		return n
	}
	if n, ok := w.policy[key].(int64); ok {
		return n
	}
	return -1
}

// number is own for what need not be an integer, or else 0.
func (w wishes) number(key string) float64 {
	if value, ok := w.arguments.Get("x-" + key); ok {
		n, _ := numberOf(value)
		return n
	}
	n, _ := numberOf(w.policy[key])
	return n
}

// text is own for strings, and whether there is one.
func (w wishes) text(key string) (string, bool) {
	if value, ok := w.arguments.Get("x-" + key); ok {
		s, ok := value.(string)
		return s, ok
	}
	s, ok := w.policy[key].(string)
	return s, ok
}

// preferred is own for values of any type, or else the zero value.
func preferred[T any](w wishes, key string) T {
	value, ok := w.arguments.Get("x-" + key)
	if !ok {
		value = w.policy[key]
	}
	v, _ := value.(T)
	return v
}
