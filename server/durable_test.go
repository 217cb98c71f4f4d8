package server_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"leveret/amqp"
	"leveret/store"
)

// fullStore is a slowStore whose pressure and alarm the test decides, and that notes what is settled.
type fullStore struct {
	slowStore
	pressed atomic.Bool
	alarm   func(on bool)
	settled []string
}

func (s *fullStore) Pressure() bool               { return s.pressed.Load() }
func (s *fullStore) OnAlarm(change func(on bool)) { s.alarm = change }

func (s *fullStore) Settle(queue uint64, ranges []store.Range) {
	s.settled = append(s.settled, fmt.Sprint(ranges))
	s.Memory.Settle(queue, ranges)
}

// onFullStore plays with a client that has a durable queue "d".
func onFullStore(t *testing.T, play func(t *testing.T, r *rig, s *fullStore, c *client)) {
	synctest.Test(t, func(t *testing.T) {
		s := &fullStore{slowStore: slowStore{Memory: store.NewMemory()}}
		r := newRig(t, testOptions(), s)
		defer r.stop()
		c := r.pipe()
		defer c.conn.Close()
		c.mustOpen()
		c.call(1, &amqp.QueueDeclare{Queue: "d", Durable: true}, amqp.MethodQueueDeclareOk)
		play(t, r, s, c)
	})
}

// A client that publishes into the log is not read while too much waits there; it is told nothing, and a sync lets it go on. Who publishes
// nothing for the log does not wait.
func TestLogPressureHoldsPublishers(t *testing.T) {
	onFullStore(t, func(t *testing.T, r *rig, s *fullStore, c *client) {
		other := r.pipe()
		defer other.conn.Close()
		other.mustOpen()
		s.pressed.Store(true)
		publish(c, "d", persistent(), false)
		publish(other, "d", nil, false)
		other.call(1, &amqp.BasicQos{}, amqp.MethodBasicQosOk)
		blockedPipe(c)
		c.silent("the log is under pressure")
		s.sync() // not enough
		c.silent("the log is under pressure still")
		s.pressed.Store(false)
		s.sync()
		c.expect(amqp.MethodBasicQosOk)
	})
}

// blockedPipe sends a method to a connection that does not read: a pipe has no room, so somebody else has to wait.
func blockedPipe(c *client) { go c.send(1, &amqp.BasicQos{}) }

// A shortage of disk and one of memory are one alarm to a client: it is told once, in the words of what is short then, and goes on when
// both are over.
func TestDiskAlarm(t *testing.T) {
	tests := []struct{ disk, memory bool }{{true, false}, {true, true}, {false, true}}
	want := map[bool]map[bool]string{
		true: {true: "low on memory & disk", false: "low on disk"}, false: {true: "low on memory"},
	}
	for _, tt := range tests {
		onFullStore(t, func(t *testing.T, r *rig, s *fullStore, c *client) {
			if tt.disk {
				s.alarm(true)
			}
			r.HoldAlarm(tt.memory)
			publish(c, "d", nil, false)
			if m := c.expect(amqp.MethodConnectionBlocked).(*amqp.ConnectionBlocked); m.Reason != want[tt.disk][tt.memory] {
				t.Errorf("disk %t, memory %t: %q", tt.disk, tt.memory, m.Reason)
			}
			if tt.disk && tt.memory {
				s.alarm(false)
				c.silent("there is one alarm left")
			}
			s.alarm(false)
			r.HoldAlarm(false)
			c.expect(amqp.MethodConnectionUnblocked)
		})
	}
}

// The settles of a transaction stand in its record, and only there; commit-ok waits for the log even if there is nothing else.
func TestTransactionLogsItsSettles(t *testing.T) {
	onFullStore(t, func(t *testing.T, r *rig, s *fullStore, c *client) {
		for range 3 {
			publish(c, "d", persistent(), false)
		}
		c.call(1, &amqp.TxSelect{}, amqp.MethodTxSelectOk)
		s.sync()
		for range 3 {
			c.call(1, &amqp.BasicGet{Queue: "d"}, amqp.MethodBasicGetOk)
			if _, err := c.content(); err != nil {
				t.Fatal(err)
			}
		}
		c.send(1, &amqp.BasicAck{DeliveryTag: 1})
		c.send(1, &amqp.BasicReject{DeliveryTag: 2})
		c.send(1, &amqp.BasicReject{DeliveryTag: 3, Requeue: true})
		c.send(1, &amqp.TxCommit{})
		c.silent("the log is not synced")
		w, err := s.Read(1, []store.Range{{First: 1, Last: 9}}, 1<<20)
		if err != nil || len(w.Messages) != 1 || w.Messages[0].Seq != 3 {
			t.Errorf("the log has %v, %v, want message 3", w.Messages, err)
		}
		s.sync()
		c.expect(amqp.MethodTxCommitOk)
		if len(s.settled) != 0 {
			t.Errorf("settled once more: %v", s.settled)
		}
	})
}

// A broker that stops sends the confirms of what it took before it says goodbye.
func TestStopSendsConfirms(t *testing.T) {
	onFullStore(t, func(t *testing.T, r *rig, s *fullStore, c *client) {
		c.call(1, &amqp.ConfirmSelect{}, amqp.MethodConfirmSelectOk)
		publish(c, "d", persistent(), false)
		closed := make(chan error)
		go func() { closed <- r.Close(context.Background()) }()
		c.silent("the log is not synced")
		s.sync()
		c.expect(amqp.MethodBasicAck)
		c.expect(amqp.MethodConnectionClose)
		c.send(0, &amqp.ConnectionCloseOk{})
		c.conn.Close()
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
}

// What clients leave behind at a stop is not deleted: an auto-delete queue that is durable has its messages after the restart.
func TestStopDeletesNothing(t *testing.T) {
	onFullStore(t, func(t *testing.T, r *rig, s *fullStore, c *client) {
		c.call(1, &amqp.QueueDeclare{Queue: "a", Durable: true, AutoDelete: true}, amqp.MethodQueueDeclareOk)
		c.call(1, &amqp.ExchangeDeclare{Exchange: "x", Type: "fanout", Durable: true, AutoDelete: true}, amqp.MethodExchangeDeclareOk)
		c.call(1, &amqp.QueueDeclare{Queue: "e", Exclusive: true}, amqp.MethodQueueDeclareOk)
		c.call(1, &amqp.QueueBind{Queue: "e", Exchange: "x"}, amqp.MethodQueueBindOk)
		c.call(1, &amqp.BasicConsume{Queue: "a"}, amqp.MethodBasicConsumeOk)
		closed := make(chan error)
		go func() { closed <- r.Close(context.Background()) }()
		c.expect(amqp.MethodConnectionClose)
		c.conn.Close()
		if err := <-closed; err != nil {
			t.Error(err)
		}
		for _, bucket := range []struct{ name, key string }{{"queues of /", "a"}, {"exchanges of /", "x"}} {
			found := false
			err := s.Load(bucket.name, func(key string, _ []byte) error {
				found = found || key == bucket.key
				return nil
			})
			if err != nil || !found {
				t.Errorf("%s is not among the %s any more (%v)", bucket.key, bucket.name, err)
			}
		}
	})
}
