package server_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"leveret/amqp"
	"leveret/server"
	"leveret/store"
)

// timed plays with a client on a clock of the test's own. The queue "q" has the arguments; what is published to it says "m".
func timed(t *testing.T, o server.Options, arguments amqp.Table, play func(r *rig, c *client)) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, o, store.NewMemory())
		defer r.stop()
		c := r.pipe()
		defer c.conn.Close()
		c.mustOpen()
		c.call(1, &amqp.QueueDeclare{Queue: "q", Durable: true, Arguments: arguments}, amqp.MethodQueueDeclareOk)
		play(r, c)
	})
}

func quorum(more ...amqp.Field) amqp.Table {
	return append(amqp.Table{{Name: "x-queue-type", Value: "quorum"}}, more...)
}

func timeoutOf(ms int64) amqp.Field { return amqp.Field{Name: "x-consumer-timeout", Value: ms} }

// consume starts a consumer, tagged as its prefetch is 1, and takes its first delivery.
func (c *client) consume(tag string, arguments ...amqp.Field) {
	c.t.Helper()
	c.call(1, &amqp.BasicQos{PrefetchCount: 1}, amqp.MethodBasicQosOk)
	c.call(1, &amqp.BasicConsume{Queue: "q", ConsumerTag: tag, Arguments: arguments}, amqp.MethodBasicConsumeOk)
	c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, nil, []byte("m"))
	c.mustFlush()
	c.expect(amqp.MethodBasicDeliver)
	c.mustContent()
}

func (c *client) mustContent() {
	c.t.Helper()
	if _, err := c.content(); err != nil {
		c.t.Fatal(err)
	}
}

// quietFor holds that nothing comes for so long, to the millisecond.
func (c *client) quietFor(d time.Duration) {
	c.t.Helper()
	defer func(before time.Duration) { c.patience = before }(c.patience)
	c.patience = d - time.Millisecond
	if f, err := c.next(); !isTimeout(err) {
		c.t.Fatalf("got %v (%v) within %s", f, err, d)
	}
}

// soon reads the method that must come within 100 ms.
func (c *client) soon(want amqp.MethodID) amqp.Method {
	c.t.Helper()
	defer func(before time.Duration) { c.patience = before }(c.patience)
	c.patience = 100 * time.Millisecond
	return c.expect(want)
}

// got takes a message by basic.get.
func (c *client) got(channel uint16) *amqp.BasicGetOk {
	c.t.Helper()
	m := c.call(channel, &amqp.BasicGet{Queue: "q"}, amqp.MethodBasicGetOk).(*amqp.BasicGetOk)
	c.mustContent()
	return m
}

// Whoever sets it, when its time is up a delivery comes back and its consumer is cancelled. To settle it afterwards is no error, once.
func TestConsumerTimeout(t *testing.T) {
	for _, tt := range []struct {
		name      string
		options   func(*server.Options)
		queue     amqp.Table
		arguments []amqp.Field
		want      time.Duration
	}{
		{"of the consumer", nil, nil, []amqp.Field{timeoutOf(1000)}, time.Second},
		{"of the queue", nil, amqp.Table{timeoutOf(2000)}, nil, 2 * time.Second},
		{"of the consumer before that of the queue", nil, amqp.Table{timeoutOf(1000)}, []amqp.Field{timeoutOf(90_000)}, 90 * time.Second},
		{"of the server for quorum queues", nil, quorum(), nil, 30 * time.Minute},
		{"of the server for all queues", func(o *server.Options) {
			o.ConsumerTimeoutAll, o.ConsumerTimeout = true, 5*time.Second
		}, nil, nil, 5 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := testOptions()
			if tt.options != nil {
				tt.options(&o)
			}
			timed(t, o, tt.queue, func(r *rig, c *client) {
				c.call(2, &amqp.ChannelOpen{}, amqp.MethodChannelOpenOk)
				c.consume("slow", tt.arguments...)
				c.quietFor(tt.want)
				if m := c.soon(amqp.MethodBasicCancel).(*amqp.BasicCancel); m.ConsumerTag != "slow" || !m.NoWait {
					t.Errorf("cancelled %q, no-wait %t", m.ConsumerTag, m.NoWait)
				}
				if m := c.got(2); !m.Redelivered {
					t.Error("it came back without a mark")
				}
				if m := c.call(2, &amqp.QueueDeclare{Queue: "q", Passive: true}, amqp.MethodQueueDeclareOk).(*amqp.QueueDeclareOk); m.ConsumerCount != 0 {
					t.Errorf("%d consumers are left", m.ConsumerCount)
				}
				c.send(1, &amqp.BasicAck{DeliveryTag: 1, Multiple: true})
				c.call(1, &amqp.BasicQos{}, amqp.MethodBasicQosOk)
				c.send(1, &amqp.BasicAck{DeliveryTag: 1})
				if m := c.expect(amqp.MethodChannelClose).(*amqp.ChannelClose); !strings.HasSuffix(m.ReplyText, "unknown delivery tag 1") {
					t.Errorf("got %q", m.ReplyText)
				}
				if got := r.Stats().TimedOut; got != 1 {
					t.Errorf("counted %d, want 1", got)
				}
			})
		})
	}
}

// Where nothing says so there is no timeout.
func TestNoConsumerTimeout(t *testing.T) {
	none := testOptions()
	none.ConsumerTimeout = 0
	for _, tt := range []struct {
		name      string
		options   server.Options
		queue     amqp.Table
		arguments []amqp.Field
	}{
		{"a classic queue", testOptions(), nil, nil},
		{"the server's is off", none, quorum(), nil},
		{"the queue's is off", testOptions(), quorum(timeoutOf(0)), nil},
		{"the consumer's is off", testOptions(), quorum(timeoutOf(1000)), []amqp.Field{timeoutOf(0)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			timed(t, tt.options, tt.queue, func(_ *rig, c *client) {
				c.consume("t", tt.arguments...)
				c.quietFor(12 * time.Hour)
			})
		})
	}
}

// As before RabbitMQ 4.3, or with a client that does not understand that it is cancelled, the channel ends.
func TestConsumerTimeoutClosesTheChannel(t *testing.T) {
	for _, tt := range []struct {
		name  string
		close bool
		want  string
	}{
		{"configured", true, "Timeout value used: 1000 ms."},
		{"client without cancel notification", false, "Timeout value used: -1 ms."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := testOptions()
			o.ConsumerTimeoutCloses = tt.close
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, o, store.NewMemory())
				defer r.stop()
				c, other := r.pipe(), r.pipe()
				defer c.conn.Close()
				defer other.conn.Close()
				other.mustOpen()
				if err := c.opening(opening{plain: !tt.close}); err != nil {
					t.Fatal(err)
				}
				c.call(1, &amqp.QueueDeclare{Queue: "q", Arguments: amqp.Table{timeoutOf(1000)}}, amqp.MethodQueueDeclareOk)
				c.consume("slow")
				c.quietFor(time.Second)
				m := c.soon(amqp.MethodChannelClose).(*amqp.ChannelClose)
				if m.ReplyCode != 406 || m.ClassID != 0 || m.MethodID != 0 || !strings.Contains(m.ReplyText, "on channel 1 timed out. "+tt.want) {
					t.Errorf("got %+v", m)
				}
				if m := other.got(1); !m.Redelivered {
					t.Error("it came back without a mark")
				}
			})
		})
	}
}

// Only what is too old comes back, and consumers that are not to blame stay.
func TestOthersStayWhenOneIsTooSlow(t *testing.T) {
	timed(t, testOptions(), nil, func(_ *rig, c *client) {
		c.consume("slow", timeoutOf(2000))
		c.call(1, &amqp.BasicConsume{Queue: "q", ConsumerTag: "patient"}, amqp.MethodBasicConsumeOk)
		c.quietFor(time.Second)
		c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, nil, []byte("n"))
		c.mustFlush()
		c.expect(amqp.MethodBasicDeliver)
		c.mustContent()
		c.quietFor(time.Second)
		c.soon(amqp.MethodBasicCancel)
		c.quietFor(time.Hour)
		c.send(1, &amqp.BasicAck{DeliveryTag: 2})
		if m := c.expect(amqp.MethodBasicDeliver).(*amqp.BasicDeliver); m.ConsumerTag != "patient" || !m.Redelivered {
			t.Errorf("went to %q, redelivered %t", m.ConsumerTag, m.Redelivered)
		}
		c.mustContent()
	})
}

// What was got times out as well; nobody is told, for there is nobody to cancel.
func TestGetTimesOut(t *testing.T) {
	timed(t, testOptions(), quorum(timeoutOf(5000)), func(_ *rig, c *client) {
		c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, nil, []byte("m"))
		first := c.got(1)
		c.quietFor(4900 * time.Millisecond)
		c.call(1, &amqp.BasicGet{Queue: "q"}, amqp.MethodBasicGetEmpty)
		c.quietFor(150 * time.Millisecond)
		if m := c.got(1); !m.Redelivered {
			t.Error("it came back without a mark")
		}
		c.send(1, &amqp.BasicReject{DeliveryTag: first.DeliveryTag})
		c.call(1, &amqp.BasicQos{}, amqp.MethodBasicQosOk)
	})
}

// A timeout that a queue gets later holds for deliveries that were made before.
func TestTimeoutThatComesLater(t *testing.T) {
	timed(t, testOptions(), nil, func(r *rig, c *client) {
		c.consume("slow")
		q, err := r.VHost("/").Queue("q", 0)
		if err != nil {
			t.Fatal(err)
		}
		set := q.Settings()
		set.ConsumerTimeout = 1000
		q.Apply(set)
		c.patience = 61 * time.Second
		c.expect(amqp.MethodBasicCancel)
	})
}

// With a fifth of the time left the operator is warned, once.
func TestWarningBeforeTimeout(t *testing.T) {
	var log bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		r := newRigLogging(t, testOptions(), store.NewMemory(), slog.NewTextHandler(&log, nil))
		defer r.stop()
		c := r.pipe()
		defer c.conn.Close()
		c.mustOpen()
		c.call(1, &amqp.QueueDeclare{Queue: "q", Arguments: amqp.Table{timeoutOf(10_000)}}, amqp.MethodQueueDeclareOk)
		c.consume("slow")
		c.quietFor(7900 * time.Millisecond)
		if n := r.Stats().TimeoutWarnings; n != 0 {
			t.Errorf("%d warnings too early", n)
		}
		c.quietFor(200 * time.Millisecond)
		if n := r.Stats().TimeoutWarnings; n != 1 {
			t.Errorf("%d warnings, want 1", n)
		}
		c.quietFor(1800 * time.Millisecond)
		c.send(1, &amqp.BasicAck{DeliveryTag: 1})
		c.quietFor(time.Minute)
		if n := r.Stats().TimeoutWarnings; n != 1 {
			t.Errorf("%d warnings, want 1", n)
		}
	})
	if line := "a delivery is not settled and will soon be taken back"; strings.Count(log.String(), line) != 1 ||
		!strings.Contains(log.String(), "queue=q consumer_tag=slow ms_left=2000") {
		t.Errorf("logged:\n%s", log.String())
	}
}

// An auto-delete queue that loses its last consumer to a timeout is deleted.
func TestTimeoutDeletesAutoDeleteQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, testOptions(), store.NewMemory())
		defer r.stop()
		c := r.pipe()
		defer c.conn.Close()
		c.mustOpen()
		c.call(1, &amqp.QueueDeclare{Queue: "q", AutoDelete: true}, amqp.MethodQueueDeclareOk)
		c.consume("slow", timeoutOf(1000))
		c.quietFor(time.Second)
		c.soon(amqp.MethodBasicCancel)
		if n := r.VHost("/").Counts().Queues; n != 0 {
			t.Errorf("%d queues are left", n)
		}
	})
}
