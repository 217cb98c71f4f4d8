package server_test

import (
	"testing"
	"testing/synctest"
	"time"

	"leveret/amqp"
	"leveret/frame"
	"leveret/store"
)

// beating plays with a server on a clock of its own, over a connection with that heartbeat.
func beating(t *testing.T, seconds uint16, play func(t *testing.T, c *client)) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, testOptions(), store.NewMemory())
		r.Serve()
		defer r.stop()
		c := r.pipe()
		defer c.conn.Close()
		if err := c.opening(opening{heartbeat: seconds}); err != nil {
			t.Fatal(err)
		}
		play(t, c)
	})
}

// [connection.tune-ok heartbeat]: a heartbeat after each half interval in which nothing was sent; a client that is silent for two to three
// intervals is cut off.
func TestHeartbeatSent(t *testing.T) {
	const interval = 10 * time.Second
	beating(t, 10, func(t *testing.T, c *client) {
		opened := time.Now()
		last := opened
		beats := 0
		for {
			f, err := c.next()
			gap := time.Since(last)
			last = time.Now()
			if err != nil {
				break
			}
			if f.Type != frame.TypeHeartbeat {
				t.Fatalf("got %s, want heartbeats", frame.Dump(f))
			}
			if limit := interval / 2; gap > limit && beats > 0 || gap > interval {
				t.Errorf("heartbeat %d came %s after the one before, want %s", beats, gap, limit)
			}
			beats++
		}
		if silent := last.Sub(opened); silent < 2*interval || silent > 3*interval {
			t.Errorf("cut off after %s of silence, want two to three intervals of %s", silent, interval)
		}
	})
}

// Any traffic of the client keeps the connection.
func TestHeartbeatTraffic(t *testing.T) {
	beating(t, 2, func(t *testing.T, c *client) {
		for range 20 {
			time.Sleep(1900 * time.Millisecond)
			c.send(1, &amqp.BasicQos{})
			for {
				f, err := c.next()
				if err != nil {
					t.Fatal(err)
				}
				if f.Type == frame.TypeMethod {
					break
				}
			}
		}
	})
}

// A heartbeat of 0 is none, in both directions.
func TestHeartbeatNone(t *testing.T) {
	beating(t, 0, func(t *testing.T, c *client) {
		c.patience = 24 * time.Hour
		time.Sleep(time.Hour)
		c.call(1, &amqp.BasicQos{}, amqp.MethodBasicQosOk)
	})
}

// A client that is held back by the alarm is not blamed for what the server does not read, and still gets heartbeats.
func TestHeartbeatBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, testOptions(), store.NewMemory())
		defer r.stop()
		c := r.pipe()
		defer c.conn.Close()
		if err := c.opening(opening{heartbeat: 2}); err != nil {
			t.Fatal(err)
		}
		c.declare("q")
		r.HoldAlarm(true)
		c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, nil, []byte("x"))
		c.mustFlush()
		c.expect(amqp.MethodConnectionBlocked)
		c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, nil, []byte("held"))
		c.mustFlush()
		for range 20 {
			f, err := c.next()
			if err != nil || f.Type != frame.TypeHeartbeat {
				t.Fatalf("got %s (%v), want a heartbeat", frame.Dump(f), err)
			}
		}
		r.HoldAlarm(false)
		c.expect(amqp.MethodConnectionUnblocked)
	})
}
