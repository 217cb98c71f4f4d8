package interop

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// crashRounds is how often the broker is killed, unless LEVERET_CRASH_ROUNDS says otherwise.
const crashRounds = 20

// ackWindow is how far before the kill an ack may be lost. A quick machine needs a hundredth of it.
const ackWindow = 5 * time.Second

// lifeLength is how long the broker lives in a round: long enough, now and then, to tell of acks that are older than the window.
func lifeLength(round int) time.Duration {
	short := time.Duration(20+rand.IntN(1200)) * time.Millisecond
	if round%20 == 10 {
		return ackWindow + 2*short
	}
	return short
}

// crashHoard is how many messages a life adds to the queue that nothing is taken from, and crashMost how many a queue may hold: more are purged.
const (
	crashHoard = 200
	crashMost  = 2000
)

// crashQueues are the queues of the kill loop. Two of them stand behind a fanout exchange, and from one nothing is ever acked.
var crashQueues = []string{"plain", "left", "right", "hoard"}

// TestKillLoop kills the broker in the middle of publishing and acking, again and again. Whatever was confirmed and not acked is there after
// each crash, once in each of its queues, in its order; what was acked is not, but for the last moments.
func TestKillLoop(t *testing.T) {
	l := newLives(t, "--log-level", "error")
	if l == nil {
		return
	}
	rounds := crashRounds
	if text := os.Getenv("LEVERET_CRASH_ROUNDS"); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	s := l.dial()
	for _, q := range crashQueues {
		s.durable(q)
	}
	s.ok(s.ch.ExchangeDeclare("both", "fanout", true, false, false, false, nil))
	s.ok(s.ch.QueueBind("left", "", "both", false, nil))
	s.ok(s.ch.QueueBind("right", "", "both", false, nil))
	m := newCrashModel()
	for round := range rounds {
		var work sync.WaitGroup
		for i, target := range []string{"plain", "both", "hoard", "plain"} {
			work.Go(func() { m.publish(l.url(), target, fmt.Sprintf("%d.%d", round, i)) })
		}
		for _, q := range crashQueues[:3] {
			work.Go(func() { m.consume(l.url(), q) })
		}
		time.Sleep(lifeLength(round))
		killed := time.Now()
		l.kill()
		work.Wait()
		l.start()
		s := l.dial()
		for _, q := range crashQueues {
			m.compare(s, q, killed)
			m.trim(s, q)
		}
		if t.Failed() {
			t.Fatalf("in round %d of %d", round+1, rounds)
		}
		s.ok(s.conn.Close())
	}
	m.report(t)
}

// crashModel is what the clients of the kill loop know of each message in each queue.
type crashModel struct {
	mu        sync.Mutex
	queues    map[string]map[string]*fate
	confirmed int
	acked     int
	revived   int
}

// fate is what became of a message in one queue.
type fate struct {
	body      string
	confirmed bool
	acked     time.Time // zero: not acked
}

func newCrashModel() *crashModel {
	m := &crashModel{queues: make(map[string]map[string]*fate)}
	for _, q := range crashQueues {
		m.queues[q] = make(map[string]*fate)
	}
	return m
}

// behind are the queues that a message to a target ends in.
func behind(target string) []string {
	if target == "both" {
		return []string{"left", "right"}
	}
	return []string{target}
}

// publish publishes messages of random sizes under a publisher's name, and notes what is confirmed, until the connection ends.
func (m *crashModel) publish(url, target, publisher string) {
	conn, err := amqp091.Dial(url)
	if err != nil {
		return
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil || ch.Confirm(false) != nil {
		return
	}
	confirms := ch.NotifyPublish(make(chan amqp091.Confirmation, 256))
	exchange, key := "", target
	if target == "both" {
		exchange, key = target, ""
	}
	window := make(chan string, 100)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for c := range confirms {
			if id := <-window; c.Ack {
				m.confirm(target, id)
			}
		}
	}()
	for n := 1; target != "hoard" || n <= crashHoard; n++ {
		id := fmt.Sprintf("%s.%d", publisher, n)
		body := id + "|" + strings.Repeat(id, rand.IntN(1<<rand.IntN(13)))
		m.expect(target, id, body)
		select {
		case window <- id:
		case <-ended:
			return
		}
		err := ch.Publish(exchange, key, false, false, amqp091.Publishing{DeliveryMode: amqp091.Persistent, Body: []byte(body)})
		if err != nil {
			break
		}
	}
	<-ended
}

func (m *crashModel) expect(target, id, body string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, q := range behind(target) {
		m.queues[q][id] = &fate{body: body}
	}
}

func (m *crashModel) confirm(target, id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.confirmed++
	for _, q := range behind(target) {
		m.queues[q][id].confirmed = true
	}
}

// consume takes messages from a queue and acks two of three, until the connection ends.
func (m *crashModel) consume(url, queue string) {
	conn, err := amqp091.Dial(url)
	if err != nil {
		return
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil || ch.Qos(1000, 0, false) != nil {
		return
	}
	deliveries, err := ch.Consume(queue, "", false, false, false, false, nil)
	if err != nil {
		return
	}
	for d := range deliveries {
		if rand.IntN(3) == 0 {
			continue
		}
		m.ack(queue, idOf(d.Body))
		if d.Ack(false) != nil {
			return
		}
	}
}

// ack notes an ack before it is sent: it may be lost, but must not be a surprise.
func (m *crashModel) ack(queue, id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.acked++
	m.queues[queue][id].acked = time.Now()
}

func idOf(body []byte) string {
	id, _, _ := strings.Cut(string(body), "|")
	return id
}

// compare reads a whole queue, without acking, and compares it with what must and what may be in it. What is there is then what must be.
func (m *crashModel) compare(s *session, queue string, killed time.Time) {
	s.t.Helper()
	there := s.contents(queue)
	m.mu.Lock()
	defer m.mu.Unlock()
	seen := make(map[string]bool)
	last := make(map[string]int)
	for _, body := range there {
		id := idOf([]byte(body))
		f := m.queues[queue][id]
		publisher, n := cutID(id)
		switch {
		case f == nil:
			s.t.Errorf("%s: message %q was settled long ago or never published", queue, id)
			continue
		case body != f.body:
			s.t.Errorf("%s: message %s has another body", queue, id)
		case seen[id]:
			s.t.Errorf("%s: message %s is there twice", queue, id)
		case n <= last[publisher]:
			s.t.Errorf("%s: message %s comes after %d", queue, id, last[publisher])
		case !f.acked.IsZero() && killed.Sub(f.acked) > ackWindow:
			s.t.Errorf("%s: message %s is back, acked %v before the crash", queue, id, killed.Sub(f.acked))
		case !f.acked.IsZero():
			m.revived++
		}
		seen[id], last[publisher] = true, n
		f.confirmed, f.acked = true, time.Time{}
	}
	for id, f := range m.queues[queue] {
		if seen[id] {
			continue
		}
		if f.confirmed && f.acked.IsZero() {
			s.t.Errorf("%s: message %s was confirmed and is lost", queue, id)
		}
		delete(m.queues[queue], id)
	}
}

// trim purges a queue that has become long; its messages count as acked.
func (m *crashModel) trim(s *session, queue string) {
	s.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if queue == "hoard" || len(m.queues[queue]) < crashMost {
		return
	}
	now := time.Now()
	for _, f := range m.queues[queue] {
		f.acked = now
	}
	_, err := s.ch.QueuePurge(queue, false)
	s.ok(err)
}

// cutID splits an id into its publisher and its number.
func cutID(id string) (publisher string, n int) {
	at := strings.LastIndexByte(id, '.')
	n, _ = strconv.Atoi(id[at+1:])
	return id[:at], n
}

// contents reads a queue to its end and gives everything back.
func (s *session) contents(queue string) (bodies []string) {
	s.t.Helper()
	s = s.channel()
	count := s.ready(queue)
	deliveries, err := s.ch.Consume(queue, "", false, false, false, false, nil)
	s.ok(err)
	for range count {
		d := receive(s.t, deliveries, "a message")
		if !d.Redelivered {
			s.t.Errorf("%s: message %s is not marked as redelivered", queue, idOf(d.Body))
		}
		bodies = append(bodies, string(d.Body))
	}
	s.ok(s.ch.Close())
	return bodies
}

func (m *crashModel) report(t *testing.T) {
	var held []int
	for _, q := range crashQueues {
		held = append(held, len(m.queues[q]))
	}
	t.Logf("%d confirmed, %d acked, %d acks lost, the longest queue has %d messages", m.confirmed, m.acked, m.revived, slices.MaxFunc(held, cmp.Compare))
}
