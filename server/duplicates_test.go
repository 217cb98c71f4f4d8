package server_test

import (
	"testing"
	"testing/synctest"

	"leveret/amqp"
	"leveret/store"
)

// keyed are the properties of a persistent message with a key for duplicates.
func keyed(key string) *amqp.Properties {
	p := persistent()
	p.Flags |= amqp.FlagHeaders
	p.Headers = amqp.Table{{Name: "x-deduplication-header", Value: key}}
	return p
}

// publishTo publishes to an exchange and waits until the broker is done with it.
func publishTo(c *client, exchange string, p *amqp.Properties, mandatory bool) {
	c.t.Helper()
	c.addPublish(1, &amqp.BasicPublish{Exchange: []byte(exchange), Mandatory: mandatory}, p, []byte("body"))
	c.mustFlush()
	synctest.Wait()
}

// deduplicating declares an exchange that looks for duplicates, bound to the durable queue "d".
func deduplicating(c *client) {
	c.t.Helper()
	c.call(1, &amqp.ExchangeDeclare{
		Exchange: "x", Type: "fanout", Durable: true, Arguments: amqp.Table{{Name: "x-message-deduplication", Value: true}},
	}, amqp.MethodExchangeDeclareOk)
	c.call(1, &amqp.QueueBind{Queue: "d", Exchange: "x"}, amqp.MethodQueueBindOk)
}

// holds counts the messages of a queue.
func (c *client) holds(queue string, want uint32) {
	c.t.Helper()
	m := c.call(1, &amqp.QueueDeclare{Queue: queue, Passive: true}, amqp.MethodQueueDeclareOk).(*amqp.QueueDeclareOk)
	if m.MessageCount != want {
		c.t.Errorf("queue %q holds %d messages, want %d", queue, m.MessageCount, want)
	}
}

// acked expects one confirm, of this publish and all before.
func (c *client) acked(tag uint64) {
	c.t.Helper()
	if m := c.expect(amqp.MethodBasicAck).(*amqp.BasicAck); m.DeliveryTag != tag {
		c.t.Errorf("got the confirm of %d, want %d", m.DeliveryTag, tag)
	}
}

// A duplicate is not stored and not returned. It is confirmed when the log has its original: else a crash could lose both.
func TestDuplicateIsConfirmedWithItsOriginal(t *testing.T) {
	onSlowStore(t, func(t *testing.T, s *slowStore, c *client) {
		deduplicating(c)
		c.call(1, &amqp.ConfirmSelect{}, amqp.MethodConfirmSelectOk)
		publishTo(c, "x", keyed("a"), false)
		publishTo(c, "x", keyed("a"), true)
		c.silent("the log has not synced")
		s.sync()
		c.acked(2)
		publishTo(c, "x", keyed("a"), true)
		c.acked(3)
		publishTo(c, "x", keyed("b"), false)
		s.sync()
		c.acked(4)
		c.holds("d", 2)
	})
}

// The same from another connection, which has nothing of its own in the log.
func TestDuplicateOfAnotherConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowStore{Memory: store.NewMemory()}
		r := newRig(t, testOptions(), s)
		defer r.stop()
		first, second := r.pipe(), r.pipe()
		for _, c := range []*client{first, second} {
			defer c.conn.Close()
			c.mustOpen()
		}
		first.call(1, &amqp.QueueDeclare{Queue: "d", Durable: true}, amqp.MethodQueueDeclareOk)
		deduplicating(first)
		second.call(1, &amqp.ConfirmSelect{}, amqp.MethodConfirmSelectOk)
		publishTo(first, "x", keyed("a"), false)
		publishTo(second, "x", keyed("a"), false)
		second.silent("the log does not have the original")
		s.sync()
		second.acked(1)
		second.holds("d", 1)
		if n := r.Stats().Counters.Duplicates; n != 1 {
			t.Errorf("%d duplicates were counted", n)
		}
	})
}

// What a transaction holds is not there before its commit, for duplicates either.
func TestDuplicatesInTransactions(t *testing.T) {
	onSlowStore(t, func(t *testing.T, s *slowStore, c *client) {
		deduplicating(c)
		c.call(1, &amqp.TxSelect{}, amqp.MethodTxSelectOk)
		publishTo(c, "x", keyed("a"), false)
		c.call(1, &amqp.TxRollback{}, amqp.MethodTxRollbackOk)
		publishTo(c, "x", keyed("a"), false)
		publishTo(c, "x", keyed("a"), false)
		c.send(1, &amqp.TxCommit{})
		synctest.Wait()
		s.sync()
		c.expect(amqp.MethodTxCommitOk)
		c.holds("d", 1)
		publishTo(c, "x", keyed("a"), false)
		c.send(1, &amqp.TxCommit{})
		synctest.Wait()
		s.sync()
		c.expect(amqp.MethodTxCommitOk)
		c.holds("d", 1)
	})
}

// A message that a queue refused is sent again, and must get through then.
func TestRefusedMessageIsNoDuplicate(t *testing.T) {
	for _, length := range []int32{0, 1} { // full before the message comes, and by the one before it in its batch
		onSlowStore(t, func(t *testing.T, s *slowStore, c *client) {
			c.call(1, &amqp.QueueDeclare{Queue: "full", Durable: true, Arguments: amqp.Table{
				{Name: "x-max-length", Value: length}, {Name: "x-overflow", Value: "reject-publish"},
			}}, amqp.MethodQueueDeclareOk)
			c.call(1, &amqp.ExchangeDeclare{
				Exchange: "x", Type: "fanout", Arguments: amqp.Table{{Name: "x-message-deduplication", Value: true}},
			}, amqp.MethodExchangeDeclareOk)
			c.call(1, &amqp.QueueBind{Queue: "full", Exchange: "x"}, amqp.MethodQueueBindOk)
			c.call(1, &amqp.ConfirmSelect{}, amqp.MethodConfirmSelectOk)
			for _, key := range []string{"first", "second"} {
				c.addPublish(1, &amqp.BasicPublish{Exchange: []byte("x")}, keyed(key), nil)
			}
			c.mustFlush()
			synctest.Wait()
			s.sync()
			if length > 0 {
				c.acked(1)
			}
			c.expect(amqp.MethodBasicNack)
			c.call(1, &amqp.QueueDelete{Queue: "full"}, amqp.MethodQueueDeleteOk)
			c.call(1, &amqp.QueueBind{Queue: "d", Exchange: "x"}, amqp.MethodQueueBindOk)
			publishTo(c, "x", keyed("second"), false)
			s.sync()
			c.acked(3)
			c.holds("d", 1)
		})
	}
}

// A message that is refused for what is in it leaves no key behind.
func TestInvalidMessageIsNoOriginal(t *testing.T) {
	onSlowStore(t, func(t *testing.T, s *slowStore, c *client) {
		deduplicating(c)
		p := keyed("a")
		p.Flags |= amqp.FlagUserID
		p.UserID = "somebody else"
		publishTo(c, "x", p, false)
		c.expect(amqp.MethodChannelClose)
		c.send(1, &amqp.ChannelCloseOk{})
		c.call(1, &amqp.ChannelOpen{}, amqp.MethodChannelOpenOk)
		publishTo(c, "x", keyed("a"), false)
		c.holds("d", 1)
	})
}

// The queue's own window: a duplicate goes to the other queues alone.
func TestDuplicatesOfAQueue(t *testing.T) {
	onSlowStore(t, func(t *testing.T, s *slowStore, c *client) {
		c.call(1, &amqp.QueueDeclare{
			Queue: "once", Durable: true, Arguments: amqp.Table{{Name: "x-message-deduplication", Value: true}},
		}, amqp.MethodQueueDeclareOk)
		for _, q := range []string{"once", "d"} {
			c.call(1, &amqp.QueueBind{Queue: q, Exchange: "amq.fanout"}, amqp.MethodQueueBindOk)
		}
		c.call(1, &amqp.ConfirmSelect{}, amqp.MethodConfirmSelectOk)
		for range 3 {
			publishTo(c, "amq.fanout", keyed("a"), true)
		}
		s.sync()
		c.acked(3)
		c.holds("once", 1)
		c.holds("d", 3)
		publish(c, "once", keyed("a"), true)
		s.sync()
		c.acked(4)
		c.holds("once", 1)
	})
}
