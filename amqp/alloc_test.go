package amqp_test

import (
	"testing"

	"leveret/amqp"
)

// What is done for each message must not allocate.
func TestHotPathDoesNotAllocate(t *testing.T) {
	publish := (&amqp.BasicPublish{Exchange: []byte("events"), RoutingKey: []byte("user.created")}).AppendTo(nil)
	deliver := (&amqp.BasicDeliver{ConsumerTag: "ctag", DeliveryTag: 7, Exchange: []byte("x"), RoutingKey: []byte("k")}).AppendTo(nil)
	ack := (&amqp.BasicAck{DeliveryTag: 1 << 40, Multiple: true}).AppendTo(nil)
	nack := (&amqp.BasicNack{DeliveryTag: 1, Requeue: true}).AppendTo(nil)
	reject := (&amqp.BasicReject{DeliveryTag: 1}).AppendTo(nil)
	all := allProperties()
	properties := all.AppendTo(nil)
	headers := amqp.AppendTable(nil, all.Headers)
	dst := make([]byte, 0, 1024)
	var (
		m1    amqp.BasicPublish
		m2    amqp.BasicAck
		m3    amqp.BasicNack
		m4    amqp.BasicReject
		m5    amqp.BasicDeliver
		index amqp.PropertyIndex
	)
	expiration := []byte("60000")
	cases := []struct {
		name string
		run  func() error
	}{
		{"publish", func() error { return m1.Decode(publish) }},
		{"ack", func() error { return m2.Decode(ack) }},
		{"nack", func() error { return m3.Decode(nack) }},
		{"reject", func() error { return m4.Decode(reject) }},
		{"deliver", func() error { return m5.Decode(deliver) }},
		{"append deliver", func() error { dst = m5.AppendTo(dst[:0]); return nil }},
		{"scan properties", func() error { return amqp.ScanProperties(properties, &index) }},
		{"find field", func() error { _, _, _ = amqp.FindField(headers, "h"); return nil }},
		{"replace reply-to", func() error { dst = amqp.ReplaceReplyTo(dst[:0], properties, &index, "other"); return nil }},
		{"remove header", func() error { dst = amqp.RemoveHeader(dst[:0], properties, &index, "BCC"); return nil }},
		{"expiration", func() error { _, err := amqp.ParseExpiration(expiration); return err }},
	}
	for _, c := range cases {
		if n := testing.AllocsPerRun(100, func() {
			if err := c.run(); err != nil {
				t.Error(err)
			}
		}); n != 0 {
			t.Errorf("%s: %g allocations", c.name, n)
		}
	}
}

func BenchmarkDecodePublish(b *testing.B) {
	wire := (&amqp.BasicPublish{Exchange: []byte("events"), RoutingKey: []byte("user.created")}).AppendTo(nil)
	var m amqp.BasicPublish
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Decode(wire); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeAck(b *testing.B) {
	wire := (&amqp.BasicAck{DeliveryTag: 1 << 40, Multiple: true}).AppendTo(nil)
	var m amqp.BasicAck
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Decode(wire); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkScanProperties(b *testing.B) {
	all := allProperties()
	mode := amqp.Properties{Flags: amqp.FlagDeliveryMode, DeliveryMode: amqp.Persistent}
	for _, c := range []struct {
		name string
		wire []byte
	}{{"none", []byte{0, 0}}, {"delivery-mode", mode.AppendTo(nil)}, {"all", all.AppendTo(nil)}} {
		b.Run(c.name, func(b *testing.B) {
			var index amqp.PropertyIndex
			b.ReportAllocs()
			for b.Loop() {
				if err := amqp.ScanProperties(c.wire, &index); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendDeliver(b *testing.B) {
	m := amqp.BasicDeliver{ConsumerTag: "ctag-1", DeliveryTag: 7, Exchange: []byte("events"), RoutingKey: []byte("user.created")}
	dst := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		dst = m.AppendTo(dst[:0])
	}
}
