package vhost_test

import (
	"strings"
	"testing"
	"time"

	"leveret/amqp"
	"leveret/queue"
	"leveret/store"
	"leveret/vhost"
)

// Messages that became due while the broker was down wait until all bindings are there again: else they would go nowhere.
func TestDueAfterAStart(t *testing.T) {
	f := newFolder(t)
	h := &host{VHost: f.open(), t: t}
	h.exchange("direct", "x", argsX(arg("x-delayed-exchange", true)))
	h.queue("q")
	h.bind("q", "x", "k")
	for range 10 {
		f.delay(h, letter("x", "k", "m", delayHeader(20)))
	}
	h.must(h.Close())
	f.close()
	time.Sleep(50 * time.Millisecond) // the real clock, which the data folder outlives
	var err error
	f.disk, err = store.Open(f.dir, store.DefaultOptions())
	h.must(err)
	v, err := vhost.New(vhost.Options{Name: "/", Store: slowBindings{f.disk}})
	h.must(err)
	h = &host{VHost: v, t: t}
	q, err := h.Queue("q", me)
	h.must(err)
	h.awaits(q, 10)
	h.must(h.Close())
	f.close()
}

// slowBindings takes its time to load bindings.
type slowBindings struct{ *store.Disk }

func (s slowBindings) Load(bucket string, each func(key string, value []byte) error) error {
	if strings.HasPrefix(bucket, "bindings") {
		time.Sleep(100 * time.Millisecond)
	}
	return s.Disk.Load(bucket, each)
}

// delay publishes a persistent message that is to wait.
func (f *folder) delay(h *host, m amqp.Message) {
	f.t.Helper()
	r, found := send(f.t, h.VHost, m)
	if len(found) != 1 || r.Due == 0 {
		f.t.Fatalf("goes to %v, due at %d", found, r.Due)
	}
	q := r.Queues[0]
	tag := q.Tag(m, &queue.Origin{Due: r.Due})
	var logged store.Batch
	logged.Publish(m, tag)
	logged.To(q.Options().ID)
	b := queue.NewBatch()
	b.AddTagged(m, nil, tag)
	run := false
	f.disk.Append(&logged, func() {
		receipt := q.Push(b)
		run, logged.Pairs()[0].Seq = receipt.Run, receipt.Place(0)
	})
	if run {
		q.RunHere()
	}
}
