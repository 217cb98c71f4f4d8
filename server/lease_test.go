package server_test

import (
	"errors"
	"testing"
	"time"

	"leveret/amqp"
	"leveret/server"
)

// extend asks for more time for a delivery on channel 1.
func (c *client) extend(tag string, ms any, mandatory bool) {
	c.t.Helper()
	p := &amqp.Properties{}
	if ms != nil {
		p = &amqp.Properties{Flags: amqp.FlagHeaders, Headers: amqp.Table{{Name: "x-lease", Value: ms}}}
	}
	c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("leveret.lease." + tag), Mandatory: mandatory}, p, nil)
	c.mustFlush()
}

// A lease gives a delivery more time, as often as it is asked for: anew, or for so long from now.
func TestLease(t *testing.T) {
	for _, tt := range []struct {
		name string
		ms   any
		want time.Duration
	}{
		{"anew", nil, 10 * time.Second},
		{"longer", int64(60_000), time.Minute},
		{"shorter", int32(1000), time.Second},
		{"no longer than a day", int64(1) << 62, 24 * time.Hour},
		{"nonsense is as nothing", "long", 10 * time.Second},
		{"and so is a negative time", int32(-5), 10 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			timed(t, testOptions(), amqp.Table{timeoutOf(10_000)}, func(r *rig, c *client) {
				c.consume("t")
				c.quietFor(7 * time.Second)
				c.extend("1", tt.ms, false)
				c.quietFor(min(tt.want, 7*time.Second) - time.Millisecond)
				c.extend("1", tt.ms, false)
				c.quietFor(tt.want)
				c.soon(amqp.MethodBasicCancel)
				if got := r.Stats(); got.Unroutable != 0 || got.TimedOut != 1 {
					t.Errorf("%d unroutable, %d timed out; want 0 and 1", got.Unroutable, got.TimedOut)
				}
			})
		})
	}
}

// A lease is confirmed like any message; one for a delivery that is not outstanding is dropped or comes back like one that no queue wants. A
// queue of the very name gets it.
func TestLeaseIsAMessage(t *testing.T) {
	timed(t, testOptions(), amqp.Table{timeoutOf(10_000)}, func(r *rig, c *client) {
		c.consume("t")
		c.call(1, &amqp.ConfirmSelect{}, amqp.MethodConfirmSelectOk)
		c.extend("1", nil, true)
		c.says("1 basic.ack delivery-tag=1")
		for _, unknown := range []string{"2", "0", "", "x", "18446744073709551616"} {
			c.extend(unknown, nil, true)
			c.expect(amqp.MethodBasicReturn)
			c.mustContent()
			c.expect(amqp.MethodBasicAck)
		}
		c.extend("2", nil, false)
		c.expect(amqp.MethodBasicAck)
		if got := r.Stats(); got.Unroutable != 1 || got.Returned != 5 {
			t.Errorf("%d unroutable, %d returned; want 1 and 5", got.Unroutable, got.Returned)
		}
		c.declare("leveret.lease.1")
		c.extend("1", nil, true)
		c.expect(amqp.MethodBasicAck)
		c.call(1, &amqp.BasicGet{Queue: "leveret.lease.1"}, amqp.MethodBasicGetOk)
		c.mustContent()
	})
}

// In a transaction it counts from the commit on.
func TestLeaseInATransaction(t *testing.T) {
	timed(t, testOptions(), amqp.Table{timeoutOf(10_000)}, func(_ *rig, c *client) {
		c.consume("t")
		c.call(1, &amqp.TxSelect{}, amqp.MethodTxSelectOk)
		c.extend("1", nil, false)
		c.quietFor(8 * time.Second)
		c.call(1, &amqp.TxCommit{}, amqp.MethodTxCommitOk)
		c.quietFor(10 * time.Second)
		c.soon(amqp.MethodBasicCancel)
	})
}

// Whoever administers the broker can do the same.
func TestExtendLease(t *testing.T) {
	timed(t, testOptions(), amqp.Table{timeoutOf(10_000)}, func(r *rig, c *client) {
		c.consume("t")
		c.quietFor(9 * time.Second)
		if err := r.ExtendLease(1, 1, 1, time.Minute); err != nil {
			t.Fatal(err)
		}
		for _, id := range [][3]uint64{{2, 1, 1}, {1, 2, 1}, {1, 1, 2}} {
			if err := r.ExtendLease(id[0], uint16(id[1]), id[2], 0); !errors.Is(err, server.ErrNoDelivery) {
				t.Errorf("connection %d, channel %d, tag %d: %v", id[0], id[1], id[2], err)
			}
		}
		c.quietFor(time.Minute)
		c.soon(amqp.MethodBasicCancel)
	})
}
