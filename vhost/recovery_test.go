package vhost_test

import (
	"context"
	"strings"
	"testing"

	"leveret/amqp"
	"leveret/queue"
	"leveret/store"
	"leveret/vhost"
)

// folder is a data folder on which virtual hosts come and go.
type folder struct {
	t    *testing.T
	dir  string
	disk *store.Disk
}

func newFolder(t *testing.T) *folder { return &folder{t: t, dir: t.TempDir()} }

// open opens the folder and its one virtual host.
func (f *folder) open() *vhost.VHost {
	f.t.Helper()
	var err error
	if f.disk, err = store.Open(f.dir, store.DefaultOptions()); err != nil {
		f.t.Fatal(err)
	}
	recovery := vhost.NewRecovery(f.disk)
	v, err := vhost.New(vhost.Options{Name: "/", Store: f.disk, Recovery: recovery})
	if err != nil {
		f.t.Fatal(err)
	}
	recovery.Finish()
	return v
}

func (f *folder) close() {
	f.t.Helper()
	if err := f.disk.Close(context.Background()); err != nil {
		f.t.Fatal(err)
	}
}

// put hands persistent messages to a queue and to the log, and waits for the disk.
func (f *folder) put(q *queue.Queue, bodies ...string) {
	f.t.Helper()
	var logged store.Batch
	pushed := queue.NewBatch()
	for _, body := range bodies {
		m := amqp.Message(append(amqp.AppendMessageAddress(nil, nil, []byte(q.Name())), 0, 0))
		m.SetProperties(2, &amqp.PropertyIndex{DeliveryMode: amqp.Persistent}, 0)
		m = append(m, body...)
		logged.Publish(m, 0)
		logged.To(q.Options().ID)
		pushed.Add(m, nil)
	}
	run := false
	synced := make(chan struct{}, 100)
	f.disk.OnDurable(func() { synced <- struct{}{} })
	lsn := f.disk.Append(&logged, func() {
		var first uint64
		r := q.Push(pushed)
		first, run = r.First, r.Run
		for i := range logged.Pairs() {
			logged.Pairs()[i].Seq = first + uint64(i)
		}
	})
	if run {
		q.RunHere()
	}
	for f.disk.Durable() < lsn {
		<-synced
	}
}

// taker takes messages by basic.get.
type taker struct {
	bodies []string
	last   uint64
}

func (*taker) Lock()       {}
func (*taker) Unlock()     {}
func (*taker) Touch() bool { return false }
func (*taker) Flush(bool)  {}

func (g *taker) DeliverGot(seq uint64, m amqp.Message, redelivered bool, _ int) {
	body := string(m.Body())
	if redelivered {
		body += "!"
	}
	g.bodies, g.last = append(g.bodies, body), seq
}

// take takes messages from a queue and gives the last one back if asked to.
func take(t *testing.T, q *queue.Queue, n int, giveBack bool) string {
	t.Helper()
	var g taker
	for range n {
		if _, err := q.Get(&g, &g, false); err != nil {
			t.Fatal(err)
		}
		s := queue.NewSettlement(nil, queue.Ack)
		if giveBack && len(g.bodies) == n {
			s.Outcome = queue.Requeue
		}
		s.Add(g.last)
		if q.Settle(s) {
			q.RunHere()
		}
	}
	return strings.Join(g.bodies, " ")
}

func TestMessagesComeBack(t *testing.T) {
	f := newFolder(t)
	v := f.open()
	q, err := v.DeclareQueue(queueOf("q"), me, all())
	if err != nil {
		t.Fatal(err)
	}
	f.put(q, "a", "b", "c", "d")
	if got := take(t, q, 2, true); got != "a b" {
		t.Fatalf("took %q", got)
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	f.close()
	v = f.open()
	q, err = v.Queue("q", me)
	if err != nil {
		t.Fatal(err)
	}
	f.put(q, "e")
	if got := take(t, q, 4, false); got != "b! c d e" {
		t.Errorf("after a clean stop: %q", got)
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	f.close()
	v = f.open()
	defer f.close()
	if q, err = v.Queue("q", me); err != nil {
		t.Fatal(err)
	}
	f.put(q, "f")
	if got := take(t, q, 1, false); got != "f" {
		t.Errorf("what was taken is back: %q", got)
	}
}

// A queue whose definition is gone, but not its messages, is what a crash in the middle of a deletion leaves.
func TestUnclaimedMessagesGo(t *testing.T) {
	f := newFolder(t)
	v := f.open()
	kept, err := v.DeclareQueue(queueOf("kept"), me, all())
	if err != nil {
		t.Fatal(err)
	}
	gone, err := v.DeclareQueue(queueOf("gone"), me, all())
	if err != nil {
		t.Fatal(err)
	}
	f.put(kept, "a")
	f.put(gone, "b")
	if err := f.disk.Commit(store.Change{Bucket: "queues of /", Key: "gone"}); err != nil {
		t.Fatal(err)
	}
	f.close()
	f.open()
	f.close()
	f.open()
	defer f.close()
	var found []uint64
	f.disk.Queues(func(q store.QueueState) { found = append(found, q.ID) })
	if len(found) != 1 || found[0] != kept.Options().ID {
		t.Errorf("the store has queues %v, want %d alone", found, kept.Options().ID)
	}
}
