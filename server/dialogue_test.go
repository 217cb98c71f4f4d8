package server_test

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"leveret/amqp"
	"leveret/frame"
	"leveret/server"
	"leveret/store"
)

var update = flag.Bool("update", false, "rewrite the S lines of the dialogues with what the server says")

// cut is how what a client sends is cut into writes. The server must not mind.
type cut int

const (
	together cut = iota // lines in a row in one write
	byLine
	byOctet
)

// cuts are the names of the cuts that a dialogue is played in.
func (d *dialogue) cuts() []string {
	all := []string{"together", "by line", "by octet"}
	if d.whole {
		return all[:1]
	}
	return all
}

// dialogueOptions are small limits, so that dialogues can break them with few octets.
func dialogueOptions() server.Options {
	o := testOptions()
	o.Heartbeat = 60 * time.Second
	o.ChannelMax = 8
	o.MaxMessageSize = 100
	o.TransactionMax = 400
	return o
}

// TestDialogues plays each dialogue over pipes, on a clock of its own, in all cuts.
func TestDialogues(t *testing.T) {
	for _, d := range readDialogues(t) {
		name := strings.TrimSuffix(filepath.Base(d.file), ".amqp")
		for c, cutName := range d.cuts() {
			t.Run(name+"/"+cutName, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, dialogueOptions(), store.NewMemory())
					r.Serve()
					p := &player{t: t, dialogue: d, cut: cut(c), connect: r.pipe}
					defer r.stop()
					defer p.hangUp()
					p.play()
					p.nothingMore()
				})
			})
		}
		if *update {
			if err := os.WriteFile(d.file, []byte(strings.Join(d.lines, "\n")+"\n"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestDialoguesOverTCP plays the dialogues through sockets, which the server reads and writes in another way.
func TestDialoguesOverTCP(t *testing.T) {
	for _, d := range readDialogues(t) {
		if d.slow {
			continue
		}
		t.Run(filepath.Base(d.file), func(t *testing.T) {
			r := start(t, dialogueOptions())
			p := &player{t: t, dialogue: d, connect: r.dial}
			defer p.hangUp()
			p.play()
		})
	}
}

// player plays a dialogue with a server.
type player struct {
	t        *testing.T
	dialogue *dialogue
	cut      cut
	connect  func() *client
	clients  map[int]*client
	ended    map[int]bool
	names    names
	at       step
	sent     [][]byte // gathered for one write
	sentBy   int
}

func (p *player) play() {
	p.clients, p.ended, p.names = make(map[int]*client), make(map[int]bool), make(names)
	for _, p.at = range p.dialogue.steps {
		c := p.client(p.at.client)
		if p.at.server || p.at.client != p.sentBy {
			p.flush()
		}
		if p.at.server {
			p.hear(c, p.at.text)
		} else {
			p.say(c, p.at.text)
		}
	}
	p.flush()
}

func (p *player) client(n int) *client {
	if p.clients[n] == nil {
		p.clients[n] = p.connect()
	}
	return p.clients[n]
}

func (p *player) fatalf(format string, args ...any) {
	p.t.Helper()
	p.t.Fatalf("%s:%d: %s", p.dialogue.file, p.at.line+1, fmt.Sprintf(format, args...))
}

// say does what a C line says.
func (p *player) say(c *client, text string) {
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "open":
		o, err := parseOpening(rest)
		if err == nil {
			err = c.opening(o)
		}
		if err != nil {
			p.fatalf("%v", err)
		}
	case "wait":
		p.flush()
		d, err := time.ParseDuration(rest)
		if err != nil {
			p.fatalf("%v", err)
		}
		time.Sleep(d)
	case "hangup":
		p.flush()
		c.conn.Close()
		p.ended[p.at.client] = true
	default:
		octets, err := encode(p.names.fill(text))
		if err != nil {
			p.fatalf("%v", err)
		}
		p.sent, p.sentBy = append(p.sent, octets), p.at.client
	}
}

// flush writes what was gathered. A server that has heard enough may have closed the socket meanwhile: what it said is looked at later.
func (p *player) flush() {
	if len(p.sent) == 0 {
		return
	}
	c := p.clients[p.sentBy]
	all := bytes.Join(p.sent, nil)
	switch p.cut {
	case together:
		p.sent = [][]byte{all}
	case byOctet:
		p.sent = nil
		for i := range all {
			p.sent = append(p.sent, all[i:i+1])
		}
	}
	for _, b := range p.sent {
		c.conn.SetWriteDeadline(time.Now().Add(patience))
		if _, err := c.conn.Write(b); err != nil {
			if !ended(err) {
				p.fatalf("write: %v", err)
			}
			break
		}
	}
	p.sent = nil
}

// hear compares what comes with an S line.
func (p *player) hear(c *client, text string) {
	p.t.Helper()
	if after, ok := strings.CutPrefix(text, "end"); ok {
		p.hearEnd(c, strings.TrimSpace(after))
		return
	}
	if digits, ok := strings.CutPrefix(text, "hex "); ok {
		p.hearOctets(c, digits)
		return
	}
	if channel, tag, ok := strings.Cut(text, " acked "); ok {
		p.hearAcks(c, channel, tag)
		return
	}
	for _, pattern := range expectation(text) {
		f, err := c.next()
		if err != nil {
			p.fatalf("want %s: %v", pattern, err)
		}
		if got := frame.Dump(f); !p.names.match(pattern, got) {
			p.differs(pattern, got)
		}
	}
}

// differs fails, or takes what came as what shall come.
func (p *player) differs(want, got string) {
	p.t.Helper()
	if !*update {
		p.fatalf("\n got %s\nwant %s", got, want)
	}
	mark, _, _ := strings.Cut(p.dialogue.lines[p.at.line], " ")
	p.dialogue.lines[p.at.line] = mark + " " + got
}

// hearEnd waits for the end of the connection, which must come when it is said to.
func (p *player) hearEnd(c *client, after string) {
	p.t.Helper()
	from := time.Now()
	f, err := c.next()
	if err == nil {
		p.fatalf("got %s, want the end", frame.Dump(f))
	}
	if !ended(err) {
		p.fatalf("want the end: %v", err)
	}
	p.ended[p.at.client] = true
	if after == "" {
		return
	}
	want, err := time.ParseDuration(after)
	if err != nil {
		p.fatalf("%v", err)
	}
	if got := time.Since(from); got < want-time.Second/2 || got > want+time.Second/2 {
		p.fatalf("the end came after %s, want %s", got, want)
	}
}

func (p *player) hearOctets(c *client, digits string) {
	want, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
	if err != nil {
		p.fatalf("%v", err)
	}
	got := make([]byte, len(want))
	c.conn.SetReadDeadline(time.Now().Add(c.patience))
	if n, err := io.ReadFull(c.conn, got); err != nil || !bytes.Equal(got, want) {
		p.fatalf("got %x (%v), want %x", got[:n], err, want)
	}
}

// hearAcks reads confirms, each of which goes further than the one before, up to the tag.
func (p *player) hearAcks(c *client, channel, tag string) {
	last := uint64(0)
	for {
		f, err := c.next()
		if err != nil {
			p.fatalf("want confirms up to %s: %v", tag, err)
		}
		got := frame.Dump(f)
		if !strings.HasPrefix(got, channel+" basic.ack ") {
			p.fatalf("got %s, want a confirm", got)
		}
		var m amqp.BasicAck
		if err := m.Decode(f.Arguments()); err != nil || m.DeliveryTag <= last || !m.Multiple && last > 0 && m.DeliveryTag != last+1 {
			p.fatalf("got %s after the confirm of %d (%v)", got, last, err)
		}
		if last = m.DeliveryTag; fmt.Sprint(last) == tag {
			return
		}
	}
}

// nothingMore holds that the server says no more than the dialogue has.
func (p *player) nothingMore() {
	for n, c := range p.clients {
		if p.ended[n] {
			continue
		}
		if c.frames.Buffered() {
			f, err := c.frames.Next()
			p.fatalf("client %d: got %s (%v) behind the dialogue's end", n, frame.Dump(f), err)
		}
		c.conn.SetReadDeadline(time.Now().Add(time.Second))
		f, err := c.frames.Next()
		if err == nil {
			p.fatalf("client %d: got %s behind the dialogue's end", n, frame.Dump(f))
		}
		if !isTimeout(err) && !ended(err) {
			p.fatalf("client %d: want silence: %v", n, err)
		}
	}
}

func (p *player) hangUp() {
	for _, c := range p.clients {
		c.conn.Close()
	}
}
