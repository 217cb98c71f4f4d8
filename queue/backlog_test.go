package queue_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"testing"

	"leveret/amqp"
	"leveret/queue"
	"leveret/store"
)

// backlog is a durable queue on a disk, to be filled and drained.
type backlog struct {
	t      testing.TB
	disk   *store.Disk
	synced chan struct{}
	q      *queue.Queue
	keys   int // of the messages, if the queue asks for them
}

func newBacklog(t testing.TB, opts queue.Options) *backlog {
	disk, err := store.Open(t.TempDir(), store.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	b := &backlog{t: t, disk: disk, synced: make(chan struct{}, 1), keys: 1}
	disk.OnDurable(func() {
		select {
		case b.synced <- struct{}{}:
		default:
		}
	})
	opts.Name, opts.ID, opts.Durable, opts.Log = "q", disk.NextQueueID(), true, disk
	b.q = queue.New(opts)
	t.Cleanup(func() {
		b.q.Returned()
		if err := disk.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return b
}

// fill publishes persistent messages in batches, each in a publisher's chunk, and returns when all are on disk.
func (b *backlog) fill(messages, size int) {
	m := amqp.Message(append(amqp.AppendMessageAddress(nil, nil, []byte("q")), 0, 0))
	m.SetProperties(2, &amqp.PropertyIndex{DeliveryMode: amqp.Persistent}, 0)
	m = append(m, make([]byte, size)...)
	chunk := queue.NewChunk()
	var logged store.Batch
	var last store.LSN
	for messages > 0 {
		batch := queue.NewBatch()
		for full := false; !full && messages > 0; messages-- {
			if cap(chunk.Bytes)-len(chunk.Bytes) < len(m) {
				chunk.Retire()
				chunk = queue.NewChunk()
			}
			start := len(chunk.Bytes)
			chunk.Bytes = append(chunk.Bytes, m...)
			chunk.Hold(1)
			copied := amqp.Message(chunk.Bytes[start:len(chunk.Bytes):len(chunk.Bytes)])
			tag := uint32(0)
			if b.q.Tagged() {
				tag = keyedTag(messages, b.keys)
				batch.Tag(tag)
			}
			logged.Publish(copied, tag)
			logged.To(b.q.Options().ID)
			full = batch.Add(copied, chunk)
		}
		run := false
		last = b.disk.Append(&logged, func() {
			var first uint64
			r := b.q.Push(batch)
			first, run = r.First, r.Run
			for i := range logged.Pairs() {
				logged.Pairs()[i].Seq = first + uint64(i)
			}
		})
		if run {
			b.q.RunHere()
		}
		for b.disk.Pressure() {
			<-b.synced
		}
	}
	chunk.Retire()
	for b.disk.Durable() < last {
		<-b.synced
	}
}

// drainer takes all that it gets and acknowledges two hundred at a time.
type drainer struct {
	q        *queue.Queue
	consumer queue.Consumer
	settle   *queue.Settlement
	held     int
	all      *drainers
}

// drainers take everything from a queue together.
type drainers struct {
	list []*drainer
	left int
	done chan struct{}
}

func (*drainer) Lock()       {}
func (*drainer) Unlock()     {}
func (*drainer) Touch() bool { return false }
func (*drainer) Flush(bool)  {}
func (*drainer) Cancelled()  {}

func (d *drainer) Deliver(seq uint64, m amqp.Message, _ bool) bool {
	if d.settle == nil {
		d.settle = queue.NewSettlement(&d.consumer, queue.Ack)
	}
	d.settle.Add(seq)
	d.held++
	if d.held == 200 {
		d.acknowledge()
	}
	if d.all.left--; d.all.left == 0 {
		for _, other := range d.all.list {
			other.acknowledge()
		}
		close(d.all.done)
	}
	return true
}

func (d *drainer) acknowledge() {
	if d.settle != nil {
		d.q.Settle(d.settle)
		d.settle, d.held = nil, 0
	}
}

func (b *backlog) drain(messages, consumers int) {
	all := &drainers{left: messages, done: make(chan struct{})}
	for range consumers {
		d := &drainer{q: b.q, all: all}
		d.consumer = queue.Consumer{Tag: "c", Prefetch: 250, Outbox: d, Receiver: d}
		all.list = append(all.list, d)
	}
	for _, d := range all.list {
		if err := b.q.Consume(&d.consumer, func() {}); err != nil {
			b.t.Fatal(err)
		}
	}
	<-all.done
	for _, d := range all.list {
		b.q.Cancel(&d.consumer, func() {})
	}
	if n, err := b.q.Counts(); err != nil || n.Ready+n.Unacked != 0 {
		b.t.Fatalf("%+v are left, %v", n, err)
	}
}

// BenchmarkDrain compares the rate at which a queue is drained that fits into memory with that of one which does not.
func BenchmarkDrain(b *testing.B) {
	for _, size := range []int{16, 1024} {
		for _, length := range []int{10_000, 1_000_000} {
			b.Run(fmt.Sprintf("size=%d/length=%d", size, length), func(b *testing.B) {
				log := newBacklog(b, queue.Options{})
				b.ReportAllocs()
				for n := 0; n < b.N; n += length {
					b.StopTimer()
					log.fill(length, size)
					b.StartTimer()
					log.drain(length, 1)
				}
			})
		}
	}
}

// What is read for the head stands in chunks that are used again: draining a long queue allocates little.
func TestDrainUsesMemoryAgain(t *testing.T) {
	const messages, size = 50_000, 1000
	b := newBacklog(t, queue.Options{})
	b.fill(messages, size)
	b.drain(messages, 1)
	b.fill(messages, size)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b.drain(messages, 1)
	runtime.ReadMemStats(&after)
	most := uint64(messages * size / 4)
	if raceDetector { // it makes pools forget
		most *= 2
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > most {
		t.Errorf("%d bytes allocated for %d", n, messages*size)
	}
}

// TestMemoryOfALongQueue measures by how much the heap grows with the length of a queue that is far too long for the memory: by three million messages.
// Under the race detector it is a tenth, and a megabyte more or less weighs ten times as much.
func TestMemoryOfALongQueue(t *testing.T) {
	const steps = 3
	step, mostEach := 1_000_000, 1.0 // bytes a message
	if raceDetector {
		step, mostEach = step/10, 20
	}
	b := newBacklog(t, queue.Options{})
	b.fill(step, 16) // windows are full
	before := b.leastHeap(step, 16)
	for range steps - 1 {
		b.fill(step, 16)
	}
	grown := float64(b.leastHeap(step, 16)) - float64(before)
	if each := grown / float64(steps*step); each > mostEach {
		t.Errorf("%.2f bytes a message", each)
	} else {
		t.Logf("%.2f bytes a message", each)
	}
	b.drain(step*(steps+2), 1)
}

// leastHeap is the least memory in use while so many messages come in: what the log keeps of its last segment grows by megabytes until the next one, and
// where that is depends on how fast messages come.
func (b *backlog) leastHeap(messages, size int) uint64 {
	const looks = 10
	least := uint64(math.MaxUint64)
	for range looks {
		b.fill(messages/looks, size)
		least = min(least, heap())
	}
	return least
}

// heap is how much memory is in use after a collection.
func heap() uint64 {
	var m runtime.MemStats
	for range 3 { // what pools hold goes in the second one
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
