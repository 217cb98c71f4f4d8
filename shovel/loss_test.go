package shovel_test

import (
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/rabbitmq/amqp091-go"

	"leveret/server"
	"leveret/shovel"
)

// wire passes bytes on to the broker, and can be cut.
type wire struct {
	listener net.Listener
	done     sync.WaitGroup
	mu       sync.Mutex
	open     map[net.Conn]struct{}
	accepted int
}

// newWire listens before a broker.
func newWire(r *rig) *wire {
	r.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	r.must(err)
	w := &wire{listener: l, open: make(map[net.Conn]struct{})}
	w.done.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.done.Go(func() { w.pass(c, r.address()) })
		}
	})
	r.t.Cleanup(func() {
		l.Close()
		w.cut()
		w.done.Wait()
	})
	return w
}

func (w *wire) pass(c net.Conn, to string) {
	b, err := net.Dial("tcp", to)
	if err != nil {
		c.Close()
		return
	}
	w.mu.Lock()
	w.open[c], w.open[b] = struct{}{}, struct{}{}
	w.accepted++
	w.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { io.Copy(b, c); b.Close() })
	both.Go(func() { io.Copy(c, b); c.Close() })
	both.Wait()
}

// cut ends all connections, without a word.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.open {
		c.Close()
	}
	clear(w.open)
}

func (w *wire) uri() string { return "amqp://guest:guest@" + w.listener.Addr().String() + "/%2F" }

// TestNothingLost: whichever side drops again and again, each message arrives, though maybe twice.
func TestNothingLost(t *testing.T) {
	for _, side := range []string{"src-uri", "dest-uri"} {
		t.Run(side, func(t *testing.T) {
			r := start(t)
			w := newWire(r)
			r.queue("from", nil)
			r.queue("to", nil)
			const n, cuts = 3000, 5
			bodies := make([]string, n)
			for i := range bodies {
				bodies[i] = fmt.Sprint(i)
			}
			r.send("from", bodies...)
			in, err := r.client().Consume("to", "", true, false, false, false, nil)
			r.must(err)
			r.put("s", map[string]any{side: w.uri(), "src-queue": "from", "dest-queue": "to", "src-prefetch-count": 50})
			seen := make(map[string]bool)
			for d := range in {
				seen[string(d.Body)] = true
				if len(seen) == n {
					break
				}
				if len(seen)%(n/cuts) == n/cuts/2 {
					w.cut()
				}
			}
			r.eventually("the acknowledgements", func() bool {
				s := r.status("s")
				w.mu.Lock()
				defer w.mu.Unlock()
				return s.State == shovel.Running && s.Pending == 0 && r.count("from") == 0 && w.accepted > 1
			})
		})
	}
}

// TestTargetRefuses: what a full queue refuses stays at the source until there is room.
func TestTargetRefuses(t *testing.T) {
	r := start(t)
	r.queue("from", nil)
	r.queue("to", amqp091.Table{"x-max-length": int32(3), "x-overflow": "reject-publish"})
	const n = 20
	for i := range n {
		r.send("from", fmt.Sprint(i))
	}
	r.put("s", map[string]any{"src-queue": "from", "dest-queue": "to", "src-delete-after": "queue-length", "src-prefetch-count": 7})
	seen := make(map[string]int)
	for range n {
		seen[string(r.get("to").Body)]++
	}
	r.gone("s")
	if len(seen) != n || r.count("from") != 0 || r.count("to") != 0 {
		t.Errorf("%d of %d arrived, %d left, %d too many", len(seen), n, r.count("from"), r.count("to"))
	}
}

// TestTargetAppears: a shovel whose target is not there goes on when it is, with what it has not moved.
func TestTargetAppears(t *testing.T) {
	r := start(t)
	r.queue("from", nil)
	r.queue("to", nil)
	r.send("from", "a", "b")
	r.put("s", map[string]any{"src-queue": "from", "dest-exchange": "later", "src-delete-after": "queue-length"})
	r.eventually("an attempt", func() bool { return r.state("s") == shovel.Terminated })
	r.must(r.ch.ExchangeDeclare("later", "fanout", true, false, false, false, nil))
	r.must(r.ch.QueueBind("to", "", "later", false, nil))
	r.eventually("the rest", func() bool { return r.count("from") == 0 })
	r.gone("s")
}

// TestSourceGoes: a deleted source ends the session, and the next one declares it again.
func TestSourceGoes(t *testing.T) {
	r := start(t)
	r.put("s", map[string]any{"src-queue": "from", "dest-queue": "to"})
	r.eventually("the shovel", func() bool { return r.state("s") == shovel.Running })
	since := r.status("s").Since
	_, err := r.ch.QueueDelete("from", false, false, false)
	r.must(err)
	r.eventually("the next session", func() bool { s := r.status("s"); return s.State == shovel.Running && s.Since.After(since) })
	r.send("from", "a")
	r.get("to")
}

// TestBlockedTarget: a target that takes no publishes is shown as such, and does not keep the shovel from ending.
func TestBlockedTarget(t *testing.T) {
	r := start(t)
	r.queue("from", nil)
	r.send("from", "a", "b")
	r.ForceAlarm(server.Memory, true)
	defer r.ForceAlarm(server.Memory, false)
	r.put("s", map[string]any{"src-queue": "from", "dest-queue": "to"})
	r.eventually("the alarm", func() bool { return r.status("s").Blocked })
	_, err := r.VHost("/").ClearParameter(shovel.Component, "s")
	r.must(err)
	r.gone("s")
}
