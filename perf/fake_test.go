package perf_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"leveret/amqp"
	"leveret/frame"
)

// fakeBroker is as much of a broker as a load generator needs, with faults to order. One mutex guards it all.
type fakeBroker struct {
	listener net.Listener
	sessions sync.WaitGroup

	mu       sync.Mutex
	conns    map[net.Conn]bool
	queues   map[string]*fakeQueue
	declared int
	deleted  int

	// Faults, set before the first connection.
	password     string // that is let in; empty: any
	confirmNone  bool
	nackAll      bool
	dropAll      bool   // take messages and deliver none
	closeChannel int    // close the channel at this publish
	closeAll     int    // close the connection at this publish
	hangUp       int    // close the socket at this publish
	returnAll    bool   // return every message
	strayConfirm bool   // confirm a message that was not published
	blockFirst   bool   // say that publishers are blocked, and take a second message as the end of it
	cancel       bool   // cancel consumers at the first publish
	frameMax     uint32 // 0: no limit
	confirmLast  int    // confirm so many at a time, with multiple, the last of them first alone
}

type fakeQueue struct {
	durable   bool
	arguments amqp.Table
	messages  [][]byte
	consumers []*fakeConsumer
	next      int
}

type fakeConsumer struct {
	session  *fakeSession
	prefetch int
	unacked  int
	autoAck  bool
}

func startFake(t *testing.T, change func(b *fakeBroker)) *fakeBroker {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &fakeBroker{listener: listener, conns: map[net.Conn]bool{}, queues: map[string]*fakeQueue{}, frameMax: 4096}
	if change != nil {
		change(b)
	}
	b.sessions.Go(b.accept)
	t.Cleanup(func() {
		listener.Close()
		b.mu.Lock()
		for conn := range b.conns {
			conn.Close()
		}
		b.mu.Unlock()
		b.sessions.Wait()
	})
	return b
}

func (b *fakeBroker) uri() string { return "amqp://guest:guest@" + b.listener.Addr().String() }

func (b *fakeBroker) accept() {
	for {
		conn, err := b.listener.Accept()
		if err != nil {
			return
		}
		b.mu.Lock()
		b.conns[conn] = true
		b.mu.Unlock()
		s := &fakeSession{broker: b, conn: conn, reader: frame.NewReader(conn, b.frameMax)}
		b.sessions.Go(func() {
			s.serve()
			conn.Close()
		})
	}
}

// fakeSession is one connection.
type fakeSession struct {
	broker    *fakeBroker
	conn      net.Conn
	reader    *frame.Reader
	frameMax  uint32
	prefetch  int
	confirms  bool
	published uint64
	waiting   []uint64 // tags to confirm
	tag       uint64
	held      []*fakeConsumer // of the unacknowledged deliveries, in order
	key       string
	left      uint64
	body      []byte
}

var errHangUp = errors.New("hang up")

func (s *fakeSession) serve() {
	var header [8]byte
	if _, err := io.ReadFull(s.conn, header[:]); err != nil {
		return
	}
	s.send(0, &amqp.ConnectionStart{VersionMinor: 9, Mechanisms: []byte("PLAIN"), Locales: []byte("en_US")})
	for {
		f, err := s.reader.Next()
		if err != nil {
			return
		}
		s.broker.mu.Lock()
		err = s.frame(f)
		s.broker.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *fakeSession) send(channel uint16, m amqp.Method) {
	s.conn.Write(frame.AppendMethod(nil, channel, m))
}

func (s *fakeSession) frame(f frame.Frame) error {
	switch f.Type {
	case frame.TypeHeader:
		s.left = uint64(f.Payload[4])<<56 | uint64(f.Payload[8])<<24 | uint64(f.Payload[9])<<16 | uint64(f.Payload[10])<<8 | uint64(f.Payload[11])
		s.body = nil
		if s.left == 0 {
			return s.publish()
		}
	case frame.TypeBody:
		s.body = append(s.body, f.Payload...)
		if uint64(len(s.body)) == s.left {
			return s.publish()
		}
	case frame.TypeMethod:
		m := amqp.NewMethod(f.MethodID())
		if err := m.Decode(f.Arguments()); err != nil {
			panic(err)
		}
		return s.method(f.Channel, m)
	}
	return nil
}

func (s *fakeSession) method(channel uint16, m amqp.Method) error {
	b := s.broker
	switch m := m.(type) {
	case *amqp.ConnectionStartOk:
		if b.password != "" && string(m.Response) != "\x00guest\x00"+b.password {
			return errHangUp
		}
		s.send(0, &amqp.ConnectionTune{ChannelMax: 10, FrameMax: b.frameMax, Heartbeat: 60})
	case *amqp.ConnectionTuneOk:
		s.frameMax = m.FrameMax
		s.reader.Max = m.FrameMax
	case *amqp.ConnectionOpen:
		s.send(0, &amqp.ConnectionOpenOk{})
	case *amqp.ChannelOpen:
		s.send(channel, &amqp.ChannelOpenOk{})
	case *amqp.QueueDeclare:
		b.declare(s, m)
	case *amqp.QueueDelete:
		b.deleted++
		delete(b.queues, m.Queue)
		s.send(channel, &amqp.QueueDeleteOk{})
	case *amqp.BasicQos:
		s.prefetch = int(m.PrefetchCount)
		s.send(channel, &amqp.BasicQosOk{})
	case *amqp.ConfirmSelect:
		s.confirms = true
		s.send(channel, &amqp.ConfirmSelectOk{})
	case *amqp.BasicConsume:
		q := b.queues[m.Queue]
		q.consumers = append(q.consumers, &fakeConsumer{session: s, prefetch: s.prefetch, autoAck: m.NoAck})
		s.send(channel, &amqp.BasicConsumeOk{ConsumerTag: "ctag"})
		q.deliver()
	case *amqp.BasicPublish:
		s.key = string(m.RoutingKey)
	case *amqp.BasicAck:
		s.ack(m)
	case *amqp.ConnectionClose:
		s.send(0, &amqp.ConnectionCloseOk{})
		return errHangUp
	}
	return nil
}

func (b *fakeBroker) declare(s *fakeSession, m *amqp.QueueDeclare) {
	if b.queues[m.Queue] == nil {
		if m.Passive {
			e := amqp.NoQueue(m.Queue, "/").At(m.ID())
			s.send(1, &amqp.ChannelClose{ReplyCode: e.Code, ReplyText: e.Text, ClassID: e.Class, MethodID: e.Method})
			return
		}
		b.declared++
		b.queues[m.Queue] = &fakeQueue{durable: m.Durable, arguments: m.Arguments}
	}
	s.send(1, &amqp.QueueDeclareOk{Queue: m.Queue, MessageCount: uint32(len(b.queues[m.Queue].messages))})
}

func (s *fakeSession) publish() error {
	b := s.broker
	s.published++
	if b.closeChannel > 0 && s.published == uint64(b.closeChannel) {
		e := amqp.NoExchange("x", "/").At(amqp.MethodBasicPublish)
		s.send(1, &amqp.ChannelClose{ReplyCode: e.Code, ReplyText: e.Text, ClassID: e.Class, MethodID: e.Method})
		return nil
	}
	if fault := s.fault(); fault != nil {
		return fault
	}
	if b.returnAll {
		s.send(1, &amqp.BasicReturn{ReplyCode: 312, ReplyText: "NO_ROUTE", RoutingKey: []byte(s.key)})
		s.conn.Write(frame.AppendContentHeader(nil, 1, amqp.ClassBasic, 0, []byte{0, 0}))
		return nil
	}
	q := b.queues[s.key]
	if q == nil && b.deleted > 0 {
		return nil // what was still on its way when the run cleaned up
	}
	if q == nil {
		panic(fmt.Sprintf("published to %q, which was not declared", s.key))
	}
	if !b.dropAll && !b.nackAll {
		q.messages = append(q.messages, s.body)
		q.deliver()
	}
	if s.confirms && !b.confirmNone {
		s.waiting = append(s.waiting, s.published)
		s.confirm()
	}
	return nil
}

// fault commits what was ordered for this publish.
func (s *fakeSession) fault() error {
	b := s.broker
	switch {
	case b.closeAll > 0 && s.published == uint64(b.closeAll):
		s.send(0, &amqp.ConnectionClose{ReplyCode: 320, ReplyText: "CONNECTION_FORCED - maintenance"})
	case b.hangUp > 0 && s.published == uint64(b.hangUp):
		return errHangUp
	case b.strayConfirm:
		s.send(1, &amqp.BasicAck{DeliveryTag: 1 << 40})
	case b.blockFirst && s.published == 1:
		s.send(0, &amqp.ConnectionBlocked{Reason: "low on memory"})
	case b.cancel:
		for _, q := range b.queues {
			for _, c := range q.consumers {
				c.session.send(1, &amqp.BasicCancel{ConsumerTag: "ctag"})
			}
		}
	}
	return nil
}

// confirm settles what waits: each at once, or the last of several alone and the others after it.
func (s *fakeSession) confirm() {
	if len(s.waiting) < s.broker.confirmLast {
		return
	}
	last := s.waiting[len(s.waiting)-1]
	if s.broker.nackAll {
		s.send(1, &amqp.BasicNack{DeliveryTag: last})
	} else {
		s.send(1, &amqp.BasicAck{DeliveryTag: last})
	}
	if len(s.waiting) > 1 {
		s.send(1, &amqp.BasicAck{DeliveryTag: last - 1, Multiple: true})
	}
	s.waiting = s.waiting[:0]
}

// deliver gives messages to the consumers in turn, as far as they have room.
func (q *fakeQueue) deliver() {
	for tries := 0; len(q.messages) > 0 && tries < len(q.consumers); {
		c := q.consumers[q.next%len(q.consumers)]
		q.next++
		if c.prefetch > 0 && !c.autoAck && c.unacked >= c.prefetch {
			tries++
			continue
		}
		tries = 0
		c.session.deliver(c, q.messages[0])
		q.messages = q.messages[1:]
	}
}

func (s *fakeSession) deliver(c *fakeConsumer, body []byte) {
	s.tag++
	if !c.autoAck {
		c.unacked++
		s.held = append(s.held, c)
	}
	out := frame.AppendMethod(nil, 1, &amqp.BasicDeliver{ConsumerTag: "ctag", DeliveryTag: s.tag, Redelivered: s.tag == 3})
	out = frame.AppendContentHeader(out, 1, amqp.ClassBasic, uint64(len(body)), []byte{0, 0})
	s.conn.Write(frame.AppendBody(out, 1, body, s.frameMax))
}

func (s *fakeSession) ack(m *amqp.BasicAck) {
	first := s.tag - uint64(len(s.held)) + 1
	n := int(m.DeliveryTag - first + 1)
	if n != 1 && !m.Multiple || n < 1 || n > len(s.held) {
		panic(fmt.Sprintf("ack of %d, while %d to %d are held", m.DeliveryTag, first, s.tag))
	}
	for _, c := range s.held[:n] {
		c.unacked--
	}
	s.held = s.held[n:]
	for _, q := range s.broker.queues {
		q.deliver()
	}
}
