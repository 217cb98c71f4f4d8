package events_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"leveret/amqp"
	"leveret/events"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// listener wants events whose keys begin with a prefix, and notes them; if gate is not nil it takes one for each token from there.
type listener struct {
	prefix string
	gate   chan struct{}
	mu     sync.Mutex
	taken  []events.Event
}

func (l *listener) Wants(key string) bool { return strings.HasPrefix(key, l.prefix) }

func (l *listener) Take(e events.Event) {
	if l.gate != nil {
		<-l.gate
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken = append(l.taken, e)
}

func (l *listener) keys() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	keys := make([]string, len(l.taken))
	for i, e := range l.taken {
		keys[i] = e.Key
	}
	return keys
}

func nothing() amqp.Table { return nil }

func TestEventsGoToWhoWantsThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := events.New()
		queues, all := &listener{prefix: "queue."}, &listener{}
		b.Emit("queue.created", func() amqp.Table { t.Error("nobody listens, and properties were made"); return nil })
		b.Listen(queues)
		b.Emit("user.created", func() amqp.Table { t.Error("nobody wants them, and properties were made"); return nil })
		if !b.Wanted("queue.deleted") || b.Wanted("user.created") {
			t.Error("the bus does not know what is wanted")
		}
		b.Listen(all)
		time.Sleep(time.Second)
		begun := time.Now()
		b.Emit("queue.created", func() amqp.Table { return amqp.Table{{Name: "name", Value: "q"}} })
		b.Emit("user.created", nothing)
		b.Emit("queue.deleted", nothing)
		synctest.Wait()
		if got, want := queues.keys(), []string{"queue.created", "queue.deleted"}; !slices.Equal(got, want) {
			t.Errorf("who wants events of queues was told %q, not %q", got, want)
		}
		if got, want := all.keys(), []string{"queue.created", "user.created", "queue.deleted"}; !slices.Equal(got, want) {
			t.Errorf("who wants all was told %q, not %q", got, want)
		}
		first := all.taken[0]
		if name, _ := first.Properties.Get("name"); name != "q" || !first.Time.Equal(begun) {
			t.Errorf("event %+v, emitted at %v", first, begun)
		}
		b.Close()
	})
}

func TestEmitNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := events.New()
		slow := &listener{gate: make(chan struct{})}
		b.Listen(slow)
		b.Emit("first", nothing)
		synctest.Wait() // the listener has it and stands still
		for i := range events.Backlog + 5 {
			b.Emit(fmt.Sprint(i), nothing)
		}
		if got := b.Dropped(); got != 5 {
			t.Errorf("dropped %d, not 5", got)
		}
		close(slow.gate)
		b.Close()
		keys := slow.keys()
		if len(keys) != events.Backlog+1 || keys[1] != "0" || keys[events.Backlog] != fmt.Sprint(events.Backlog-1) {
			t.Errorf("told of %d events, the last is %q", len(keys), keys[len(keys)-1])
		}
		b.Emit("late", nothing)
		synctest.Wait()
		if len(slow.keys()) != len(keys) {
			t.Error("an event after the end was told")
		}
	})
}

func TestNoBus(t *testing.T) {
	var b *events.Bus
	if b.Wanted("x") {
		t.Error("no bus wants something")
	}
	b.Emit("x", func() amqp.Table { t.Error("properties were made for nobody"); return nil })
}

func TestManyEmit(t *testing.T) {
	b := events.New()
	all := &listener{}
	b.Listen(all)
	var emitters sync.WaitGroup
	for i := range 8 {
		emitters.Go(func() {
			for j := range 100 {
				b.Emit(fmt.Sprintf("%d.%03d", i, j), nothing)
			}
		})
	}
	emitters.Wait()
	b.Close()
	keys := all.keys()
	if len(keys) != 800 {
		t.Fatalf("%d events of 800", len(keys))
	}
	slices.SortStableFunc(keys, func(x, y string) int { return strings.Compare(x[:1], y[:1]) })
	if !slices.IsSorted(keys) {
		t.Error("the events of one emitter changed places")
	}
}
