package interop

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"leveret/amqp"
	"leveret/frame"
)

// hostileClient is what a broker on an open network meets. run is one client, as bad as it can be, until ctx ends; it has to end soon after.
type hostileClient struct {
	name    string
	clients int // of a full run
	run     func(ctx context.Context, addr string)
}

// hostileClients are all but those of half-sent messages.
var hostileClients = []hostileClient{
	{"half-open handshakes", 10_000, halfOpen},
	{"slow writers", 2_000, slowWriter},
	{"huge tables", 40, hugeTables},
	{"endless small frames", 100, smallFrames},
	{"endless tiny methods", 100, tinyMethods},
	{"login flood", 400, loginFlood},
	{"malformed frames", 200, malformedFrames},
	{"channels opened and closed", 200, channelChurn},
	{"half-sent small messages", 2_000, halfSmall},
}

// halfBodies are the clients of half-sent messages.
var halfBodies = hostileClient{"half-sent bodies", 2_000, halfBody}

// hostileProgram names the program of the test binary that runs hostile clients.
const hostileProgram = "hostile"

// runHostile is that program: its arguments are the broker's address, the clients' name and how many there are to be. It goes on until it is
// killed, or its input ends with the test.
func runHostile(args []string) {
	i := slices.IndexFunc(hostileClients, func(h hostileClient) bool { return h.name == args[1] })
	h := halfBodies
	if i >= 0 {
		h = hostileClients[i]
	}
	for range must(strconv.Atoi(args[2])) {
		go func() {
			for {
				h.run(context.Background(), args[0])
			}
		}()
	}
	io.Copy(io.Discard, os.Stdin)
}

// number is how many clients there are in this run.
func (h hostileClient) number() int { return max(10, h.clients/hostileScale()) }

// attack runs hostile clients until the returned function is called, or the test ends. They are a process of their own which gets the processors
// that others leave, also where the test runs with the priority of real-time processes: elsewhere attackers bring their own.
func attack(t *testing.T, b *broker, h hostileClient) (end func()) {
	t.Helper()
	cmd := exec.Command("chrt", "-o", "0", "nice", "-n", "19", os.Args[0], b.addr, h.name, strconv.Itoa(h.number()))
	cmd.Env, cmd.Stderr = append(os.Environ(), programVariable+"="+hostileProgram), os.Stderr
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		cmd.Process.Kill() // with so little of the processors it would be long in leaving
		cmd.Wait()
		stdin.Close()
	})
	t.Cleanup(end)
	return end
}

// connect opens a socket that closes when ctx ends; nil if the broker does not take it.
func connect(ctx context.Context, addr string) net.Conn {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		pause(ctx, 10*time.Millisecond)
		return nil
	}
	// What attackers have written and nobody reads waits in their own system as a rule. Here it is the broker's too, and thousands with megabytes each
	// would leave no memory for the sockets of any other client.
	conn.(*net.TCPConn).SetWriteBuffer(32 << 10)
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

// halfSmall sends the beginning of a small message and stays.
func halfSmall(ctx context.Context, addr string) {
	conn := opened(ctx, addr)
	if conn == nil {
		return
	}
	b := frame.AppendMethod(nil, 1, &amqp.BasicPublish{RoutingKey: []byte(halfSentQueue)})
	b = frame.AppendContentHeader(b, 1, classBasic, 100, new(amqp.Properties).AppendTo(nil))
	conn.Write(frame.AppendBody(b, 1, make([]byte, 50), 131072))
	<-ctx.Done()
}

// halfSentQueue is where halfBody publishes to.
const halfSentQueue = "half-sent"

// halfBody sends 15 of 16 MiB and stays.
func halfBody(ctx context.Context, addr string) {
	conn := opened(ctx, addr)
	if conn == nil {
		return
	}
	const announced, sent = 16 << 20, 15 << 20
	b := frame.AppendMethod(nil, 1, &amqp.BasicPublish{RoutingKey: []byte(halfSentQueue)})
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
