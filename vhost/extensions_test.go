package vhost_test

import (
	"math"
	"testing"

	"leveret/amqp"
	"leveret/queue"
)

func TestExtensionArguments(t *testing.T) {
	type value struct {
		v      any
		reason string // empty: it is taken
	}
	key := value{"header:", "invalid_key"}
	for name, values := range map[string][]value{
		"x-expire-anywhere": {{true, ""}, {"yes", "{unacceptable_type,longstr}"}},
		"x-delayed-retry-multiplier": {{int32(1), ""}, {1.5, ""}, {float32(1000), ""}, {0.5, `"expected number from 1 to 1000, got 0.5"`},
			{int32(0), `"expected number from 1 to 1000, got 0"`}, {"2", `"expected number, got longstr"`},
			{math.NaN(), `"expected number from 1 to 1000, got NaN"`}},
		"x-delayed-retry-jitter": {{0.0, ""}, {amqp.Decimal{Scale: 1, Value: 2}, ""}, {int32(1), ""}, {1.1, `"expected number from 0 to 1, got 1.1"`}, {-0.5, `"expected number from 0 to 1, got -0.5"`},
			{nil, `"expected number, got void"`}},
		"x-delivery-limit-counts": {{"failed", ""}, {"returns", ""}, {"all", "invalid_delivery_limit_counts"}, {true, "{unacceptable_type,bool}"}},
		"x-dispatch":              {{"round-robin", ""}, {"least-unacked", ""}, {"random", "invalid_dispatch"}},
		"x-default-prefetch":      {{int32(0), ""}, {int32(65535), ""}, {int32(65536), "{max_value_exceeded,65536}"}, {int32(-1), "{value_negative,-1}"}},
		"x-max-prefetch":          {{int8(5), ""}, {"5", `"expected integer, got longstr"`}},
		"x-group-by": {{"header:tenant", ""}, {"correlation-id", ""}, {"message_id", ""}, {"routing-key", ""}, {"user", ""}, {"connection", ""}, key,
			{"tenant", "invalid_key"}, {int32(1), "{unacceptable_type,signedint}"}},
		"x-fair-by":               {{"header:tenant", ""}, {"app-id", ""}, key, {"", "invalid_key"}},
		"x-message-deduplication": {{true, ""}, {int32(1), "{unacceptable_type,signedint}"}},
		"x-cache-size":            {{int32(1), ""}, {int32(0), "{value_zero,0}"}, {int32(10_000_001), "{max_value_exceeded,10000001}"}},
		"x-cache-ttl":             {{int32(1), ""}, {int32(0), "{value_zero,0}"}},
		"x-deduplication-header":  {{"id", ""}, {int32(0), "{unacceptable_type,signedint}"}},
	} {
		h := newHost(t)
		for _, v := range values {
			want := ""
			if v.reason != "" {
				want = invalid(name, v.reason)
			}
			for kind := range kinds {
				try(t, h, kind, want, name, v.v)
			}
		}
	}
}

func TestExtensionArgumentsTogether(t *testing.T) {
	h := newHost(t)
	priority, fair, group := arg("x-max-priority", int32(3)), arg("x-fair-by", "user"), arg("x-group-by", "type")
	try(t, h, 'c', invalid("x-fair-by", `"not together with x-max-priority"`), "x-max-priority", int32(3), fair)
	try(t, h, 'c', invalid("x-group-by", `"not together with x-max-priority"`), "x-group-by", "type", priority)
	try(t, h, 'c', invalid("x-group-by", `"not together with x-fair-by"`), "x-fair-by", "user", group)
	for _, name := range []string{"x-priority-max-burst", "x-priority-aging"} {
		try(t, h, 'c', "", name, int32(5), priority)
		try(t, h, 'q', "", name, int32(5))
		try(t, h, 'c', invalid(name, `"not without x-max-priority"`), name, int32(5))
		try(t, h, 'c', invalid(name, "{value_zero,0}"), name, int32(0), priority)
	}
}

func TestExtensionArgumentsAreNotCompared(t *testing.T) {
	h := newHost(t)
	q := h.queue("q", args(arg("x-dispatch", "least-unacked"), arg("x-fair-by", "user")))
	for _, other := range []amqp.Field{arg("x-dispatch", "nonsense"), arg("x-fair-by", int32(1)), arg("x-group-by", "type")} {
		if again := h.queue("q", args(other)); again != q {
			t.Errorf("%s made another queue", other.Name)
		}
	}
}

func TestFixedOptions(t *testing.T) {
	h := newHost(t)
	has := func(name string, fields ...amqp.Field) queue.Options { return h.queue(name, args(fields...)).Options() }
	if o := has("plain"); o.MaxPriority != 0 || o.Quorum || o.FairBy != (queue.Keying{}) || o.GroupBy != (queue.Keying{}) || o.Deduplication.Enabled {
		t.Errorf("a plain queue has %+v", o)
	}
	if o := has("flat", arg("x-max-priority", int32(0))); o.MaxPriority != 1 {
		t.Errorf("0 gives %d, not 1", o.MaxPriority)
	}
	if o := has("levels", arg("x-max-priority", uint8(255))); o.MaxPriority != 255 {
		t.Errorf("255 gives %d", o.MaxPriority)
	}
	if o := has("quorum", arg("x-queue-type", "quorum")); !o.Quorum {
		t.Error("a quorum queue does not know it")
	}
	o := has("keyed", arg("x-fair-by", "header:tenant"))
	if want := (queue.Keying{Source: queue.ByHeader, Name: "tenant"}); o.FairBy != want {
		t.Errorf("fair by %+v", o.FairBy)
	}
	for value, want := range map[string]queue.Keying{
		"user": {Source: queue.ByUser}, "connection": {Source: queue.ByConnection}, "app_id": {Source: queue.ByProperty, Name: "app-id"},
	} {
		if o := has("by "+value, arg("x-group-by", value)); o.GroupBy != want {
			t.Errorf("%s: grouped by %+v", value, o.GroupBy)
		}
	}
	o = has("once", arg("x-message-deduplication", true))
	if want := (queue.Deduplication{Enabled: true, Header: "x-deduplication-header", Size: 128}); o.Deduplication != want {
		t.Errorf("deduplication %+v", o.Deduplication)
	}
	o = has("once by id", arg("x-message-deduplication", true), arg("x-deduplication-header", "id"), arg("x-cache-size", int32(5)), arg("x-cache-ttl", int64(6)))
	if want := (queue.Deduplication{Enabled: true, Header: "id", Size: 5, TTL: 6}); o.Deduplication != want {
		t.Errorf("deduplication %+v", o.Deduplication)
	}
	if o := has("not once", arg("x-message-deduplication", false), arg("x-cache-size", int32(5))); o.Deduplication != (queue.Deduplication{}) {
		t.Errorf("deduplication that was not wanted: %+v", o.Deduplication)
	}
}
