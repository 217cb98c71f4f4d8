package server_test

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"leveret/amqp"
	"leveret/frame"
	"leveret/server"
	"leveret/store"
)

// octetsOf is what the first client of a dialogue says behind its opening.
func octetsOf(d *dialogue) (out []byte) {
	opened := false
	for _, s := range d.steps {
		if s.server || s.client != 1 {
			continue
		}
		if len(s.text) >= 4 && s.text[:4] == "open" {
			opened = true
			continue
		}
		if octets, err := encode(names{}.fill(s.text)); err == nil && opened {
			out = append(out, octets...)
		}
	}
	return out
}

// FuzzConnection: whatever comes behind a valid opening, the server does not panic, leaves no goroutine, and serves others.
func FuzzConnection(f *testing.F) {
	for _, d := range readDialogues(f) {
		if octets := octetsOf(d); len(octets) > 0 {
			f.Add(octets)
		}
	}
	f.Fuzz(func(t *testing.T, octets []byte) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, dialogueOptions(), store.NewMemory())
			r.Serve()
			defer r.stop()
			wild := r.pipe()
			wild.mustOpen()
			heard := make(chan struct{})
			go func() {
				defer close(heard)
				for b := make([]byte, 4096); ; {
					if _, err := wild.conn.Read(b); err != nil {
						return
					}
				}
			}()
			wild.conn.SetDeadline(time.Now().Add(time.Minute))
			wild.conn.Write(octets)
			synctest.Wait()
			serve(t, r)
			wild.conn.Close()
			<-heard
		})
	})
}

// serve plays a client that behaves well.
func serve(t *testing.T, r *rig) {
	c := r.pipe()
	defer c.conn.Close()
	c.mustOpen()
	c.declare("a queue that nobody else thinks of")
	c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("a queue that nobody else thinks of")}, nil, []byte("hello"))
	c.call(1, &amqp.BasicGet{NoAck: true}, amqp.MethodBasicGetOk)
	if body, err := c.content(); err != nil || string(body) != "hello" {
		t.Fatalf("%q (%v), want hello", body, err)
	}
	c.goodbye()
}

// FuzzWholePublish: the short way of a publish declines, or finds the same as the general way.
func FuzzWholePublish(f *testing.F) {
	seeds := []func(c *client){
		func(c *client) { c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, nil, []byte("hello")) },
		func(c *client) {
			c.addPublish(1, &amqp.BasicPublish{Exchange: []byte("amq.topic"), Mandatory: true}, nil, nil)
		},
		func(c *client) { c.addPublish(1, &amqp.BasicPublish{Immediate: true}, nil, []byte("x")) },
		func(c *client) { c.addPublish(1, &amqp.BasicPublish{Exchange: []byte("\xff")}, nil, []byte("x")) },
		func(c *client) { c.addPublish(2, &amqp.BasicPublish{}, nil, []byte("x")) },
		func(c *client) {
			p := amqp.Properties{Flags: amqp.FlagHeaders, Headers: amqp.Table{{Name: "h", Value: string(make([]byte, 5000))}}}
			c.addPublish(1, &amqp.BasicPublish{}, &p, []byte("x"))
		},
		func(c *client) { c.addPublish(1, &amqp.BasicPublish{}, nil, make([]byte, 5000)) },
	}
	for _, seed := range seeds {
		var c client
		seed(&c)
		f.Add(c.out, uint32(0))
		f.Add(c.out, uint32(4096))
		f.Add(c.out[:len(c.out)-1], uint32(131072))
	}
	f.Fuzz(func(t *testing.T, in []byte, frameMax uint32) {
		if frameMax != 0 {
			frameMax = max(frameMax, frame.MinSize) // none smaller can be agreed on
		}
		got, n := server.CutPublish(in, 1, frameMax)
		if n == 0 {
			return
		}
		want, m := generalPublish(t, in, frameMax)
		if n != m || !bytes.Equal(got.Address, want.Address) || !bytes.Equal(got.Properties, want.Properties) ||
			!bytes.Equal(got.Body, want.Body) || got.Mandatory != want.Mandatory {
			t.Errorf("got %+v of %d octets, want %+v of %d", got, n, want, m)
		}
	})
}

// generalPublish reads a publish frame by frame; anything else fails.
func generalPublish(t *testing.T, in []byte, frameMax uint32) (w server.Whole, n int) {
	next := func() frame.Frame {
		f, size, err := frame.Parse(in[n:], frameMax)
		if err != nil || size == 0 || f.Channel != 1 {
			t.Fatalf("at octet %d: frame of %d octets on channel %d: %v", n, size, f.Channel, err)
		}
		n += size
		return f
	}
	var m amqp.BasicPublish
	f := next()
	if f.Type != frame.TypeMethod || f.MethodID() != amqp.MethodBasicPublish {
		t.Fatalf("got %s", frame.Dump(f))
	}
	if err := m.Decode(f.Arguments()); err != nil || m.Immediate {
		t.Fatalf("got %s: %v", frame.Dump(f), err)
	}
	w.Address = append(append([]byte{byte(len(m.Exchange))}, m.Exchange...), byte(len(m.RoutingKey)))
	w.Address = append(w.Address, m.RoutingKey...)
	w.Mandatory = m.Mandatory
	var content frame.Content
	for content.Begin(amqp.MethodBasicPublish); !content.Done(); {
		e, err := content.Frame(next())
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == frame.TypeHeader {
			w.Properties = e.Payload
		} else {
			w.Body = append(w.Body, e.Payload...)
		}
	}
	return w, n
}
