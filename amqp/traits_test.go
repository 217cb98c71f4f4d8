package amqp_test

import (
	"testing"

	"leveret/amqp"
)

// Traits must say what the message says of itself, each independently of the others.
func TestTraits(t *testing.T) {
	for bits := range 8 {
		m := amqp.Message(append(amqp.AppendMessageAddress(nil, []byte("x"), []byte("key")), 0, 0))
		index := amqp.PropertyIndex{}
		persistent, expires, own := bits&1 != 0, bits&2 != 0, bits&4 != 0
		if persistent {
			index.DeliveryMode = amqp.Persistent
		}
		m.SetProperties(2, &index, 1)
		if expires {
			m.SetExpiration(5)
		}
		if own {
			m.SetOwnDeadLetter()
		}
		got := m.Traits()
		if got.Persistent() != persistent || got.Expires() != expires || got.OwnDeadLetter() != own {
			t.Errorf("%03b: traits %v, %v, %v", bits, got.Persistent(), got.Expires(), got.OwnDeadLetter())
		}
		if m.Persistent() != persistent || m.Expires() != expires || m.OwnDeadLetter() != own {
			t.Errorf("%03b: message %v, %v, %v", bits, m.Persistent(), m.Expires(), m.OwnDeadLetter())
		}
	}
}
