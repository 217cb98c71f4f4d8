package vhost

import (
	"testing"

	"leveret/amqp"
	"leveret/queue"
)

func wish(name string, value any) amqp.Field { return amqp.Field{Name: name, Value: value} }

// TestSettings compares settings with those of a queue that nobody said anything about, changed.
func TestSettings(t *testing.T) {
	type change = func(*queue.Settings)
	limit := func(n int64) change { return func(s *queue.Settings) { s.DeliveryLimit = n } }
	for _, c := range []struct {
		name      string
		kind      queueType
		arguments amqp.Table
		policy    definition
		want      change
	}{
		{"nothing", classic, nil, nil, func(*queue.Settings) {}},
		{"nothing, quorum", quorum, nil, nil, limit(20)},
		{"limits by argument", classic, amqp.Table{
			wish("x-message-ttl", int32(0)), wish("x-expires", int16(5)), wish("x-max-length", uint8(7)), wish("x-max-length-bytes", int64(9)),
		}, nil, func(s *queue.Settings) { s.TTL, s.Expires, s.MaxLength, s.MaxBytes = 0, 5, 7, 9 }},
		{"the lower limit, either side", classic, amqp.Table{wish("x-message-ttl", int32(5)), wish("x-max-length", int32(9))},
			definition{"message-ttl": int64(7), "max-length": int64(0), "expires": int64(3)},
			func(s *queue.Settings) { s.TTL, s.MaxLength, s.Expires = 5, 0, 3 }},
		{"of streams the policy's", stream, amqp.Table{wish("x-max-length-bytes", int32(5))}, definition{"max-length-bytes": int64(9)},
			func(s *queue.Settings) { s.MaxBytes = 9 }},
		{"overflow of classic: the argument", classic, amqp.Table{wish("x-overflow", "reject-publish-dlx")}, definition{"overflow": "drop-head"},
			func(s *queue.Settings) { s.Overflow = queue.RejectPublishDLX }},
		{"overflow of quorum: the policy", quorum, amqp.Table{wish("x-overflow", "drop-head")}, definition{"overflow": "reject-publish"},
			func(s *queue.Settings) { s.Overflow, s.DeliveryLimit = queue.RejectPublish, 20 }},
		{"quorum has no reject-publish-dlx", quorum, amqp.Table{wish("x-overflow", "reject-publish-dlx")}, nil, limit(20)},
		{"dead letters: the argument, each by itself", classic, amqp.Table{wish("x-dead-letter-exchange", "")},
			definition{"dead-letter-exchange": "d", "dead-letter-routing-key": "k"},
			func(s *queue.Settings) { s.DeadLetter, s.HasDeadLetterKey, s.DeadLetterKey = true, true, "k" }},
		{"a key for dead letters that go nowhere", classic, nil, definition{"dead-letter-routing-key": "k"}, func(*queue.Settings) {}},
		{"at least once", quorum, amqp.Table{wish("x-dead-letter-exchange", "d"), wish("x-dead-letter-strategy", "at-least-once")},
			definition{"overflow": "reject-publish"}, func(s *queue.Settings) {
				s.DeadLetter, s.DeadLetterExchange, s.AtLeastOnce, s.Overflow, s.DeliveryLimit = true, "d", true, queue.RejectPublish, 20
			}},
		{"at least once needs reject-publish", classic, amqp.Table{wish("x-dead-letter-exchange", "d"), wish("x-dead-letter-strategy", "at-least-once")},
			nil, func(s *queue.Settings) { s.DeadLetter, s.DeadLetterExchange = true, "d" }},
		{"delivery limit, lower", quorum, amqp.Table{wish("x-delivery-limit", int32(9))}, definition{"delivery-limit": int64(5)}, limit(5)},
		{"delivery limit, none gives way", quorum, amqp.Table{wish("x-delivery-limit", int32(-1))}, definition{"delivery-limit": int64(50)}, limit(50)},
		{"delivery limit, none twice", quorum, amqp.Table{wish("x-delivery-limit", int32(-1))}, definition{"delivery-limit": int64(-5)}, limit(-1)},
		{"delivery limit that is no number", quorum, amqp.Table{wish("x-delivery-limit", "many")}, nil, limit(20)},
		{"delivery limit on classic", classic, amqp.Table{wish("x-delivery-limit", int32(3))}, nil, limit(3)},
		{"what counts", quorum, amqp.Table{wish("x-delivery-limit-counts", "returns")}, nil,
			func(s *queue.Settings) { s.DeliveryLimit, s.CountReturns = 20, queue.CountEvery }},
		{"what counts, by policy", classic, nil, definition{"delivery-limit-counts": "failed"}, func(s *queue.Settings) { s.CountReturns = queue.CountFailed }},
		{"retry", classic, amqp.Table{wish("x-delayed-retry-type", "failed"), wish("x-delayed-retry-min", int32(10)),
			wish("x-delayed-retry-multiplier", int32(2)), wish("x-delayed-retry-jitter", amqp.Decimal{Scale: 2, Value: 50})},
			definition{"delayed-retry-type": "all", "delayed-retry-min": int64(5), "delayed-retry-max": int64(50), "delayed-retry-multiplier": 3.5},
			func(s *queue.Settings) {
				s.RetryType, s.RetryMin, s.RetryMax, s.RetryMultiplier, s.RetryJitter = queue.RetryAll, 5, 50, 2, 0.5
			}},
		{"retry that never grows", quorum, amqp.Table{wish("x-delayed-retry-type", "returned"), wish("x-delayed-retry-min", int32(10))}, nil,
			func(s *queue.Settings) {
				s.RetryType, s.RetryMin, s.RetryMax, s.DeliveryLimit = queue.RetryReturned, 10, 10, 20
			}},
		{"retry without a wait", classic, amqp.Table{wish("x-delayed-retry-type", "all"), wish("x-delayed-retry-min", "x"), wish("x-delayed-retry-max", int32(5))},
			nil, func(*queue.Settings) {}},
		{"retry switched off by policy", classic, amqp.Table{wish("x-delayed-retry-type", "all"), wish("x-delayed-retry-min", int32(1))},
			definition{"delayed-retry-type": "disabled"}, func(s *queue.Settings) { s.RetryMin, s.RetryMax = 1, 1 }},
		{"consumers", classic, amqp.Table{wish("x-consumer-timeout", int32(0)), wish("x-max-prefetch", int32(100)), wish("x-default-prefetch", int32(10)),
			wish("x-dispatch", "least-unacked")}, definition{"consumer-timeout": int64(500), "max-prefetch": int64(0), "default-prefetch": int64(5), "dispatch": "round-robin"},
			func(s *queue.Settings) {
				s.ConsumerTimeout, s.MaxPrefetch, s.DefaultPrefetch, s.Dispatch = 500, 100, 10, queue.LeastUnacked
			}},
		{"a timeout of 0 on one side is none", classic, nil, definition{"consumer-timeout": int64(0)}, func(s *queue.Settings) { s.ConsumerTimeout = 0 }},
		{"the rest", classic, amqp.Table{wish("x-expire-anywhere", true), wish("x-priority-max-burst", int32(3)), wish("x-priority-aging", int32(4))},
			nil, func(s *queue.Settings) { s.ExpireAnywhere, s.PriorityMaxBurst, s.PriorityAging = true, 3, 4 }},
	} {
		want := queue.DefaultSettings()
		if c.kind == quorum {
			want.CountReturns = queue.CountFailed
		}
		c.want(&want)
		if got := (wishes{c.kind, c.arguments, c.policy}).settings(); got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, want)
		}
	}
}
