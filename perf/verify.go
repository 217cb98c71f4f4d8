package perf

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"leveret/amqp"
	"leveret/frame"
)

// Verdict is what Verify has found.
type Verdict struct {
	Confirmed   uint64 `json:"confirmed"`   // messages that the log names
	Lost        uint64 `json:"lost"`        // of those, the ones that did not come
	Twice       uint64 `json:"twice"`       // messages that came more than once
	Unconfirmed uint64 `json:"unconfirmed"` // that came without the log naming them: nobody promised them, nor that they be gone
	FirstLost   string `json:"first_lost,omitempty"`
}

// Verify takes all messages out of a queue and compares them with what Run noted as confirmed in Options.ConfirmedLog: whatever was
// confirmed has to be there. Nobody else may use the queue meanwhile. Options tell the broker and the queue.
func Verify(ctx context.Context, o Options, confirmed io.Reader) (*Verdict, error) {
	promised, err := readConfirmed(confirmed)
	if err != nil {
		return nil, err
	}
	t, err := parseURI(o.URI)
	if err != nil {
		return nil, err
	}
	c, err := dial(ctx, t, &o)
	if err != nil {
		return nil, err
	}
	defer c.close()
	m, err := c.call(&amqp.QueueDeclare{Queue: o.Queue, Passive: true}, amqp.MethodQueueDeclareOk)
	if err != nil {
		return nil, err
	}
	v := verifier{seen: make(map[stream]spans), left: uint64(m.(*amqp.QueueDeclareOk).MessageCount)}
	if v.left > 0 {
		if err := v.collect(ctx, c, o.Queue); err != nil {
			return nil, err
		}
	}
	return v.verdict(promised), nil
}

// verifier collects what a queue holds.
type verifier struct {
	seen map[stream]spans
	left uint64 // messages that are still to come

	size  uint64 // bytes of the body in hand that are still to come
	fresh bool   // no byte of it has come
	count uint64 // messages of runs that noted confirms
}

// errComplete ends the reading.
var errComplete = errors.New("everything has come")

// collect consumes until all has come that the queue held.
func (v *verifier) collect(ctx context.Context, c *client, queue string) error {
	if err := c.send(channelNumber, &amqp.BasicConsume{Queue: queue, NoAck: true}); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, c.interrupt)
	defer stop()
	for {
		c.conn.SetReadDeadline(time.Now().Add(c.timeout))
		err := c.batch(v.frame)
		switch {
		case errors.Is(err, errComplete):
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case interrupted(err):
			return fmt.Errorf("%d messages did not come within %s", v.left, c.timeout)
		case err != nil:
			return err
		}
	}
}

// frame looks at one frame.
func (v *verifier) frame(f frame.Frame) error {
	switch f.Type {
	case frame.TypeMethod:
		return closing(f)
	case frame.TypeHeader:
		v.size, v.fresh = binary.BigEndian.Uint64(f.Payload[4:]), true
	case frame.TypeBody:
		if v.fresh {
			v.take(f.Payload)
		}
		v.size, v.fresh = v.size-min(v.size, uint64(len(f.Payload))), false
	}
	if v.size > 0 || f.Type == frame.TypeHeartbeat {
		return nil
	}
	if v.left--; v.left == 0 {
		return errComplete
	}
	return nil
}

// take notes a message by the beginning of its body.
func (v *verifier) take(body []byte) {
	if id, ok := identityOf(body); ok {
		v.count++
		s := v.seen[id.stream]
		s.add(id.number)
		v.seen[id.stream] = s
	}
}

// verdict compares.
func (v *verifier) verdict(promised map[stream]spans) *Verdict {
	d := &Verdict{}
	distinct := uint64(0)
	for of, s := range v.seen {
		v.seen[of] = s.joined()
		distinct += v.seen[of].len()
	}
	d.Twice = v.count - distinct
	for of, s := range promised {
		d.Confirmed += s.len()
		for _, lost := range s.without(v.seen[of]) {
			if d.Lost == 0 {
				d.FirstLost = fmt.Sprintf("run %016x, producer %d, message %d", of.run, of.producer, lost.first)
			}
			d.Lost += lost.last - lost.first + 1
		}
	}
	d.Unconfirmed = distinct - (d.Confirmed - d.Lost)
	return d
}

// len is how many numbers joined spans have.
func (s spans) len() (n uint64) {
	for _, one := range s {
		n += one.last - one.first + 1
	}
	return n
}

// without returns what joined spans have and others, joined too, do not.
func (s spans) without(others spans) (rest spans) {
	for _, one := range s {
		for len(others) > 0 && others[0].last < one.first {
			others = others[1:]
		}
		for _, other := range others {
			if other.first > one.last || one.first > one.last {
				break
			}
			if other.first > one.first {
				rest = append(rest, span{one.first, other.first - 1})
			}
			one.first = other.last + 1
		}
		if one.first <= one.last {
			rest = append(rest, one)
		}
	}
	return rest
}
