package amqp_test

import (
	"testing"

	"leveret/amqp"
)

// Every beginning of a message that is too short to have its address and properties is told from a whole one.
func TestWhole(t *testing.T) {
	m := amqp.Message(amqp.AppendMessageAddress(nil, []byte("exchange"), []byte("key")))
	m = append(m, 0, 0)
	m.SetProperties(2, &amqp.PropertyIndex{}, 0)
	for n := range m {
		if m[:n].Whole() {
			t.Errorf("the first %d of %d octets are taken for a message", n, len(m))
		}
	}
	if !m.Whole() || !append(m, "body"...).Whole() {
		t.Error("a message is refused")
	}
	m.SetPropertyLength(1)
	if m.Whole() {
		t.Error("a message without property flags is taken for one")
	}
	m.SetPropertyLength(1 << 31)
	if m.Whole() {
		t.Error("properties longer than the message are not noticed")
	}
}
