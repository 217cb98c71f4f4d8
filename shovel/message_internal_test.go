package shovel

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/rabbitmq/amqp091-go"
)

// Each property can be replaced, under the names of both generations of RabbitMQ; what is no property, or of another type, is passed over.
func TestSetProperty(t *testing.T) {
	for name := range textProperties {
		p := amqp091.Publishing{}
		setProperty(&p, name, "text")
		if got := *textProperties[name](&p); got != "text" {
			t.Errorf("%s is %q", name, got)
		}
		setProperty(&p, name, int64(7))
		setProperty(&p, name, nil)
		setProperty(&p, name, []any{"x"})
		if got := *textProperties[name](&p); got != "text" {
			t.Errorf("%s of another type is %q", name, got)
		}
	}
	var p amqp091.Publishing
	for name, value := range map[string]any{
		"content-type": "a/b", "delivery_mode": int64(2), "priority": int64(9), "timestamp": int64(1700000000), "headers": map[string]any{"h": int64(1)},
		"colour": "red", "body": "none", "": "none", "cluster_id": "none", "reply_to": 1.5,
	} {
		setProperty(&p, name, value)
	}
	want := amqp091.Publishing{ContentType: "a/b", DeliveryMode: 2, Priority: 9, Timestamp: time.Unix(1700000000, 0), Headers: amqp091.Table{"h": int64(1)}}
	if fmt.Sprintf("%+v", p) != fmt.Sprintf("%+v", want) {
		t.Errorf("got  %+v\nwant %+v", p, want)
	}
}

// Numbers are brought between their bounds, whatever a parameter says; what is no number is the default.
func TestNumbersOfAnOrder(t *testing.T) {
	for _, tt := range []struct {
		value any
		want  float64
	}{
		{nil, 5}, {int64(0), 1}, {int64(1), 1}, {int64(7), 7}, {7.5, 7.5}, {int64(10), 10}, {int64(math.MaxInt64), 10}, {int64(math.MinInt64), 1},
		{1e300, 10}, {-1e300, 1}, {math.Inf(1), 10}, {"7", 5}, {true, 5}, {[]any{int64(7)}, 5},
	} {
		if got := (values{"n": tt.value}).number(5, 1, 10, "n"); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.value, got, tt.want)
		}
	}
	if got := (values{}).number(50, 1, 10, "n"); got != 10 {
		t.Errorf("a default beyond the bounds: %v", got)
	}
}

// URIs are one or several; what is no text is none.
func TestURIsOfAnOrder(t *testing.T) {
	for want, value := range map[string]any{"[a]": "a", "[a b]": []any{"a", "b"}, "[c]": []any{int64(1), "c", nil, []any{"d"}}, "[]": int64(7)} {
		if got := fmt.Sprint(values{"u": value}.uris("u")); got != want {
			t.Errorf("%v: %s, want %s", value, got, want)
		}
	}
	if got := (values{}).uris("u"); got != nil {
		t.Errorf("without the field: %q", got)
	}
}

// A message tells who moved it from where to where, with no more than was given, the last mover first; the delivery it was made of stays as it was.
func TestForwardHeaders(t *testing.T) {
	at := time.Unix(1700000000, 0)
	empty := ""
	o := &order{vhost: "v", name: "s", source: source{queue: "q"}, target: target{exchange: &empty, forwards: true, timestamp: true}}
	entry := o.forwarded("node", "amqp://from", "amqp://to")
	want := amqp091.Table{"shovelled-by": "node", "shovel-type": "dynamic", "shovel-name": "s", "shovel-vhost": "v", "src-uri": "amqp://from", "dest-uri": "amqp://to",
		"src-queue": "q", "dest-exchange": ""}
	if fmt.Sprint(entry) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", entry, want)
	}
	before := amqp091.Table{"own": "x", forwardHeader: []any{amqp091.Table{"shovel-name": "earlier"}}}
	d := amqp091.Delivery{Headers: before}
	p := o.target.publishing(&d, entry, at)
	way, _ := p.Headers[forwardHeader].([]any)
	if len(way) != 2 || way[0].(amqp091.Table)["shovel-name"] != "s" || way[1].(amqp091.Table)["shovel-name"] != "earlier" {
		t.Errorf("the way is %v", way)
	}
	if p.Headers[timestampHeader] != at.Unix() || p.Headers["own"] != "x" {
		t.Errorf("headers %v", p.Headers)
	}
	if old, _ := before[forwardHeader].([]any); len(before) != 2 || len(old) != 1 {
		t.Errorf("the delivery's headers are now %v", before)
	}
	d.Headers = amqp091.Table{forwardHeader: "no list"}
	if way, _ := o.target.publishing(&d, entry, at).Headers[forwardHeader].([]any); len(way) != 1 {
		t.Errorf("a header that is no list becomes %v", way)
	}
}
