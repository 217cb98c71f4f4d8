package interop

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"leveret/amqp"
	"leveret/frame"
)

// hostileScale is how many times fewer hostile clients there are than in a full run. LEVERET_HOSTILE_SCALE=1 asks for one.
func hostileScale() int {
	if n, err := strconv.Atoi(os.Getenv("LEVERET_HOSTILE_SCALE")); err == nil && n > 0 {
		return n
	}
	return 20
}

// hostileClients are what a broker on an open network meets. Each function runs one client until ctx ends, as badly as it can; it has
// to end soon after.
var hostileClients = []struct {
	name    string
	clients int // of a full run
	run     func(ctx context.Context, addr string)
}{
	{"half-open handshakes", 10_000, halfOpen},
	{"slow writers", 2_000, slowWriter},
	{"huge tables", 40, hugeTables},
	{"endless small frames", 100, smallFrames},
	{"endless tiny methods", 100, tinyMethods},
	{"login flood", 400, loginFlood},
	{"malformed frames", 200, malformedFrames},
	{"channels opened and closed", 200, channelChurn},
}

// What hostile clients do costs a good client little while it lasts, and nothing afterwards; the broker's memory stays where it was.
func TestHostileClients(t *testing.T) {
	for _, h := range hostileClients {
		t.Run(h.name, func(t *testing.T) {
			b := ownBroker(t)
			good := watchLatency(t, b)
			before := good.p99(time.Second)
			memory := b.status(t, "RssAnon")

			ctx, cancel := context.WithCancel(t.Context())
			var clients sync.WaitGroup
			for range max(1, h.clients/hostileScale()) {
				clients.Go(func() {
					for ctx.Err() == nil {
						h.run(ctx, b.addr)
					}
				})
			}
			good.p99(time.Second) // until all have begun
			during := good.p99(2 * time.Second)
			used := b.status(t, "RssAnon")
			cancel()
			clients.Wait()
			good.recovers(before)
			b.shrinksTo(t, memory)
			t.Logf("p99 %s before, %s during; RssAnon %+d KiB during", before, during, used-memory)
			if during > bearable(before) {
				t.Errorf("a good client's p99 is %s, it was %s", during, before)
			}
			if used-memory > 100<<10 {
				t.Errorf("the broker takes %d KiB more", used-memory)
			}
		})
	}
}

// bearable is how long a good client may have to wait when it waited so long before: twice that. The attackers share the machine with the
// broker here, and in a run of all tests others do too, so that their work comes on top.
func bearable(before time.Duration) time.Duration {
	if hostileScale() == 1 {
		return 2*before + 25*time.Millisecond
	}
	return 2*before + 300*time.Millisecond
}

// recovers waits until a good client is served as it was.
func (l *latency) recovers(before time.Duration) {
	l.t.Helper()
	pollFor(l.t, 10*time.Second, func() error {
		if now := l.p99(500 * time.Millisecond); now > bearable(before) {
			return stillSlow(now)
		}
		return nil
	})
}

type stillSlow time.Duration

func (s stillSlow) Error() string { return "p99 is still " + time.Duration(s).String() }

// shrinksTo waits until the broker's memory is near what it was.
func (b *broker) shrinksTo(t *testing.T, kib int) {
	t.Helper()
	pollFor(t, 10*time.Second, func() error {
		if now := b.status(t, "RssAnon"); now > kib+100<<10 {
			return stillLarge(now)
		}
		return nil
	})
}

type stillLarge int

func (s stillLarge) Error() string { return "RssAnon is still " + strconv.Itoa(int(s)) + " KiB" }

// connect opens a socket that closes when ctx ends; nil if the broker does not take it.
func connect(ctx context.Context, addr string) net.Conn {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		pause(ctx, 10*time.Millisecond)
		return nil
	}
	context.AfterFunc(ctx, func() { conn.Close() })
	return conn
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// opened connects, logs in and opens channel 1, all in one write, and throws away what comes.
func opened(ctx context.Context, addr string) net.Conn {
	conn := connect(ctx, addr)
	if conn == nil {
		return nil
	}
	go drain(conn)
	conn.Write(openingOctets("guest"))
	return conn
}

func drain(conn net.Conn) {
	defer conn.Close()
	buffer := make([]byte, 16<<10)
	for {
		if _, err := conn.Read(buffer); err != nil {
			return
		}
	}
}

// openingOctets are all that a client sends until it has a channel.
func openingOctets(password string) []byte {
	b := []byte("AMQP\x00\x00\x09\x01")
	b = frame.AppendMethod(b, 0, &amqp.ConnectionStartOk{Mechanism: "PLAIN", Response: []byte("\x00guest\x00" + password), Locale: "en_US"})
	b = frame.AppendMethod(b, 0, &amqp.ConnectionTuneOk{ChannelMax: 100, FrameMax: 131072})
	b = frame.AppendMethod(b, 0, &amqp.ConnectionOpen{VirtualHost: "/"})
	return frame.AppendMethod(b, 1, &amqp.ChannelOpen{})
}

func halfOpen(ctx context.Context, addr string) {
	conn := connect(ctx, addr)
	if conn == nil {
		return
	}
	conn.Write([]byte("AMQP\x00\x00\x09\x01"))
	drain(conn) // until the broker has had enough
}

func slowWriter(ctx context.Context, addr string) {
	conn := connect(ctx, addr)
	if conn == nil {
		return
	}
	go drain(conn)
	for _, b := range openingOctets("guest") {
		if _, err := conn.Write([]byte{b}); err != nil {
			return
		}
		pause(ctx, 20*time.Millisecond)
	}
}

// hugeDeclares are declares with tables as wide and as deep as frames allow, each many times.
var hugeDeclares = [][]byte{
	hugeDeclare(bytes.Repeat([]byte("\x01at\x01"), 30_000)),
	hugeDeclare(bytes.Repeat([]byte("\x01aF\x00\x01\x00\x00"), 17_000)),
}

func hugeDeclare(table []byte) []byte {
	m := append([]byte{0, 50, 0, 10, 0, 0, 1, 'q', 0}, binary.BigEndian.AppendUint32(nil, uint32(len(table)))...)
	f := frame.Append(nil, frame.Frame{Type: frame.TypeMethod, Channel: 1, Payload: append(m, table...)})
	return bytes.Repeat(f, 2)
}

// hugeTables sends them until the broker closes the connection.
func hugeTables(ctx context.Context, addr string) {
	for _, declares := range hugeDeclares {
		conn := opened(ctx, addr)
		if conn == nil {
			return
		}
		if _, err := conn.Write(declares); err != nil {
			return
		}
		pause(ctx, 50*time.Millisecond)
		conn.Close()
	}
}

func smallFrames(ctx context.Context, addr string) {
	floodFrames(ctx, addr, frame.AppendHeartbeat(nil))
}

func tinyMethods(ctx context.Context, addr string) {
	floodFrames(ctx, addr, frame.AppendMethod(nil, 1, &amqp.BasicQos{PrefetchCount: 1}))
}

// floodFrames sends one frame again and again, as fast as it is taken.
func floodFrames(ctx context.Context, addr string, f []byte) {
	conn := opened(ctx, addr)
	if conn == nil {
		return
	}
	defer conn.Close()
	b := bytes.Repeat(f, 64<<10/len(f))
	for ctx.Err() == nil {
		if _, err := conn.Write(b); err != nil {
			return
		}
	}
}

func loginFlood(ctx context.Context, addr string) {
	conn := connect(ctx, addr)
	if conn == nil {
		return
	}
	defer conn.Close()
	conn.Write(openingOctets("wrong"))
	conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond)) // it has heard enough when connection.start has come
	drain(conn)
}

func malformedFrames(ctx context.Context, addr string) {
	conn := opened(ctx, addr)
	if conn == nil {
		return
	}
	defer conn.Close()
	b := make([]byte, 1+rand.IntN(4096))
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	if rand.IntN(2) == 0 { // or what begins well
		b = frame.Append(nil, frame.Frame{Type: byte(1 + rand.IntN(3)), Channel: 1, Payload: b})
	}
	conn.Write(b)
	pause(ctx, 5*time.Millisecond)
}

func channelChurn(ctx context.Context, addr string) {
	b := frame.AppendMethod(nil, 2, &amqp.ChannelOpen{})
	floodFrames(ctx, addr, frame.AppendMethod(b, 2, &amqp.ChannelClose{ReplyCode: 200}))
}

// Thousands that stop in the middle of a large message while the memory alarm is on neither fill the memory nor keep consumers from draining,
// which ends the alarm.
func TestHalfSentBodies(t *testing.T) {
	const fullRun = 2000
	config := filepath.Join(t.TempDir(), "memory.conf")
	if err := os.WriteFile(config, []byte("vm_memory_high_watermark.absolute = 128MiB\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := ownBroker(t, "--config", config, "--data-dir", "none")
	q := freshName(t)
	s := dialBroker(t, b)
	_, err := s.ch.QueueDeclare(q, false, false, false, false, nil)
	s.ok(err)
	filled := make(chan error, 1)
	go func() { filled <- floodUntilHeld(dialBroker(t, b), q) }()
	s.ok(receive(t, filled, "the alarm"))
	memory := b.status(t, "RssAnon")

	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	defer clients.Wait()
	defer cancel()
	for range max(10, fullRun/hostileScale()) {
		clients.Go(func() { halfBody(ctx, b.addr, q) })
	}
	consumer := dialBroker(t, b)
	deliveries, err := consumer.ch.Consume(q, "", true, false, false, false, nil)
	consumer.ok(err)
	pause(t.Context(), 2*time.Second)
	used := b.status(t, "RssAnon")
	t.Logf("RssAnon %d KiB when the alarm began, %+d KiB with half bodies", memory, used-memory)
	if used-memory > 100<<10 {
		t.Errorf("half-sent bodies take %d KiB", used-memory)
	}
	for len(deliveries) > 0 || s.ready(q) > 0 {
		receive(t, deliveries, "a message of the backlog")
	}
	good := watchLatency(t, b) // its publishes are held as long as the alarm is on
	good.recovers(0)
}

// halfBody sends 15 of 16 MiB and stays.
func halfBody(ctx context.Context, addr, queue string) {
	conn := opened(ctx, addr)
	if conn == nil {
		return
	}
	const announced, sent = 16 << 20, 15 << 20
	b := frame.AppendMethod(nil, 1, &amqp.BasicPublish{RoutingKey: []byte(queue)})
	b = frame.AppendContentHeader(b, 1, classBasic, announced, new(amqp.Properties).AppendTo(nil))
	conn.Write(frame.AppendBody(b, 1, make([]byte, 100<<10), 131072))
	part := frame.AppendBody(nil, 1, make([]byte, 100<<10), 131072)
	for n := 100 << 10; n < sent; n += 100 << 10 {
		if _, err := conn.Write(part); err != nil {
			return
		}
	}
	<-ctx.Done()
}
