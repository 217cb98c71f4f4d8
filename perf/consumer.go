package perf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"leveret/amqp"
	"leveret/frame"
)

// consumer consumes over one connection, in one goroutine.
type consumer struct {
	run      *run
	client   *client
	ackEvery uint64 // 0: automatic acknowledgement

	tag     uint64 // of the delivery in hand, or the last one
	acked   uint64 // the last tag that was acknowledged
	left    uint64 // bytes of the body in hand that are still to come
	fresh   bool   // no byte of that body has come
	surplus bool   // what comes is more than the run was to consume: it is neither counted nor acknowledged
	ack     amqp.BasicAck
	out     []byte // acknowledgements to write
	stamped []stamped

	received atomic.Uint64
	last     atomic.Int64 // when the last delivery came, by the run's clock

	mu          sync.Mutex // guards what follows
	redelivered uint64
	foreign     uint64 // messages that this run has not published
	latency     histogram
}

// stamped is how many messages of one read carry the same time: what was written together was stamped together, so that one lookup in the
// histogram does for many.
type stamped struct {
	at int64
	n  uint64
}

// consume takes deliveries until the client is interrupted.
func (s *consumer) consume() error {
	handle := s.frame
	for {
		err := s.client.batch(handle)
		if interrupted(err) && s.run.ending() {
			return s.finish()
		}
		if err != nil {
			return err
		}
		s.note()
		if err := s.flush(); err != nil {
			return err
		}
	}
}

// frame looks at one frame. A message is counted by the beginning of its body and acknowledged at the end of it, as it is there only then.
func (s *consumer) frame(f frame.Frame) error {
	switch f.Type {
	case frame.TypeMethod:
		return s.method(f)
	case frame.TypeHeader:
		s.left, s.fresh = binary.BigEndian.Uint64(f.Payload[4:]), true
		if s.left == 0 {
			s.count(nil)
		}
	case frame.TypeBody:
		if uint64(len(f.Payload)) > s.left {
			return errors.New("the broker sent more of a body than it announced")
		}
		if s.fresh {
			s.count(f.Payload)
		}
		s.left, s.fresh = s.left-uint64(len(f.Payload)), false
	}
	if s.left == 0 && f.Type != frame.TypeHeartbeat {
		s.acknowledge()
	}
	return nil
}

// method looks at what is no content. basic.deliver is taken apart by hand: decoding it would allocate its consumer tag, once a message.
func (s *consumer) method(f frame.Frame) error {
	switch f.MethodID() {
	case amqp.MethodBasicDeliver:
		// The consumer tag is one string for all: the delivery tag stands behind it, and a bit for redelivered.
		arguments := f.Arguments()
		if len(arguments) == 0 || len(arguments) < 1+int(arguments[0])+9 {
			return errors.New("the broker sent a basic.deliver that is cut short")
		}
		if s.surplus = s.surplus || !s.run.wantsMore(); s.surplus {
			return nil
		}
		arguments = arguments[1+int(arguments[0]):]
		s.tag = binary.BigEndian.Uint64(arguments)
		if arguments[8]&1 != 0 {
			s.mu.Lock()
			s.redelivered++
			s.mu.Unlock()
		}
		return nil
	case amqp.MethodBasicCancel:
		return errors.New("the broker cancelled a consumer: is its queue gone?")
	}
	return closing(f)
}

// count takes one message, by the beginning of its body.
func (s *consumer) count(body []byte) {
	if s.surplus {
		return
	}
	at, ok := stampOf(body, s.run.id)
	if !ok {
		at = foreign
	}
	if n := len(s.stamped); n > 0 && s.stamped[n-1].at == at {
		s.stamped[n-1].n++
		return
	}
	s.stamped = append(s.stamped, stamped{at, 1})
}

// foreign is the time of messages that carry none.
const foreign = -1

// note adds up what a read brought.
func (s *consumer) note() {
	if len(s.stamped) == 0 {
		return
	}
	now := s.run.now() // one clock reading for all that a read brought: nothing of it was seen earlier
	var n uint64
	s.mu.Lock()
	for _, m := range s.stamped {
		n += m.n
		if m.at == foreign {
			s.foreign += m.n
		} else {
			s.latency.add(time.Duration(now-m.at), m.n)
		}
	}
	s.mu.Unlock()
	s.stamped = s.stamped[:0]
	s.last.Store(now)
	s.received.Add(n)
}

// acknowledge puts an acknowledgement of all so far into what is written next, if enough have come together.
func (s *consumer) acknowledge() {
	if s.ackEvery == 0 || s.tag-s.acked < s.ackEvery {
		return
	}
	s.acked = s.tag
	s.ack = amqp.BasicAck{DeliveryTag: s.tag, Multiple: s.ackEvery > 1}
	s.out = frame.AppendMethod(s.out, channelNumber, &s.ack)
}

// finish acknowledges what had not come together to enough, so that nothing that was counted goes back to its queue.
func (s *consumer) finish() error {
	if s.ackEvery == 0 || s.tag == s.acked || s.left > 0 && !s.surplus {
		return nil
	}
	s.ackEvery = s.tag - s.acked
	s.acknowledge()
	return s.flush()
}

// flush writes the acknowledgements of one read.
func (s *consumer) flush() error {
	if len(s.out) == 0 {
		return nil
	}
	s.client.conn.SetWriteDeadline(time.Now().Add(s.client.timeout))
	_, err := s.client.conn.Write(s.out)
	s.out = s.out[:0]
	if interrupted(err) {
		return fmt.Errorf("the broker has not read acknowledgements for %s", s.client.timeout)
	}
	return hungUp(err)
}
