package shovel

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rabbitmq/amqp091-go"
)

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		fields map[string]any
		is     func(o *order) bool
	}{
		"defaults": {nil, func(o *order) bool {
			return o.mode == onConfirm && o.prefetch == 1000 && o.reconnect == 5*time.Second && o.count == -1 && o.ending == "" && o.target.exchange == nil
		}},
		"several URIs":     {map[string]any{"src-uri": []any{"a", "b"}}, func(o *order) bool { return slices.Equal(o.source.uris, []string{"a", "b"}) }},
		"empty exchange":   {map[string]any{"dest-exchange": ""}, func(o *order) bool { return o.target.exchange != nil && *o.target.exchange == "" }},
		"old name":         {map[string]any{"prefetch-count": int64(7)}, func(o *order) bool { return o.prefetch == 7 }},
		"new name first":   {map[string]any{"prefetch-count": int64(7), "src-prefetch-count": int64(8)}, func(o *order) bool { return o.prefetch == 8 }},
		"prefetch bounded": {map[string]any{"src-prefetch-count": int64(1 << 40)}, func(o *order) bool { return o.prefetch == 65535 }},
		"fractions":        {map[string]any{"reconnect-delay": 0.25}, func(o *order) bool { return o.reconnect == 250*time.Millisecond }},
		"never again":      {map[string]any{"reconnect-delay": int64(0)}, func(o *order) bool { return o.reconnect == 0 }},
		"never ends":       {map[string]any{"src-delete-after": "never"}, func(o *order) bool { return o.count == -1 && o.ending == "" }},
		"ends at a number": {map[string]any{"delete-after": int64(3)}, func(o *order) bool { return o.count == 3 }},
		"no-ack to the end": {map[string]any{"ack-mode": "no-ack"}, func(o *order) bool {
			return o.mode == noAck
		}},
		"no-ack with an end": {map[string]any{"ack-mode": "no-ack", "src-delete-after": "queue-length"}, func(o *order) bool {
			return o.mode == onPublish && o.ending == queueLength
		}},
		"arguments": {map[string]any{"src-queue-args": map[string]any{"x": []any{map[string]any{"y": int64(1)}}}}, func(o *order) bool {
			return fmt.Sprint(o.source.queueArgs) == fmt.Sprint(amqp091.Table{"x": []any{amqp091.Table{"y": int64(1)}}}) && o.source.consumerArgs == nil
		}},
	} {
		o, err := parse("/", name, c.fields)
		if err != nil || !c.is(o) {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
	}
	if _, err := parse("/", "s", map[string]any{"src-protocol": "amqp10"}); err == nil {
		t.Error("AMQP 1.0 is taken")
	}
}

func TestAddress(t *testing.T) {
	d := amqp091.Delivery{Exchange: "x", RoutingKey: "k"}
	for _, c := range []struct {
		fields        map[string]any
		exchange, key string
	}{
		{map[string]any{}, "x", "k"},
		{map[string]any{"dest-queue": "q"}, "", "q"},
		{map[string]any{"dest-exchange": "y"}, "y", "k"},
		{map[string]any{"dest-exchange": ""}, "", "k"},
		{map[string]any{"dest-exchange": "y", "dest-exchange-key": "l"}, "y", "l"},
		{map[string]any{"dest-exchange-key": ""}, "x", ""},
	} {
		o, err := parse("/", "s", c.fields)
		if err != nil {
			t.Fatal(err)
		}
		if exchange, key := o.target.address(&d); exchange != c.exchange || key != c.key {
			t.Errorf("%v: %q with key %q", c.fields, exchange, key)
		}
	}
}

// TestPublishing: all properties pass, those that are set are replaced, and the delivery's own headers stay as they are.
func TestPublishing(t *testing.T) {
	at := time.Unix(1700000000, 0)
	d := amqp091.Delivery{
		Headers: amqp091.Table{"h": "1"}, ContentType: "a", ContentEncoding: "b", DeliveryMode: 2, Priority: 3, CorrelationId: "c", ReplyTo: "d",
		Expiration: "9", MessageId: "e", Timestamp: at, Type: "f", UserId: "g", AppId: "h", Body: []byte("body"),
	}
	got := (&target{}).publishing(&d, nil, at)
	want := amqp091.Publishing{
		Headers: d.Headers, ContentType: "a", ContentEncoding: "b", DeliveryMode: 2, Priority: 3, CorrelationId: "c", ReplyTo: "d", Expiration: "9",
		MessageId: "e", Timestamp: at, Type: "f", UserId: "g", AppId: "h", Body: []byte("body"),
	}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	changes := &target{timestamp: true, properties: map[string]any{
		"content_type": "A", "content-encoding": "B", "delivery_mode": int64(1), "priority": int64(7), "correlation_id": "C", "reply_to": "D",
		"expiration": "10", "message_id": "E", "timestamp": int64(5), "type": "F", "user_id": "G", "app_id": "H", "headers": map[string]any{"n": int64(1)},
		"nonsense": "x", "app-id": true,
	}}
	got = changes.publishing(&d, amqp091.Table{"e": "v"}, at)
	want = amqp091.Publishing{
		Headers:     amqp091.Table{"n": int64(1), "x-shovelled": []any{amqp091.Table{"e": "v"}}, "x-shovelled-timestamp": at.Unix()},
		ContentType: "A", ContentEncoding: "B", DeliveryMode: 1, Priority: 7, CorrelationId: "C", ReplyTo: "D", Expiration: "10", MessageId: "E",
		Timestamp: time.Unix(5, 0), Type: "F", UserId: "G", AppId: "H", Body: []byte("body"),
	}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	changes.properties = nil
	changes.publishing(&d, nil, at)
	if len(d.Headers) != 1 {
		t.Errorf("the delivery's headers were changed: %v", d.Headers)
	}
}

func TestLocalVHosts(t *testing.T) {
	got := LocalVHosts(map[string]any{
		"src-uri":  []any{"amqp://", "amqp:///", "amqp:///%2F", "amqp:///a%2Fb", "amqp://host/c", "amqp://user:pw@/d", "amqp:///%zz"},
		"dest-uri": "amqp:///e",
	})
	if want := []string{"/", "/", "/", "a/b", "e"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := LocalVHosts("nonsense"); got != nil {
		t.Errorf("%q", got)
	}
}

func TestWithoutCredentials(t *testing.T) {
	for uri, want := range map[string]string{
		"amqp://": "amqp://", "amqp:///%2F": "amqp:///%2F", "amqps://u:p@h:5671/v%2F?password=x": "amqps://h:5671/v%2F", "amqp://u:p@h:port": "", "": "",
	} {
		if got := withoutCredentials(uri); got != want {
			t.Errorf("%s is shown as %s", uri, got)
		}
	}
}
