package vhost_test

import (
	"fmt"
	"strings"
	"testing"

	"leveret/amqp"
)

var (
	notIntegers = []any{"5", 5.0, float32(5), true, amqp.Timestamp(5), nil, []byte("5"), amqp.Decimal{Value: 5}, amqp.Array{int32(5)}, amqp.Table{arg("a", int32(5))}}
	notStrings  = []any{int32(5), true, []byte("a"), 1.0, nil, amqp.Array{"a"}, amqp.Table{arg("a", "b")}, int64(1)}
)

const tenYears = int64(315360000000)

// kinds are the queue types by the letters that the tables below use.
var kinds = map[byte]string{'c': "classic", 'q': "quorum", 's': "stream"}

// try declares a new queue of a type with one argument, and checks the refusal; want is empty for none, and {Q} in it is the queue.
func try(t *testing.T, h *host, kind byte, want, name string, value any, more ...amqp.Field) {
	t.Helper()
	fields := append([]amqp.Field{arg("x-queue-type", kinds[kind]), arg(name, value)}, more...)
	what := fmt.Sprintf("%s %s %T %v", kinds[kind], name, value, value)
	q, err := h.DeclareQueue(queueOf("q", args(fields...)), me, all())
	if want != "" {
		refused(t, what, err, 406, strings.ReplaceAll(want, "{Q}", "queue 'q' in vhost '/'"))
		return
	}
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	if got, _ := q.Options().Arguments.Get(name); !amqp.EqualValue(got, value) {
		t.Errorf("%s: kept as %v", what, got)
	}
	h.delete("q")
}

func invalid(name, reason string) string { return "invalid arg '" + name + "' for {Q}: " + reason }

// others are the types that refuse an argument altogether.
func others(t *testing.T, h *host, accepting, name string, value any) {
	for kind, word := range kinds {
		if !strings.ContainsRune(accepting, rune(kind)) {
			try(t, h, kind, "invalid arg '"+name+"' for {Q} of queue type rabbit_"+word+"_queue", name, value)
		}
	}
}

func TestIntegerArguments(t *testing.T) {
	for _, c := range []struct {
		name      string
		kinds     string // that validate it
		extension string // more that take it
		least     int64
		good      int64
		tooLarge  int64
		reason    string // of that
	}{
		{"x-message-ttl", "cq", "", 0, tenYears, tenYears + 1, "{value_too_large,315360000001}"},
		{"x-expires", "cq", "", 1, tenYears, tenYears + 1, "{value_too_large,315360000001}"},
		{"x-max-length", "cq", "", 0, 10, 0, ""},
		{"x-max-length-bytes", "cqs", "", 0, 10000, 0, ""},
		{"x-max-priority", "c", "", 0, 255, 256, "{max_value_exceeded,256}"},
		{"x-quorum-initial-group-size", "q", "", 1, 3, 0, ""},
		{"x-max-in-memory-length", "q", "", 0, 5, 0, ""},
		{"x-max-in-memory-bytes", "q", "", 0, 5, 0, ""},
		{"x-consumer-timeout", "q", "c", 0, 5000, 0, ""},
		{"x-consumer-disconnected-timeout", "q", "", 0, 5000, 0, ""},
		{"x-stream-max-segment-size-bytes", "s", "", 0, 3000000000, 0, ""},
		{"x-initial-cluster-size", "s", "", 1, 3, 0, ""},
	} {
		h := newHost(t)
		for i := range len(c.kinds) {
			kind := c.kinds[i]
			try(t, h, kind, "", c.name, c.good)
			try(t, h, kind, "", c.name, int8(c.least))
			try(t, h, kind, "", c.name, uint16(16))
			if c.least > 0 {
				try(t, h, kind, invalid(c.name, "{value_zero,0}"), c.name, int32(0))
			}
			try(t, h, kind, invalid(c.name, "{value_negative,-5}"), c.name, int16(-5))
			if c.tooLarge > 0 {
				try(t, h, kind, invalid(c.name, c.reason), c.name, c.tooLarge)
			}
			for _, v := range notIntegers {
				try(t, h, kind, invalid(c.name, `"expected integer, got `+amqp.TypeName(v)+`"`), c.name, v)
			}
		}
		others(t, h, c.kinds+c.extension, c.name, c.good)
	}
}

func TestStringArguments(t *testing.T) {
	overflow := []string{"drop-head", "reject-publish", "reject-publish-dlx"}
	for _, c := range []struct {
		name, kinds, extension string
		good, bad              []string
		reason                 string // of the bad ones
	}{
		{"x-overflow", "cq", "", overflow, []string{"foo", "", "Drop-Head"}, "invalid_overflow"},
		{"x-dead-letter-strategy", "q", "c", []string{"at-most-once", "at-least-once"}, []string{"foo", ""}, "invalid_dlx_strategy"},
		{"x-queue-leader-locator", "cqs", "", []string{"client-local", "balanced", "random", "least-leaders"}, []string{"foo", ""}, "invalid_queue_locator_arg"},
		{"x-max-age", "s", "", []string{"1Y", "2M", "3D", "4h", "5m", "60s"},
			[]string{"foo", "", "5", "h", "1w", "-1h", "1.5h", "1h ", "1H", "0h", "+1h"}, "invalid_max_age"},
		{"x-dead-letter-routing-key", "cq", "", []string{"", "a"}, nil, ""},
	} {
		h := newHost(t)
		var more []amqp.Field
		if c.name == "x-dead-letter-routing-key" {
			more = append(more, arg("x-dead-letter-exchange", ""))
		}
		for i := range len(c.kinds) {
			for _, v := range c.good {
				try(t, h, c.kinds[i], "", c.name, v, more...)
			}
			for _, v := range c.bad {
				try(t, h, c.kinds[i], invalid(c.name, c.reason), c.name, v, more...)
			}
			for _, v := range notStrings {
				try(t, h, c.kinds[i], invalid(c.name, "{unacceptable_type,"+amqp.TypeName(v)+"}"), c.name, v, more...)
			}
		}
		others(t, h, c.kinds+c.extension, c.name, c.good[0])
	}
}

func TestOtherArguments(t *testing.T) {
	h := newHost(t)
	for _, kind := range []byte("cq") {
		try(t, h, kind, "", "x-dead-letter-exchange", "")
		try(t, h, kind, "", "x-dead-letter-exchange", "missing")
		try(t, h, kind, invalid("x-dead-letter-routing-key", "routing_key_but_no_dlx_defined"), "x-dead-letter-routing-key", "a")
		try(t, h, kind, "", "x-single-active-consumer", true)
		for _, v := range []any{"true", int32(1), nil} {
			try(t, h, kind, invalid("x-single-active-consumer", "{unacceptable_type,"+amqp.TypeName(v)+"}"), "x-single-active-consumer", v)
		}
		for _, v := range []any{int32(0), int32(-5), int64(1) << 31, "5", true, 2.5} {
			try(t, h, kind, "", "x-delivery-limit", v)
		}
		try(t, h, kind, "", "x-delayed-retry-type", "foo")
		try(t, h, kind, "", "x-delayed-retry-min", "100")
		try(t, h, kind, "", "x-delayed-retry-max", int32(-1))
	}
	for kind := range kinds {
		for _, v := range notStrings {
			try(t, h, kind, "invalid type '"+amqp.TypeName(v)+"' for arg 'x-dead-letter-exchange' in {Q}", "x-dead-letter-exchange", v)
		}
		try(t, h, kind, "", "x-unknown", amqp.Array{int32(1)})
	}
	others(t, h, "cq", "x-dead-letter-exchange", "a")
	others(t, h, "cq", "x-single-active-consumer", true)
	for _, v := range []any{"lazy", "foo", int32(1)} {
		try(t, h, 'c', "", "x-queue-mode", v)
	}
	others(t, h, "c", "x-queue-mode", "lazy")
	try(t, h, 'c', "", "x-queue-master-locator", "min-masters")

	try(t, h, 'c', "", "x-queue-version", int64(2))
	for _, n := range []int32{0, 1, 3} {
		try(t, h, 'c', invalid("x-queue-version", fmt.Sprintf(`"unsupported queue version '%d'"`, n)), "x-queue-version", n)
	}
	try(t, h, 'c', invalid("x-queue-version", "{value_negative,-1}"), "x-queue-version", int32(-1))
	try(t, h, 'c', invalid("x-queue-version", `"expected integer, got longstr"`), "x-queue-version", "2")
	others(t, h, "c", "x-queue-version", int32(2))

	try(t, h, 's', "Exceeded max value for x-stream-max-segment-size-bytes", "x-stream-max-segment-size-bytes", int64(3000000001))
	for _, n := range []int32{16, 255} {
		try(t, h, 's', "", "x-stream-filter-size-bytes", n)
	}
	for _, n := range []int32{0, 15, 256} {
		try(t, h, 's', "Invalid value for x-stream-filter-size-bytes", "x-stream-filter-size-bytes", n)
	}
	try(t, h, 's', invalid("x-stream-filter-size-bytes", "{value_negative,-1}"), "x-stream-filter-size-bytes", int32(-1))
	others(t, h, "s", "x-stream-filter-size-bytes", int32(16))
}

func TestQueueTypes(t *testing.T) {
	h := newHost(t)
	for _, name := range []string{"foo", "Classic"} {
		_, err := h.DeclareQueue(queueOf("q", args(arg("x-queue-type", name))), me, all())
		refused(t, name, err, 406, `invalid arg 'x-queue-type' for queue 'q' in vhost '/': "unsupported queue type '`+name+`'"`)
	}
	for _, v := range notStrings {
		_, err := h.DeclareQueue(queueOf("q", args(arg("x-queue-type", v))), me, all())
		refused(t, fmt.Sprint(v), err, 406, "invalid arg 'x-queue-type' for queue 'q' in vhost '/': {unacceptable_type,"+amqp.TypeName(v)+"}")
	}
	for _, kind := range []string{"quorum", "stream"} {
		kindArg := args(arg("x-queue-type", kind))
		for i, property := range []string{"auto-delete", "exclusive-owner", "non-durable"} {
			d := queueOf("q", kindArg, transient)
			d.AutoDelete, d.Exclusive = i < 1, i < 2
			_, err := h.DeclareQueue(d, me, all())
			refused(t, kind+" "+property, err, 406, "invalid property '"+property+"' for queue 'q' in vhost '/'")
		}
	}
	equal(t, "queues", h.queues(), []string{})
	for i, stored := range []string{"classic", "", "undefined", "quorum", "stream"} {
		fields := []amqp.Field{arg("x-queue-type", stored)}
		if i == 0 {
			fields = nil
		}
		q := h.queue(fmt.Sprint("q", i), args(fields...))
		if got := q.Options().Arguments; len(got) != 1 || got[0] != arg("x-queue-type", stored) {
			t.Errorf("arguments %v, want the type %q alone", got, stored)
		}
	}
}
