package queue_test

import (
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"leveret/amqp"
	"leveret/queue"
)

// stamped is a message with a timestamp in seconds.
func stamped(timestamp uint64) amqp.Message {
	properties := binary.BigEndian.AppendUint16(nil, amqp.FlagTimestamp)
	properties = binary.BigEndian.AppendUint64(properties, timestamp)
	m := amqp.Message(append(amqp.AppendMessageAddress(nil, nil, nil), properties...))
	m.SetProperties(len(properties), &amqp.PropertyIndex{DeliveryMode: 1}, time.Now().UnixMilli())
	return m
}

// A queue shows the timestamp of its next message a second after that has become the next, and lies still while it stays that.
func TestTimestampOfTheNextMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, queue.Options{})
		batch := queue.NewBatch()
		for _, m := range []amqp.Message{stamped(10), newMessage("none"), stamped(30)} {
			batch.Add(m, nil)
		}
		if g.Push(batch).Run {
			g.RunHere()
		}
		for _, want := range []int64{10, 0, 30} {
			for range 3 {
				g.tend()
			}
			if got := g.Stats().HeadTimestamp; got != want {
				t.Errorf("timestamp %d, want %d", got, want)
			}
			if !g.Tended() {
				t.Error("a queue in which nothing happens is looked at again and again")
			}
			if found, err := g.get(true); !found || err != nil {
				t.Fatalf("got: %v, %v", found, err)
			}
		}
	})
}
