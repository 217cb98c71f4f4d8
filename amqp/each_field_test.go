package amqp_test

import (
	"fmt"
	"testing"

	"leveret/amqp"
)

func TestEachField(t *testing.T) {
	table := amqp.AppendTable(nil, amqp.Table{{Name: "a", Value: int32(1)}, {Name: "b", Value: "x"}, {Name: "a", Value: nil}})
	for _, c := range []struct {
		name string
		stop int // after so many
		want string
	}{
		{"all", 9, "a I [0 0 0 1];b S [0 0 0 1 120];a V [];"},
		{"until it is enough", 2, "a I [0 0 0 1];b S [0 0 0 1 120];"},
	} {
		got, n := "", 0
		amqp.EachField(table, func(name []byte, tag byte, value []byte) bool {
			got += fmt.Sprintf("%s %c %v;", name, tag, value)
			n++
			return n < c.stop
		})
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
	amqp.EachField(amqp.AppendTable(nil, amqp.Table{}), func([]byte, byte, []byte) bool {
		t.Error("an empty table has a field")
		return true
	})
}
