package server_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"leveret/amqp"
	"leveret/frame"
	"leveret/store"
)

// slowStore is durable only when the test says so.
type slowStore struct {
	*store.Memory
	durable atomic.Uint64
	kick    func()
}

func (s *slowStore) Durable() store.LSN    { return store.LSN(s.durable.Load()) }
func (s *slowStore) OnDurable(kick func()) { s.kick = kick }

// sync makes all durable that was appended.
func (s *slowStore) sync() {
	s.durable.Store(uint64(s.Memory.Durable()))
	s.kick()
}

// onSlowStore plays with a client that has a durable queue "d" and a transient one "t".
func onSlowStore(t *testing.T, play func(t *testing.T, s *slowStore, c *client)) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowStore{Memory: store.NewMemory()}
		r := newRig(t, testOptions(), s)
		defer r.stop()
		c := r.pipe()
		defer c.conn.Close()
		c.mustOpen()
		c.call(1, &amqp.QueueDeclare{Queue: "d", Durable: true}, amqp.MethodQueueDeclareOk)
		c.call(1, &amqp.QueueDeclare{Queue: "t"}, amqp.MethodQueueDeclareOk)
		play(t, s, c)
	})
}

// persistent are the properties of a message that the log has to keep.
func persistent() *amqp.Properties {
	return &amqp.Properties{Flags: amqp.FlagDeliveryMode, DeliveryMode: amqp.Persistent}
}

func publish(c *client, key string, p *amqp.Properties, mandatory bool) {
	c.t.Helper()
	c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte(key), Mandatory: mandatory}, p, []byte(key))
	c.mustFlush()
	synctest.Wait()
}

// silent holds that nothing has come.
func (c *client) silent(why string) {
	c.t.Helper()
	synctest.Wait()
	defer func(before time.Duration) { c.patience = before }(c.patience)
	c.patience = time.Second
	if f, err := c.next(); !isTimeout(err) {
		c.t.Fatalf("%s: got %s (%v), want nothing", why, frame.Dump(f), err)
	}
}

// A persistent message in a durable queue is confirmed when the log has it; what comes behind waits for it, so that confirms keep their
// order. Messages that need no log are confirmed at once.
func TestConfirmWaitsForTheLog(t *testing.T) {
	onSlowStore(t, func(t *testing.T, s *slowStore, c *client) {
		c.call(1, &amqp.ConfirmSelect{}, amqp.MethodConfirmSelectOk)
		for i, p := range []struct {
			key        string
			properties *amqp.Properties
		}{{"t", persistent()}, {"d", nil}, {"none", persistent()}} {
			publish(c, p.key, p.properties, false)
			if m := c.expect(amqp.MethodBasicAck).(*amqp.BasicAck); m.DeliveryTag != uint64(i+1) || m.Multiple {
				t.Errorf("got the confirm of %d, multiple %t, want %d", m.DeliveryTag, m.Multiple, i+1)
			}
		}
		publish(c, "d", persistent(), false)
		publish(c, "t", nil, false)
		c.silent("the log has not synced")
		publish(c, "none", nil, true)
		c.expect(amqp.MethodBasicReturn) // comes at once, before its confirm
		if _, err := c.content(); err != nil {
			t.Fatal(err)
		}
		c.silent("the log has not synced")
		s.sync()
		if m := c.expect(amqp.MethodBasicAck).(*amqp.BasicAck); m.DeliveryTag != 6 || !m.Multiple {
			t.Errorf("got the confirm of %d, multiple %t, want all up to 6", m.DeliveryTag, m.Multiple)
		}
	})
}

// A channel that has closed gets no confirms, and its number starts anew.
func TestConfirmOfAClosedChannel(t *testing.T) {
	onSlowStore(t, func(t *testing.T, s *slowStore, c *client) {
		c.call(1, &amqp.ConfirmSelect{}, amqp.MethodConfirmSelectOk)
		publish(c, "d", persistent(), false)
		c.call(1, &amqp.ChannelClose{}, amqp.MethodChannelCloseOk)
		c.call(1, &amqp.ChannelOpen{}, amqp.MethodChannelOpenOk)
		c.call(1, &amqp.ConfirmSelect{}, amqp.MethodConfirmSelectOk)
		s.sync()
		c.silent("the channel is another")
		publish(c, "t", nil, false)
		if m := c.expect(amqp.MethodBasicAck).(*amqp.BasicAck); m.DeliveryTag != 1 {
			t.Errorf("got the confirm of %d, want 1", m.DeliveryTag)
		}
	})
}

// tx.commit is answered when the log has all of it. Other channels go on meanwhile; on its own any method is too early.
func TestCommitWaitsForTheLog(t *testing.T) {
	onSlowStore(t, func(t *testing.T, s *slowStore, c *client) {
		c.call(2, &amqp.ChannelOpen{}, amqp.MethodChannelOpenOk)
		c.call(1, &amqp.TxSelect{}, amqp.MethodTxSelectOk)
		publish(c, "d", persistent(), false)
		publish(c, "none", nil, true)
		c.send(1, &amqp.TxCommit{})
		c.expect(amqp.MethodBasicReturn)
		if _, err := c.content(); err != nil {
			t.Fatal(err)
		}
		c.silent("the log has not synced")
		c.call(2, &amqp.BasicQos{}, amqp.MethodBasicQosOk)
		s.sync()
		c.expect(amqp.MethodTxCommitOk)
		c.call(1, &amqp.TxCommit{}, amqp.MethodTxCommitOk) // an empty one has nothing to wait for
		publish(c, "d", persistent(), false)
		c.send(1, &amqp.TxCommit{}, &amqp.BasicQos{})
		m := c.expect(amqp.MethodConnectionClose).(*amqp.ConnectionClose)
		if want := "CHANNEL_ERROR - unexpected command while processing 'tx.commit'"; m.ReplyText != want {
			t.Errorf("got %q, want %q", m.ReplyText, want)
		}
	})
}

// In a batch of any size, what comes back comes before the confirm that covers it.
func TestReturnsComeBeforeTheirConfirms(t *testing.T) {
	r := start(t, testOptions())
	c := r.open()
	c.declare("q")
	c.call(1, &amqp.ConfirmSelect{}, amqp.MethodConfirmSelectOk)
	const messages = 3000
	var want []uint64 // tags of those that come back
	for tag := uint64(1); tag <= messages; tag++ {
		m := &amqp.BasicPublish{RoutingKey: []byte("q"), Mandatory: true}
		if tag%7 == 0 {
			m.RoutingKey = []byte("nobody")
			want = append(want, tag)
		}
		c.addPublish(1, m, nil, bodyOf(tag, 10))
	}
	c.mustFlush()
	for confirmed := uint64(0); confirmed < messages; {
		f, err := c.next()
		if err != nil {
			t.Fatal(err)
		}
		switch f.MethodID() {
		case amqp.MethodBasicReturn:
			body, err := c.content()
			if err != nil {
				t.Fatal(err)
			}
			if tag, err := numberOf(body); err != nil || len(want) == 0 || tag != want[0] || tag <= confirmed {
				t.Fatalf("message %d (%v) came back; %d are confirmed, %d have to come back", tag, err, confirmed, len(want))
			}
			want = want[1:]
		case amqp.MethodBasicAck:
			var m amqp.BasicAck
			if err := m.Decode(f.Arguments()); err != nil {
				t.Fatal(err)
			}
			if confirmed = m.DeliveryTag; len(want) > 0 && want[0] <= confirmed {
				t.Fatalf("%d are confirmed, message %d did not come back before", confirmed, want[0])
			}
		default:
			t.Fatalf("unexpected %s", frame.Dump(f))
		}
	}
	c.goodbye()
}
