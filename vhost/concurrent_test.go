package vhost_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"leveret/amqp"
	"leveret/exchange"
	"leveret/queue"
	"leveret/store"
	"leveret/vhost"

	"pgregory.net/rapid"
)

// step does one thing to a small topology. Protocol errors are fine, others are not.
func (h *host) step(op, a, b, c int) error {
	q, x, y := fmt.Sprint("q", a), fmt.Sprint("x", b), fmt.Sprint("x", c)
	var err error
	switch op {
	case 0, 1:
		_, err = h.DeclareQueue(vhost.QueueDeclare{Name: q, Durable: a%3 > 0}, me, all())
	case 2:
		_, err = h.DeleteQueue(q, false, false, me, all())
	case 3, 4:
		err = h.DeclareExchange(vhost.ExchangeDeclare{Name: x, Type: "fanout", Durable: b%3 > 0, AutoDelete: b%2 > 0}, all())
	case 5:
		err = h.DeleteExchange(x, c == 0, all())
	case 6, 7:
		err = h.BindQueue(q, x, y, nil, me, all())
	case 8:
		err = h.UnbindQueue(q, x, y, nil, me, all())
	case 9, 10:
		err = h.BindExchange(y, x, q, nil, all())
	case 11:
		err = h.UnbindExchange(y, x, q, nil, all())
	case 12:
		if old, _ := h.Queue(q, me); old != nil { // closes itself, and somebody retires it, or not yet
			_, _ = old.Delete(false, false)
			if c > 0 {
				err = h.Retire(old)
			}
		}
	}
	var refused *amqp.Error
	if errors.As(err, &refused) {
		return nil
	}
	return err
}

const steps = 13

// settle retires the queues that closed themselves and were left so, as their next user would.
func (h *host) settle() {
	h.Queues(func(q *queue.Queue) bool {
		if q.Closed() {
			h.must(h.Retire(q))
		}
		return true
	})
}

// lasting is the part of a topology that a restart must bring back.
func (h *host) lasting() []string {
	durable := func(d exchange.Destination) bool {
		if q, ok := d.(*queue.Queue); ok {
			return q.Durable()
		}
		return d.(*exchange.Exchange).Options().Durable
	}
	lines := []string{}
	h.Queues(func(q *queue.Queue) bool {
		if q.Durable() {
			lines = append(lines, fmt.Sprint("queue ", q.Name(), " ", q.Options().ID))
		}
		return true
	})
	h.Exchanges(func(x *exchange.Exchange) bool {
		if !durable(x) {
			return true
		}
		lines = append(lines, "exchange "+x.Name())
		for _, b := range x.Bindings() {
			if durable(b.Destination) {
				lines = append(lines, fmt.Sprint("binding ", x.Name(), " ", b.Key, " ", b.Destination.Name(), " ", b.ToExchange()))
			}
		}
		return true
	})
	slices.Sort(lines)
	return lines
}

// consistent checks that every binding leads to something that is there, and that no exchange without bindings should have gone.
func (h *host) consistent(t testing.TB) {
	t.Helper()
	there := map[exchange.Destination]bool{}
	h.Queues(func(q *queue.Queue) bool { there[q] = true; return true })
	h.Exchanges(func(x *exchange.Exchange) bool { there[x] = true; return true })
	h.Exchanges(func(x *exchange.Exchange) bool {
		for _, b := range x.Bindings() {
			if !there[b.Destination] {
				t.Errorf("%s is bound to %s, which is gone", x.Name(), b.Destination.Name())
			}
		}
		return true
	})
}

// Whatever is done: what is durable is the same after a restart, and every binding has its ends.
func TestRestartAfterAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHost(t)
		small := rapid.IntRange(0, 3)
		for range rapid.IntRange(0, 60).Draw(rt, "steps") {
			op := rapid.IntRange(0, steps-1).Draw(rt, "op")
			if err := h.step(op, small.Draw(rt, "a"), small.Draw(rt, "b"), small.Draw(rt, "c")); err != nil {
				rt.Fatal(err)
			}
		}
		h.settle()
		h.consistent(t)
		if got, want := h.restart().lasting(), h.lasting(); !slices.Equal(got, want) {
			rt.Fatalf("after a restart:\n%s\nbefore:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// The same with many at once. Run with -race.
func TestRestartAfterManyAtOnce(t *testing.T) {
	for seed := range uint64(8) {
		h := newHost(t)
		h.disk.before = func([]store.Change) { // a disk takes time, in which others come to wait
			for range 30 {
				runtime.Gosched()
			}
		}
		var wg sync.WaitGroup
		for g := range uint64(6) {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(seed, g))
				for range 150 {
					if err := h.step(r.IntN(steps), r.IntN(4), r.IntN(4), r.IntN(4)); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		h.settle()
		h.consistent(t)
		same(t, fmt.Sprint("after a restart, seed ", seed), h.restart().lasting(), h.lasting())
		if t.Failed() {
			return
		}
	}
}

// All who declare one name at the same time get the same queue, which is made and stored once.
func TestDeclareAtOnce(t *testing.T) {
	h := newHost(t)
	begun, goOn := make(chan struct{}), make(chan struct{})
	h.disk.before = func([]store.Change) {
		close(begun)
		<-goOn
	}
	queues := make([]*queue.Queue, 10)
	var wg sync.WaitGroup
	wg.Go(func() { queues[0] = h.queue("q") })
	<-begun
	if _, err := h.Queue("q", me); err == nil {
		t.Error("the queue is there before it is stored")
	}
	for i := range 9 {
		wg.Go(func() { queues[i+1] = h.queue("q") })
	}
	close(goOn)
	wg.Wait()
	for _, q := range queues {
		if q != queues[0] {
			t.Error("two queues of one name")
		}
	}
	if h.disk.commits != 1 {
		t.Errorf("%d commits, want 1", h.disk.commits)
	}
}

// What waits for the turn of a destination that is then deleted must not bind to what is left of it.
func TestBindToWhatIsDeleted(t *testing.T) {
	for range 100 {
		h := newHost(t)
		h.exchange("fanout", "x")
		h.exchange("fanout", "to")
		h.queue("q")
		var wg sync.WaitGroup
		h.disk.before = func([]store.Change) { // of the bindings with the key "first": the turns are taken, all others wait
			h.disk.before = nil
			wg.Go(func() { h.deleteX("to") })
			wg.Go(func() { h.delete("q") })
			wg.Go(func() { _ = h.BindExchange("to", "x", "late", nil, all()) })
			wg.Go(func() { _ = h.BindQueue("q", "x", "late", nil, me, all()) })
			for range 50 {
				runtime.Gosched()
			}
		}
		h.bindX("to", "x", "first")
		wg.Wait()
		if n := h.Exchange([]byte("x")).Len(); n != 0 {
			t.Fatalf("%d bindings to what is deleted", n)
		}
	}
}

// A queue whose declare was answered stays, whatever ended under its name before.
func TestDeclareAgainstDelete(t *testing.T) {
	h := newHost(t)
	h.exchange("fanout", "x")
	for range 300 {
		old := h.queue("q", autoDelete)
		h.bind("q", "x", "")
		var fresh *queue.Queue
		var wg sync.WaitGroup
		wg.Go(func() {
			_, _ = old.Delete(false, false)
			h.must(h.Retire(old))
		})
		wg.Go(func() {
			for fresh = h.queue("q", autoDelete); fresh == old; fresh = h.queue("q", autoDelete) {
			}
			h.bind("q", "x", "")
		})
		wg.Wait()
		if now, err := h.Queue("q", me); now != fresh || err != nil {
			t.Fatalf("the new queue is gone: %v", err)
		}
		equal(t, "its binding", h.route("x", ""), []string{"q"})
		h.delete("q")
	}
}
