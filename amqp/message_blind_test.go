package amqp_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"leveret/amqp"
)

// letterOf builds a message as the broker does.
func letterOf(exchange, key string, p *amqp.Properties, body []byte, blind ...[]byte) amqp.Message {
	raw := p.AppendTo(nil)
	var index amqp.PropertyIndex
	if err := amqp.ScanProperties(raw, &index); err != nil {
		panic(err)
	}
	m := amqp.Message(append(amqp.AppendMessageAddress(nil, []byte(exchange), []byte(key)), raw...))
	m.SetProperties(len(raw), &index, 1234)
	if len(blind) > 0 {
		m = amqp.AppendBlindKeys(m, blind...)
	}
	return append(m, body...)
}

// Whatever a message holds: other headers change the headers and nothing else, and those who look at it see no blind keys.
func TestWithHeaders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genProperties().Draw(t, "properties")
		body := rapid.SliceOf(rapid.Byte()).Draw(t, "body")
		blind := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 255), 0, 4).Draw(t, "blind keys")
		m := letterOf("exchange", "key", &p, body, blind...)
		if m.HasPriority() != p.Has(amqp.FlagPriority) {
			t.Fatalf("has a priority: %v", m.HasPriority())
		}
		m.SetExpiration(77)
		m.SetDied()
		var index amqp.PropertyIndex
		if err := amqp.ScanProperties(m.Properties(), &index); err != nil {
			t.Fatal(err)
		}
		before := bytes.Clone(m)
		p.Headers = genTable(2).Draw(t, "headers")
		p.Flags |= amqp.FlagHeaders
		n := m.WithHeaders(&index, amqp.AppendTable(nil, p.Headers))
		if !n.Whole() || !bytes.Equal(m, before) {
			t.Fatal("the copy is damaged, or what it is a copy of")
		}
		if want := p.AppendTo(nil); !bytes.Equal(n.Properties(), want) {
			t.Fatalf("properties %q, want %q", n.Properties(), want)
		}
		address, properties, rest := n.Split()
		if string(address) != "\x08exchange\x03key" || !bytes.Equal(properties, n.Properties()) || !bytes.Equal(rest, body) || !bytes.Equal(n.Body(), body) {
			t.Fatalf("address %q, body %q", address, rest)
		}
		if !slices.EqualFunc(n.BlindKeys(), blind, bytes.Equal) {
			t.Fatalf("blind keys %q, want %q", n.BlindKeys(), blind)
		}
		ms, ok := n.Expiration()
		if ms != 77 || !ok || !n.Died() || n.Published() != 1234 || n.Priority() != m.Priority() || n.Persistent() != m.Persistent() {
			t.Fatal("the head has changed")
		}
		p.Flags &^= amqp.FlagExpiration
		if got := amqp.AppendProperties(nil, m.Properties(), &index, amqp.AppendTable(nil, p.Headers), false); !bytes.Equal(got, p.AppendTo(nil)) {
			t.Fatalf("without an expiration: %q", got)
		}
	})
}

// A dead letter keeps what the message is, loses its expiration, and says that it died; one that is sent on purpose begins anew, but goes on expiring.
func TestRedirectAndResend(t *testing.T) {
	p := amqp.Properties{Flags: amqp.FlagDeliveryMode | amqp.FlagPriority, DeliveryMode: amqp.Persistent, Priority: 7}
	m := letterOf("x", "k", &p, []byte("body"), []byte("blind"))
	m.SetExpiration(5)
	m.SetOwnDeadLetter()
	m.SetDied()
	m.SetOneKey()
	build := func(fill func(m amqp.Message, length int)) amqp.Message {
		n := append(amqp.Message(amqp.AppendMessageAddress(nil, []byte("y"), nil)), m.Properties()...)
		fill(n, len(m.Properties()))
		return append(n, m.Body()...)
	}
	dead := build(func(n amqp.Message, length int) { n.Redirect(m, length, 99) })
	sent := build(func(n amqp.Message, length int) { n.Resend(m, length, 99) })
	for _, c := range []struct {
		name               string
		m                  amqp.Message
		expires, died, one bool
	}{{"dead", dead, false, true, true}, {"sent", sent, true, false, false}} {
		n := c.m
		if !n.Whole() || n.Expires() != c.expires || n.Died() != c.died || n.OneKey() != c.one {
			t.Errorf("%s: expires %v, died %v, one key %v", c.name, n.Expires(), n.Died(), n.OneKey())
		}
		if !n.Persistent() || !n.HasPriority() || n.Priority() != 7 || n.Published() != 99 || !n.OwnDeadLetter() || len(n.BlindKeys()) != 0 || string(n.Body()) != "body" {
			t.Errorf("%s: %+v", c.name, n)
		}
		n.SetPublished(100)
		if n.Published() != 100 {
			t.Errorf("%s: published at %d", c.name, n.Published())
		}
	}
}

// There is room for 64 KiB of blind keys; those that are too many are left out whole.
func TestManyBlindKeys(t *testing.T) {
	keys := make([][]byte, 300)
	for i := range keys {
		keys[i] = []byte(strings.Repeat("k", 255))
	}
	m := letterOf("x", "k", new(amqp.Properties), []byte("body"), keys...)
	if got := m.BlindKeys(); len(got) != 255 || !m.Whole() || string(m.Body()) != "body" {
		t.Errorf("%d keys, whole: %v, %d octets of body", len(got), m.Whole(), len(m.Body()))
	}
}

// Whatever is read back from a disk: if it is taken for a message, all that may be asked of one can be answered.
func FuzzMessageWhole(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte(letterOf("x", "k", new(amqp.Properties), []byte("body"), []byte("blind"), nil)))
	f.Add([]byte(letterOf("", "", &amqp.Properties{Flags: amqp.FlagHeaders, Headers: amqp.Table{{Name: "a", Value: "b"}}}, nil)))
	f.Fuzz(func(t *testing.T, data []byte) {
		m := amqp.Message(data)
		if !m.Whole() {
			return
		}
		size := amqp.MessageHeadSize + len(m.Address()) + len(m.Properties()) + len(m.Body())
		for _, key := range m.BlindKeys() {
			size += 1 + len(key)
		}
		address, properties, body := m.Split()
		if !bytes.Equal(address, m.Address()) || !bytes.Equal(properties, m.Properties()) || !bytes.Equal(body, m.Body()) {
			t.Error("the parts are not those that it gives at once")
		}
		if size > len(m) {
			t.Errorf("the parts have %d octets of %d", size, len(m))
		}
		if 2+len(m.Exchange())+len(m.RoutingKey()) != len(address) {
			t.Errorf("exchange %q and key %q are not all of %q", m.Exchange(), m.RoutingKey(), address)
		}
		var index amqp.PropertyIndex
		if amqp.ScanProperties(m.Properties(), &index) == nil {
			if n := m.WithHeaders(&index, amqp.AppendTable(nil, nil)); !n.Whole() || !bytes.Equal(n.Body(), m.Body()) {
				t.Error("with other headers it is none any more")
			}
		}
	})
}
