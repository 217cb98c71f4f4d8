package store_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"leveret/store"
)

// model drives a store on disk and one in memory with the same calls.
type model struct {
	dir     string
	options store.Options
	disk    *store.Disk
	memory  *store.Memory
	next    map[uint64]uint64
	notes   map[uint64]map[uint64]string // of each queue, the last one of each message that was live
	places  map[uint64][]store.Place     // of each queue, what was told once: some have been settled since, and some have moved
}

const modelQueues = 4

func (m *model) open(t *rapid.T) {
	s, err := store.Open(m.dir, m.options)
	if err != nil {
		t.Fatal(err)
	}
	m.disk = s
}

func (m *model) close(t *rapid.T) {
	if err := m.disk.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func queueOf(t *rapid.T) uint64 { return rapid.Uint64Range(1, modelQueues).Draw(t, "queue") }

// rangeOf draws a range of sequences that were given, or nearly.
func (m *model) rangeOf(t *rapid.T, queue uint64) store.Range {
	first := rapid.Uint64Range(1, m.next[queue]+2).Draw(t, "first")
	return store.Range{First: first, Last: first + rapid.Uint64Range(0, 40).Draw(t, "length")}
}

func (m *model) publish(t *rapid.T) {
	var onDisk, inMemory store.Batch
	atomic := rapid.Bool().Draw(t, "atomic")
	onDisk.Atomic, inMemory.Atomic = atomic, atomic
	if atomic {
		queue := queueOf(t)
		if m.next[queue] > 0 {
			r := []store.Range{m.rangeOf(t, queue)}
			onDisk.Settle(queue, r)
			inMemory.Settle(queue, r)
			m.next[queue] = max(m.next[queue], r[0].Last)
		}
	}
	var seqs []uint64
	for range rapid.IntRange(1, 30).Draw(t, "messages") {
		size := rapid.SampledFrom([]int{0, 1, 20, 300, 3000, 70_000}).Draw(t, "size")
		body := bytes.Repeat([]byte{byte(len(seqs))}, size)
		tag := rapid.Uint32Range(0, 2).Draw(t, "tag")
		onDisk.Publish(body, tag)
		inMemory.Publish(body, tag)
		for _, queue := range rapid.SliceOfNDistinct(rapid.Uint64Range(1, modelQueues), 1, modelQueues, rapid.ID[uint64]).Draw(t, "queues") {
			m.next[queue] += rapid.SampledFrom([]uint64{1, 1, 1, 1, 2, 3000}).Draw(t, "step")
			onDisk.To(queue)
			inMemory.To(queue)
			seqs = append(seqs, m.next[queue])
		}
	}
	number := func(b *store.Batch) func() {
		return func() {
			for i := range b.Pairs() {
				b.Pairs()[i].Seq = seqs[i]
			}
		}
	}
	onDisk.Led = rapid.Bool().Draw(t, "led")
	led := onDisk.Led
	m.disk.Append(&onDisk, number(&onDisk))
	if led {
		m.disk.Lead()
	}
	m.memory.Append(&inMemory, number(&inMemory))
}

func (m *model) settle(t *rapid.T) {
	queue := queueOf(t)
	if m.next[queue] == 0 {
		return
	}
	ranges := []store.Range{m.rangeOf(t, queue)}
	m.next[queue] = max(m.next[queue], ranges[0].Last) // the store takes the sequences for given
	m.disk.Settle(queue, ranges)
	m.memory.Settle(queue, ranges)
}

// annotate gives notes to messages, of which some are settled, spilled, or not there.
func (m *model) annotate(t *rapid.T) {
	queue := queueOf(t)
	live := map[uint64]bool{}
	m.scan(t, m.memory, queue, func(i store.Info) { live[i.Seq] = !i.Transient })
	var notes []store.Note
	for range rapid.IntRange(1, 50).Draw(t, "notes") {
		data := rapid.StringMatching("[a-z]{0,32}").Draw(t, "data")
		n := store.Note{Seq: rapid.Uint64Range(0, m.next[queue]+2).Draw(t, "seq"), Data: []byte(data)}
		notes = append(notes, n)
		if live[n.Seq] {
			m.notes[queue][n.Seq] = data
		}
	}
	m.disk.Annotate(queue, notes)
	m.memory.Annotate(queue, notes)
}

// checkNotes compares what a restart found with the notes of the messages that are left.
func (m *model) checkNotes(t *rapid.T, q store.QueueState) {
	want := map[uint64]string{}
	m.scan(t, m.memory, q.ID, func(i store.Info) {
		if note, ok := m.notes[q.ID][i.Seq]; ok {
			want[i.Seq] = note
		}
	})
	m.notes[q.ID] = want
	last := uint64(0)
	for _, n := range q.Notes {
		if note, ok := want[n.Seq]; n.Seq <= last || !ok || note != string(n.Data) {
			t.Fatalf("queue %d: note %q of message %d behind that of %d, want %q", q.ID, n.Data, n.Seq, last, note)
		}
		last = n.Seq
	}
	if len(q.Notes) != len(want) {
		t.Fatalf("queue %d: %d notes, want %d", q.ID, len(q.Notes), len(want))
	}
}

// barrier waits until what was settled shows: it is in the log before this message, and reading that waits for it.
func (m *model) barrier(t *rapid.T) {
	const queue = modelQueues + 1
	var b store.Batch
	b.Publish(nil, 0)
	b.To(queue)
	m.next[queue]++
	m.disk.Append(&b, func() { b.Pairs()[0].Seq = m.next[queue] })
	here := []store.Range{{First: m.next[queue], Last: m.next[queue]}}
	if w, err := m.disk.Read(queue, here, 0); err != nil || len(w.Messages) != 1 {
		t.Fatalf("barrier: %+v, %v", w, err)
	}
	b.Atomic = true
	b.Settle(queue, here)
	m.disk.Append(&b, nil)
}

func (m *model) spill(t *rapid.T) {
	queue := queueOf(t)
	var messages []store.Message
	for range rapid.IntRange(1, 60).Draw(t, "messages") {
		m.next[queue]++
		size := rapid.IntRange(0, 5000).Draw(t, "size")
		messages = append(messages, store.Message{Seq: m.next[queue], Body: bytes.Repeat([]byte{7}, size), Tag: uint32(size % 3)})
	}
	if err := m.disk.Spill(queue, messages); err != nil {
		t.Fatal(err)
	}
	if err := m.memory.Spill(queue, messages); err != nil {
		t.Fatal(err)
	}
}

func (m *model) discard(t *rapid.T) {
	queue := queueOf(t)
	if m.next[queue] == 0 {
		return
	}
	ranges := []store.Range{m.rangeOf(t, queue)}
	m.disk.Discard(queue, ranges)
	m.memory.Discard(queue, ranges)
}

// restart closes and opens the store: everything is there, but for what was spilled.
func (m *model) restart(t *rapid.T) {
	m.close(t)
	m.open(t)
	m.places = map[uint64][]store.Place{}
	for queue := uint64(1); queue <= modelQueues; queue++ {
		m.memory.Discard(queue, []store.Range{{First: 1, Last: 1 << 60}})
	}
	m.disk.Queues(func(q store.QueueState) {
		if q.ID > modelQueues {
			return
		}
		if q.Next > m.next[q.ID]+1 {
			t.Fatalf("queue %d goes on at %d, %d was the last given", q.ID, q.Next, m.next[q.ID])
		}
		count, size := uint64(0), uint64(0)
		m.scan(t, m.memory, q.ID, func(i store.Info) { count++; size += uint64(i.Size) })
		if q.Messages != count || q.Bytes != size {
			t.Fatalf("queue %d recovers %d messages of %d bytes, want %d of %d", q.ID, q.Messages, q.Bytes, count, size)
		}
		m.checkNotes(t, q)
	})
}

func (m *model) commit(t *rapid.T) {
	var changes []store.Change
	for range rapid.IntRange(1, 4).Draw(t, "changes") {
		c := store.Change{Bucket: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "bucket"), Key: rapid.StringMatching("[a-f]").Draw(t, "key")}
		if rapid.Bool().Draw(t, "put") {
			c.Value = []byte(rapid.StringMatching("[a-z]{0,4}").Draw(t, "value"))
		}
		changes = append(changes, c)
	}
	for _, s := range []store.Store{m.disk, m.memory} {
		if err := s.Commit(changes...); err != nil {
			t.Fatal(err)
		}
	}
}

func (m *model) scan(t *rapid.T, s store.Store, queue uint64, each func(store.Info)) {
	err := s.Scan(queue, []store.Range{{First: 1, Last: 1 << 60}}, func(i store.Info) bool { each(i); return true })
	if err != nil {
		t.Fatal(err)
	}
}

// check compares everything that can be read.
func (m *model) check(t *rapid.T) {
	m.barrier(t)
	queue := queueOf(t)
	ranges := []store.Range{{First: 1, Last: 1 << 60}}
	if m.next[queue] > 0 && rapid.Bool().Draw(t, "part") {
		ranges = []store.Range{m.rangeOf(t, queue)}
		last := ranges[0].Last
		ranges = append(ranges, store.Range{First: last + 2, Last: last + 50})
	}
	limit := rapid.SampledFrom([]int{0, 1000, 1 << 30}).Draw(t, "limit")
	got, err := m.disk.Read(queue, ranges, limit)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := m.memory.Read(queue, ranges, limit)
	if d := difference(got, want); d != "" {
		t.Fatalf("queue %d, %v, limit %d: %s", queue, ranges, limit, d)
	}
	m.fetch(t, queue)
	var infos [2][]store.Info
	var places []store.Place
	note := func(list *[]store.Info) func(store.Info) {
		return func(i store.Info) {
			places = append(places, i.Place)
			i.Place = store.Place{}
			*list = append(*list, i)
		}
	}
	m.scan(t, m.memory, queue, note(&infos[1]))
	places = nil
	m.scan(t, m.disk, queue, note(&infos[0]))
	if !slices.Equal(infos[0], infos[1]) {
		t.Fatalf("queue %d: scanned %v, want %v", queue, infos[0], infos[1])
	}
	if rapid.Bool().Draw(t, "places") {
		m.places[queue] = places
	}
	var loaded [2]string
	for i, s := range []store.Store{m.disk, m.memory} {
		for _, bucket := range []string{"a", "b"} {
			if err := s.Load(bucket, func(k string, v []byte) error { loaded[i] += k + "=" + string(v) + " "; return nil }); err != nil {
				t.Fatal(err)
			}
		}
	}
	if loaded[0] != loaded[1] {
		t.Fatalf("definitions %q, want %q", loaded[0], loaded[1])
	}
}

// fetch compares what stands in the places that were told once. Of the messages that were settled since, the disk may still have some.
func (m *model) fetch(t *rapid.T, queue uint64) {
	var got, want store.Window
	buffer := func(size, _ int) []byte { return make([]byte, size) }
	if err := m.disk.Fetch(&got, queue, m.places[queue], buffer); err != nil {
		t.Fatal(err)
	}
	_ = m.memory.Fetch(&want, queue, m.places[queue], buffer)
	if parts := sum(got.Parts); parts != len(got.Messages) {
		t.Fatalf("queue %d: %d messages in parts with %d", queue, len(got.Messages), parts)
	}
	got.Messages = slices.DeleteFunc(got.Messages, func(a store.Message) bool {
		return !slices.ContainsFunc(want.Messages, func(b store.Message) bool { return a.Seq == b.Seq })
	})
	if d := difference(got, want); d != "" {
		t.Fatalf("queue %d, places: %s", queue, d)
	}
}

func sum(list []int) (n int) {
	for _, k := range list {
		n += k
	}
	return n
}

func difference(got, want store.Window) string {
	if len(got.Lost) > 0 || got.Next != want.Next || len(got.Messages) != len(want.Messages) {
		return fmt.Sprintf("%d messages, next %d, lost %v; want %d messages, next %d",
			len(got.Messages), got.Next, got.Lost, len(want.Messages), want.Next)
	}
	for i, m := range got.Messages {
		w := want.Messages[i]
		if m.Seq != w.Seq || m.Tag != w.Tag || m.Transient != w.Transient || !bytes.Equal(m.Body, w.Body) {
			return fmt.Sprintf("message %d is (%d, %d, %v, %d bytes), want (%d, %d, %v, %d bytes)",
				i, m.Seq, m.Tag, m.Transient, len(m.Body), w.Seq, w.Tag, w.Transient, len(w.Body))
		}
	}
	return ""
}

// The store on disk answers as the one in memory, over restarts, with any relocation.
func TestDiskAgainstMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "store")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		m := &model{dir: dir, options: store.DefaultOptions(), memory: store.NewMemory(), next: map[uint64]uint64{}, places: map[uint64][]store.Place{}}
		m.notes = map[uint64]map[uint64]string{1: {}, 2: {}, 3: {}, 4: {}}
		m.options.SegmentSize, m.options.BatchSize, m.options.MinFree = 128<<10, 32<<10, 0
		m.options.RelocateRate = 0
		m.options.RelocateThreshold = rapid.SampledFrom([]float64{0, 0.25, 1}).Draw(t, "threshold")
		m.open(t)
		t.Repeat(map[string]func(*rapid.T){
			"publish": m.publish, "publish more": m.publish, "settle": m.settle, "annotate": m.annotate, "spill": m.spill, "discard": m.discard,
			"commit": m.commit, "restart": m.restart, "": m.check,
		})
		m.close(t)
		var out strings.Builder
		if err := store.Check(dir, &out); err != nil {
			t.Fatal(err, &out)
		}
	})
}
