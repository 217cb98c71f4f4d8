package perf

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"leveret/amqp"
	"leveret/frame"
)

// producer publishes over one connection. publish runs in one goroutine and read in another.
type producer struct {
	run      *run
	client   *client
	template *template
	window   *window // nil without confirms
	limit    uint64  // messages to publish, 0 for no limit
	number   uint64  // among the producers
	step     int64   // nanoseconds from one message to the next, 0 for as fast as it goes
	phase    int64   // nanoseconds to the first one, so that producers don't all write at once

	next    int           // the template's next message
	sent    atomic.Uint64 // messages that are written whole
	blocked atomic.Bool   // the broker said that it is not reading
	idle    *time.Timer

	mu       sync.Mutex // guards what follows, and the window's confirms
	returned uint64
}

// publish is the producer's loop: how much may go, until when to wait for that, and one write.
//
// It writes messages until the limit is reached or the run stops, then waits for the confirms that are outstanding.
func (p *producer) publish() error {
	p.idle = time.NewTimer(p.client.timeout)
	defer p.idle.Stop()
	for !p.run.stopping() {
		n, at, err := p.due()
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		err = p.write(n, at)
		if errors.Is(err, errHungUp) {
			p.run.pause(p.idle, time.Second) // for the reader, who may have the broker's reason
		}
		if p.run.stopping() {
			break // a write that fails was cut short
		}
		if err != nil {
			return err
		}
	}
	return p.awaitConfirms()
}

// due waits until messages may be written, and returns how many and the time that they carry. 0 means that there are no more.
func (p *producer) due() (n uint64, at int64, err error) {
	sent := p.sent.Load()
	n = uint64(p.template.len() - p.next) // to the end of the template, so that one write does
	if p.limit > 0 {
		n = min(n, p.limit-sent)
	}
	at = p.run.now()
	if p.step > 0 && n > 0 {
		n, at = p.pace(n, sent)
	}
	if p.window != nil && n > 0 {
		free, err := p.room()
		if err != nil {
			return 0, 0, err
		}
		n = min(n, free)
	}
	return n, at, nil
}

// pace waits for the time of the next message and returns how many are due by then. What they carry is the time at which they should have
// gone out, so what the broker holds up counts as latency.
func (p *producer) pace(most, sent uint64) (n uint64, at int64) {
	at = p.phase + int64(sent)*p.step
	if wait := time.Duration(at - p.run.now()); wait > 0 && !p.run.pause(p.idle, wait) {
		return 0, 0
	}
	due := uint64(max(0, p.run.now()-p.phase)/p.step) + 1
	return min(most, max(due, sent+1)-sent), at
}

// room waits until the window has room, and returns how much. It is 0 when the run stops meanwhile.
func (p *producer) room() (uint64, error) {
	for {
		if free := p.window.free(); free > 0 {
			return free, nil
		}
		p.idle.Reset(p.client.timeout)
		select {
		case <-p.window.room:
		case <-p.run.stop:
			return 0, nil
		case <-p.idle.C:
			if !p.blocked.Load() { // a broker in need may hold back confirms for as long as it likes
				return 0, fmt.Errorf("the broker has confirmed nothing for %s", p.client.timeout)
			}
		}
	}
}

// write stamps n messages and writes them at once. A short write counts what is whole: the broker will never see the rest, as the
// connection is done for.
func (p *producer) write(n uint64, at int64) error {
	for i := range int(n) {
		p.template.stamp(p.next+i, at+int64(i)*p.step)
	}
	if p.run.options.ConfirmedLog != nil {
		for i := range int(n) {
			p.template.number(p.next+i, p.number, p.sent.Load()+uint64(i)+1)
		}
	}
	if p.window != nil {
		p.window.enter(n, at, p.step) // before the write, as confirms may be read before it returns
	}
	p.client.conn.SetWriteDeadline(time.Now().Add(p.client.timeout))
	written, err := p.client.conn.Write(p.template.span(p.next, int(n)))
	if err != nil {
		n = uint64(p.template.complete(p.next, written))
	}
	p.sent.Add(n)
	p.next = (p.next + int(n)) % p.template.len()
	if interrupted(err) {
		return fmt.Errorf("the broker has not read for %s", p.client.timeout)
	}
	return hungUp(err)
}

// awaitConfirms waits for the rest. Messages of a write that was cut short are not waited for.
func (p *producer) awaitConfirms() error {
	if p.window == nil {
		return nil
	}
	p.idle.Reset(p.client.timeout)
	for p.window.settled.Load() < p.sent.Load() {
		select {
		case <-p.window.room:
			p.idle.Reset(p.client.timeout)
		case <-p.run.failed:
			return nil
		case <-p.idle.C:
			return fmt.Errorf("%d messages are still not confirmed after %s", p.sent.Load()-p.window.settled.Load(), p.client.timeout)
		}
	}
	return nil
}

// read takes confirms, returned messages, and what the broker has to complain about. It ends when the client is interrupted.
func (p *producer) read() error {
	handle := p.frame
	for {
		err := p.client.batch(handle)
		if interrupted(err) && p.run.ending() {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// frame looks at one frame. The contents of returned messages are passed over: their method says all that is counted.
func (p *producer) frame(f frame.Frame) error {
	if f.Type != frame.TypeMethod {
		return nil // of a returned message
	}
	switch f.MethodID() {
	case amqp.MethodBasicAck:
		var m amqp.BasicAck
		if err := m.Decode(f.Arguments()); err != nil {
			return err
		}
		return p.confirm(m.DeliveryTag, m.Multiple, true)
	case amqp.MethodBasicNack:
		var m amqp.BasicNack
		if err := m.Decode(f.Arguments()); err != nil {
			return err
		}
		return p.confirm(m.DeliveryTag, m.Multiple, false)
	case amqp.MethodBasicReturn:
		p.mu.Lock()
		p.returned++
		p.mu.Unlock()
	case amqp.MethodConnectionBlocked:
		p.blocked.Store(true)
	case amqp.MethodConnectionUnblocked:
		p.blocked.Store(false)
	}
	return closing(f)
}

// confirm takes one basic.ack or basic.nack from the broker.
func (p *producer) confirm(tag uint64, multiple, ack bool) error {
	if p.window == nil {
		return errors.New("the broker confirms on a channel without confirms")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.window.settle(tag, multiple, ack, p.run.now())
}
