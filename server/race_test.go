package server_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"leveret/amqp"
	"leveret/frame"
)

// ledger notes what became of the messages of a test, each of which has a number of its own.
type ledger struct {
	mu        sync.Mutex
	last      uint64
	confirmed map[uint64]bool // the publisher was told
	offered   map[uint64]int  // deliveries
	fresh     map[uint64]int  // of them, those without the redelivered flag
	acked     map[uint64]int  // acks that were sent on a connection that then ended properly
	unsure    map[uint64]bool // acks that may have been lost with their connection
}

func newLedger() *ledger {
	return &ledger{
		confirmed: map[uint64]bool{}, offered: map[uint64]int{}, fresh: map[uint64]int{}, acked: map[uint64]int{}, unsure: map[uint64]bool{},
	}
}

// numbers reserves numbers for n messages and returns the first.
func (l *ledger) numbers(n int) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := l.last + 1
	l.last += uint64(n)
	return first
}

func (l *ledger) note(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

var raceQueues = [...]string{"one", "two", "three"}

// TestNothingIsLost lets connections publish, consume, ack, nack, get, recover, roll back and close as chance has it. At the end every confirmed
// message was acked once or is still in a queue, and none came twice without the redelivered flag.
func TestNothingIsLost(t *testing.T) {
	r := start(t, testOptions())
	admin := r.open()
	for i, q := range raceQueues {
		admin.call(1, &amqp.QueueDeclare{Queue: q, Durable: i == 0}, amqp.MethodQueueDeclareOk)
	}
	l := newLedger()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	end := time.Now().Add(2 * time.Second)
	errs := make(chan error, 16)
	var all sync.WaitGroup
	play := func(i uint64, life func(*rand.Rand, *client, *ledger) error) {
		all.Go(func() {
			rnd := rand.New(rand.NewPCG(seed, i))
			for time.Now().Before(end) {
				if err := liveOnce(r, rnd, l, life); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	for i := range uint64(3) {
		play(i, publishSome)
		play(10+i, consumeSome)
	}
	play(20, getSome)
	all.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	drain(t, r, admin, l)
	admin.goodbye()
	l.check(t)
}

// liveOnce is one connection's life.
func liveOnce(r *rig, rnd *rand.Rand, l *ledger, life func(*rand.Rand, *client, *ledger) error) error {
	nc, err := dialTCP(r)
	if err != nil {
		return err
	}
	defer nc.Close()
	c := newClient(r.t, nc)
	if err := c.opening(opening{}); err != nil {
		return err
	}
	return life(rnd, c, l)
}

// publishSome publishes a few batches with confirms, and ends in one of three ways.
func publishSome(rnd *rand.Rand, c *client, l *ledger) error {
	c.add(1, &amqp.ConfirmSelect{})
	if err := c.flush(); err != nil {
		return err
	}
	if _, err := c.method(amqp.MethodConfirmSelectOk); err != nil {
		return err
	}
	tag := uint64(0)
	for range 1 + rnd.IntN(5) {
		n := 1 + rnd.IntN(400)
		first := l.numbers(n)
		for i := range uint64(n) {
			size := 8 + rnd.IntN(100)
			if rnd.IntN(50) == 0 {
				size += rnd.IntN(100_000)
			}
			body := bodyOf(first+i, size)
			p := amqp.Properties{Flags: amqp.FlagDeliveryMode, DeliveryMode: uint8(1 + rnd.IntN(2))}
			c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte(raceQueues[rnd.IntN(3)])}, &p, body)
		}
		if err := c.flush(); err != nil {
			return err
		}
		for done := uint64(0); done < uint64(n); {
			m, err := c.method(amqp.MethodBasicAck)
			if err != nil {
				return err
			}
			got := m.(*amqp.BasicAck).DeliveryTag - tag
			l.note(func() {
				for i := done; i < got; i++ {
					l.confirmed[first+i] = true
				}
			})
			done = got
		}
		tag += uint64(n)
	}
	return nil // without goodbye: the socket just closes
}

// bodyOf is a message's body, which tells its number and is the same octet behind it.
func bodyOf(number uint64, size int) []byte {
	body := bytes.Repeat([]byte{byte(number)}, size)
	binary.BigEndian.PutUint64(body, number)
	return body
}

// numberOf reads the number of a body, and checks the rest of it.
func numberOf(body []byte) (uint64, error) {
	if len(body) < 8 {
		return 0, fmt.Errorf("a body of %d octets", len(body))
	}
	number := binary.BigEndian.Uint64(body)
	if !bytes.Equal(body, bodyOf(number, len(body))) {
		return 0, fmt.Errorf("the body of message %d is not its own: %.40x", number, body)
	}
	return number, nil
}

// consumeSome consumes from all queues, settles in every way, and ends properly or not.
func consumeSome(rnd *rand.Rand, c *client, l *ledger) error {
	s := &settler{c: c, l: l, rnd: rnd, noAck: rnd.IntN(5) == 0}
	s.consume()
	return s.live(50 + rnd.IntN(500))
}

// consume starts the consumers.
func (s *settler) consume() {
	s.held = map[uint64]uint64{}
	s.c.add(1, &amqp.BasicQos{PrefetchCount: uint16(1 + s.rnd.IntN(100)), Global: s.rnd.IntN(3) == 0})
	for _, q := range raceQueues {
		s.c.add(1, &amqp.BasicConsume{Queue: q, ConsumerTag: q, NoWait: true, NoAck: s.noAck})
	}
}

// reopen closes the channel with all it holds, and starts anew.
func (s *settler) reopen() error {
	s.c.add(1, &amqp.ChannelClose{})
	if err := s.until(amqp.MethodChannelCloseOk); err != nil {
		return err
	}
	s.recovering = 0
	s.c.add(1, &amqp.ChannelOpen{})
	if err := s.c.flush(); err != nil {
		return err
	}
	if _, err := s.c.method(amqp.MethodChannelOpenOk); err != nil { // nothing is delivered behind close-ok
		return err
	}
	s.consume()
	return s.c.flush()
}

// until writes what was added and takes what comes before an answer.
func (s *settler) until(answer amqp.MethodID) error {
	if err := s.c.flush(); err != nil {
		return err
	}
	for {
		f, err := s.c.next()
		if err != nil {
			return fmt.Errorf("waiting for %s: %w", answer, err)
		}
		if f.Type == frame.TypeMethod && f.MethodID() == answer {
			return nil
		}
		if err := s.hear(f); err != nil {
			return err
		}
	}
}

// settler settles what one channel gets.
type settler struct {
	c     *client
	l     *ledger
	rnd   *rand.Rand
	noAck bool
	held  map[uint64]uint64 // by delivery tag
	acked []uint64          // by this connection

	recovering int // recovers without answer: what comes before it comes back
}

// live takes n deliveries, fewer if nothing comes for a while.
func (s *settler) live(n int) error {
	if err := s.c.flush(); err != nil {
		return err
	}
	for range n {
		s.c.patience = 50 * time.Millisecond
		f, err := s.c.next()
		s.c.patience = patience
		if isTimeout(err) {
			break
		}
		if err != nil {
			return err
		}
		if err := s.hear(f); err != nil {
			return err
		}
		if s.rnd.IntN(200) == 0 {
			if err := s.reopen(); err != nil {
				return err
			}
		}
		s.settle()
		if s.rnd.IntN(4) == 0 {
			if err := s.c.flush(); err != nil {
				return err
			}
		}
	}
	return s.end()
}

// hear takes in what the server says.
func (s *settler) hear(f frame.Frame) error {
	if f.Type != frame.TypeMethod {
		return fmt.Errorf("unexpected %s", frame.Dump(f))
	}
	switch f.MethodID() {
	case amqp.MethodBasicDeliver:
		return s.take(f)
	case amqp.MethodBasicRecoverOk:
		s.recovering--
	case amqp.MethodBasicQosOk:
	default:
		return fmt.Errorf("unexpected %s", frame.Dump(f))
	}
	return nil
}

func (s *settler) take(f frame.Frame) error {
	var m amqp.BasicDeliver
	if err := m.Decode(f.Arguments()); err != nil {
		return err
	}
	tag, redelivered := m.DeliveryTag, m.Redelivered
	body, err := s.c.content()
	if err != nil {
		return err
	}
	number, err := numberOf(body)
	if err != nil {
		return err
	}
	if s.noAck {
		s.acked = append(s.acked, number)
	} else if s.recovering == 0 {
		s.held[tag] = number
	}
	s.l.note(func() {
		s.l.offered[number]++
		if !redelivered {
			s.l.fresh[number]++
		}
	})
	return nil
}

// settle settles something that is held, or nothing.
func (s *settler) settle() {
	for tag, number := range s.held {
		switch s.rnd.IntN(8) {
		case 0:
			s.c.add(1, &amqp.BasicNack{DeliveryTag: tag, Requeue: true})
		case 1:
			s.c.add(1, &amqp.BasicReject{DeliveryTag: tag, Requeue: true})
		case 2:
			if s.rnd.IntN(20) > 0 {
				return
			}
			s.c.add(1, &amqp.BasicRecover{Requeue: true})
			s.recovering++
			clear(s.held)
			return
		default:
			s.c.add(1, &amqp.BasicAck{DeliveryTag: tag})
			s.acked = append(s.acked, number)
		}
		delete(s.held, tag)
		return
	}
}

// end closes properly, so that all acks count, or breaks the connection, so that nobody knows.
func (s *settler) end() error {
	proper := s.noAck || s.rnd.IntN(3) > 0 // what went to a consumer without acks and was not read is lost
	if !proper {
		if err := s.c.flush(); err != nil {
			return err
		}
	} else {
		s.c.add(0, &amqp.ConnectionClose{})
		if err := s.until(amqp.MethodConnectionCloseOk); err != nil {
			return err
		}
	}
	s.l.note(func() {
		for _, number := range s.acked {
			if proper {
				s.l.acked[number]++
			} else {
				s.l.unsure[number] = true
			}
		}
	})
	return nil
}

// getSome gets messages in transactions, some of which it rolls back.
func getSome(rnd *rand.Rand, c *client, l *ledger) error {
	c.add(1, &amqp.TxSelect{})
	if err := c.flush(); err != nil {
		return err
	}
	if _, err := c.method(amqp.MethodTxSelectOk); err != nil {
		return err
	}
	for range 1 + rnd.IntN(50) {
		tag, number, err := c.get(raceQueues[rnd.IntN(3)], false, l)
		if err != nil || tag == 0 {
			return err
		}
		c.add(1, &amqp.BasicAck{DeliveryTag: tag})
		want := amqp.MethodTxCommitOk
		if rnd.IntN(3) == 0 {
			want = amqp.MethodTxRollbackOk
			c.add(1, &amqp.TxRollback{})
		} else {
			c.add(1, &amqp.TxCommit{})
		}
		if err := c.flush(); err != nil {
			return err
		}
		if _, err := c.method(want); err != nil {
			return err
		}
		if want == amqp.MethodTxCommitOk {
			l.note(func() { l.acked[number]++ })
		}
	}
	return nil
}

// get takes one message; the tag is 0 if there is none.
func (c *client) get(queue string, noAck bool, l *ledger) (tag, number uint64, err error) {
	c.add(1, &amqp.BasicGet{Queue: queue, NoAck: noAck})
	if err := c.flush(); err != nil {
		return 0, 0, err
	}
	f, err := c.next()
	if err != nil || f.MethodID() == amqp.MethodBasicGetEmpty {
		return 0, 0, err
	}
	var m amqp.BasicGetOk
	if err := m.Decode(f.Arguments()); err != nil {
		return 0, 0, err
	}
	tag, redelivered := m.DeliveryTag, m.Redelivered
	body, err := c.content()
	if err != nil {
		return 0, 0, err
	}
	if number, err = numberOf(body); err != nil {
		return 0, 0, err
	}
	l.note(func() {
		l.offered[number]++
		if !redelivered {
			l.fresh[number]++
		}
	})
	return tag, number, nil
}

// drain takes what is left in the queues, once the server has seen the end of all other connections.
func drain(t *testing.T, r *rig, c *client, l *ledger) {
	t.Helper()
	eventually(t, "the other connections are gone", func() bool { return r.Stats().Connections == 1 })
	for _, q := range raceQueues {
		for {
			tag, number, err := c.get(q, true, l)
			if err != nil {
				t.Fatal(err)
			}
			if tag == 0 {
				break
			}
			l.acked[number]++
		}
	}
}

func (l *ledger) check(t *testing.T) {
	t.Helper()
	faults := 0
	fault := func(format string, args ...any) {
		if faults++; faults < 20 {
			t.Errorf(format, args...)
		}
	}
	for n := range l.confirmed {
		if l.acked[n] == 0 && !l.unsure[n] {
			fault("message %d was confirmed and is lost; it was delivered %d times", n, l.offered[n])
		}
	}
	for n, times := range l.acked {
		if times > 1 {
			fault("message %d was acked %d times", n, times)
		}
	}
	for n, times := range l.fresh {
		if times > 1 {
			fault("message %d came %d times without the redelivered flag", n, times)
		}
	}
	t.Logf("%d messages, %d confirmed, %d acked, %d unsure", l.last, len(l.confirmed), len(l.acked), len(l.unsure))
	if len(l.confirmed) == 0 || len(l.acked) == 0 {
		t.Error("nothing happened")
	}
}
