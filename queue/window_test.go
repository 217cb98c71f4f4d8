package queue

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// windowModel is what a Window stands for: values by number, some of them marked.
type windowModel struct {
	values  map[uint64]int
	marked  map[uint64]bool
	numbers []uint64 // the keys of values, ascending
	next    uint64   // lowest number never put
	value   int      // every value is another one
}

func (m *windowModel) put(n uint64, marked bool) int {
	m.value++
	m.values[n] = m.value
	if marked {
		m.marked[n] = true
	}
	m.numbers = slices.Insert(m.numbers, m.from(n), n)
	m.next = max(m.next, n+1)
	return m.value
}

func (m *windowModel) remove(n uint64) {
	delete(m.values, n)
	delete(m.marked, n)
	i := m.from(n)
	m.numbers = slices.Delete(m.numbers, i, i+1)
}

// from is the index of the first number that is not below n.
func (m *windowModel) from(n uint64) int {
	i, _ := slices.BinarySearch(m.numbers, n)
	return i
}

func (m *windowModel) lowestMarked() uint64 {
	return m.numbers[slices.IndexFunc(m.numbers, func(n uint64) bool { return m.marked[n] })]
}

// pick draws a number that is in the window, as often as not one of its ends; false if it is empty.
func (m *windowModel) pick(t *rapid.T) (uint64, bool) {
	if len(m.numbers) == 0 {
		return 0, false
	}
	i := rapid.IntRange(0, len(m.numbers)-1).Draw(t, "index")
	switch rapid.IntRange(0, 3).Draw(t, "end") {
	case 0:
		i = 0
	case 1:
		i = len(m.numbers) - 1
	}
	return m.numbers[i], true
}

// steps are how far a number lies from the one before: neighbours, and jumps over the borders of chunks and pages.
var steps = []uint64{1, 1, 1, 1, 2, 5, chunkEntries - 1, chunkEntries, pageEntries - 1, pageEntries + 3, 5 * pageEntries}

func TestWindowModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := new(Window[int])
		m := &windowModel{values: map[uint64]int{}, marked: map[uint64]bool{}, next: rapid.SampledFrom(steps).Draw(t, "first")}
		gone := []uint64{} // what was taken out and may come back, as a transaction's rollback does it
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				n := m.next + rapid.SampledFrom(steps).Draw(t, "step") - 1
				for range rapid.IntRange(1, 2*chunkEntries).Draw(t, "run") {
					marked := rapid.Bool().Draw(t, "marked")
					w.Put(n, m.put(n, marked), marked)
					n++
				}
			},
			"put again": func(t *rapid.T) {
				if len(gone) == 0 {
					return
				}
				i := rapid.IntRange(0, len(gone)-1).Draw(t, "index")
				n, marked := gone[i], rapid.Bool().Draw(t, "marked")
				gone = slices.Delete(gone, i, i+1)
				w.Put(n, m.put(n, marked), marked)
			},
			"remove": func(t *rapid.T) {
				for range rapid.IntRange(1, chunkEntries).Draw(t, "run") {
					n, ok := m.pick(t)
					if !ok {
						return
					}
					m.remove(n)
					gone = append(gone, n)
					if !w.Remove(n) {
						t.Fatalf("%d was not there", n)
					}
				}
			},
			"remove absent": func(t *rapid.T) {
				n := rapid.Uint64Range(0, m.next+2*pageEntries).Draw(t, "number")
				if _, ok := m.values[n]; !ok && w.Remove(n) {
					t.Fatalf("%d was there", n)
				}
			},
			"mark": func(t *rapid.T) {
				if n, ok := m.pick(t); ok {
					m.marked[n] = true
					w.Mark(n)
				}
			},
			"unmark": func(t *rapid.T) {
				if n, ok := m.pick(t); ok {
					delete(m.marked, n)
					w.Unmark(n)
				}
			},
			"": func(t *rapid.T) { m.compare(t, w) },
		})
	})
}

// compare asks the window everything it can be asked.
func (m *windowModel) compare(t *rapid.T, w *Window[int]) {
	if w.Len() != len(m.values) || w.Marked() != len(m.marked) {
		t.Fatalf("%d values, %d marked; want %d, %d", w.Len(), w.Marked(), len(m.values), len(m.marked))
	}
	n, v, ok := w.NextMarked()
	if ok != (len(m.marked) > 0) {
		t.Fatalf("a marked number: %v; want %d of them", ok, len(m.marked))
	}
	if ok && (n != m.lowestMarked() || *v != m.values[n]) {
		t.Fatalf("lowest marked %d holds %d; want one of %v", n, *v, m.marked)
	}
	from := rapid.Uint64Range(0, m.next+pageEntries).Draw(t, "from")
	for _, n := range append(slices.Clone(m.numbers), from) {
		if got, want := w.At(n), m.values[n]; (got == nil) != (want == 0) || got != nil && *got != want {
			t.Fatalf("at %d: %v, want %d", n, got, want)
		}
		if w.IsMarked(n) != m.marked[n] {
			t.Fatalf("%d marked: %v", n, w.IsMarked(n))
		}
	}
	for _, want := range m.numbers[m.from(from):] {
		got, v, ok := w.NextFrom(from)
		if !ok || got != want || *v != m.values[want] {
			t.Fatalf("next from %d: %d, %v; want %d", from, got, ok, want)
		}
		from = got + 1
	}
	if got, _, ok := w.NextFrom(from); ok {
		t.Fatalf("next from %d: %d, want none", from, got)
	}
}

// What was removed is not kept alive, and neither is its place: one value that stays pins its chunk and its page.
func TestWindowGivesMemoryBack(t *testing.T) {
	w := new(Window[*int])
	w.Put(1, new(int), false)
	const backlog = 10 * pageEntries
	most := 0
	for n := uint64(2); n < 1_000_000; n++ {
		w.Put(n, new(int), true)
		if n > backlog {
			w.Remove(n - backlog + 1)
		}
		most = max(most, len(w.pages))
	}
	if want := backlog/pageEntries + 2; most > want {
		t.Errorf("%d pages in use, want no more than %d", most, want)
	}
	for w.Marked() > 0 {
		n, _, _ := w.NextMarked()
		w.Remove(n)
	}
	if w.Len() != 1 || len(w.pages) != 1 {
		t.Errorf("%d values in %d pages; want the one that stayed", w.Len(), len(w.pages))
	}
	for i := range w.pages[0].chunks[1:] {
		if w.pages[0].chunks[1+i].entries != nil {
			t.Errorf("chunk %d still has its memory", 1+i)
		}
	}
	for _, spare := range w.spares {
		if i := slices.IndexFunc(spare, func(v *int) bool { return v != nil }); i >= 0 {
			t.Error("a chunk kept for later keeps a value alive")
		}
	}
}

// Shrink lets go of all that is kept for later, even while a value stays; what is in the window stands.
func TestWindowShrinks(t *testing.T) {
	w := new(Window[int])
	const values = 3 * pageEntries
	for stay := uint64(1); stay <= 2; stay++ { // twice: a window that has shrunk grows again
		for n := stay * values; n < (stay+1)*values; n++ {
			w.Put(n, int(n), false)
		}
		for n := stay*values + 1; n < (stay+1)*values; n++ {
			w.Remove(n)
		}
		if len(w.spares) == 0 || w.page == nil {
			t.Fatal("nothing is kept for later, so there is nothing to shrink")
		}
		w.Shrink()
		if w.spares != nil || w.page != nil || uint64(w.Len()) != stay {
			t.Errorf("%d chunks and page %v are kept by a window with %d values", len(w.spares), w.page != nil, w.Len())
		}
		if v := w.At(stay * values); v == nil || *v != int(stay*values) {
			t.Errorf("at %d: %v", stay*values, v)
		}
	}
	w.Remove(values)
	w.Remove(2 * values)
	w.Shrink()
	if w.pages != nil || w.spares != nil || w.page != nil {
		t.Error("an empty window keeps memory")
	}
}

// A queue that once had a backlog and holds one stuck message keeps no more than that when it has been tended.
func TestTendedQueueShrinks(t *testing.T) {
	q := New(Options{Name: "q"})
	for n := uint64(1); n <= 2*pageEntries; n++ {
		q.window.Put(n, entry{}, false)
	}
	for n := uint64(2); n <= 2*pageEntries; n++ {
		q.window.Remove(n)
	}
	q.next = 2*pageEntries + 1
	q.untended.Store(true)
	for range 2 {
		if q.untended.CompareAndSwap(true, false) && q.post(tend{}) {
			q.Run()
		}
	}
	if q.window.spares != nil || q.window.page != nil {
		t.Errorf("%d chunks are kept for later", len(q.window.spares))
	}
}

// A window through which values pass does not allocate, with a backlog or one value at a time.
func TestWindowSteadyStateDoesNotAllocate(t *testing.T) {
	for _, backlog := range []uint64{0, 1, 1000, 100_000} {
		w, n := fifo(backlog)
		if allocs := testing.AllocsPerRun(3, func() { n = pass(w, n, 10_000) }); allocs != 0 {
			t.Errorf("backlog of %d: %v allocations for 10,000 values", backlog, allocs)
		}
	}
}

// fifo returns a window with a backlog, after as many values have passed as warm it up, and the next number.
func fifo(backlog uint64) (*Window[entry], uint64) {
	w := new(Window[entry])
	n := uint64(1)
	for range backlog {
		w.Put(n, entry{}, true)
		n++
	}
	return w, pass(w, n, 3*pageEntries)
}

// pass puts values at the tail and takes as many at the head, as deliveries without acknowledgement do.
func pass(w *Window[entry], n uint64, values int) uint64 {
	for range values {
		w.Put(n, entry{}, true)
		head, _, _ := w.NextMarked()
		w.Remove(head)
		n++
	}
	return n
}

func BenchmarkWindowFIFO(b *testing.B) {
	for name, backlog := range map[string]uint64{"empty": 0, "1000": 1000, "1M": 1_000_000} {
		b.Run(name, func(b *testing.B) {
			w, n := fifo(backlog)
			b.ReportAllocs()
			b.ResetTimer()
			pass(w, n, b.N)
		})
	}
}

// Deliver and settle: each value is unmarked at the head and removed 1,000 values later.
func BenchmarkWindowUnacked(b *testing.B) {
	w, n := fifo(2000)
	var held [1000]uint64
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		w.Put(n, entry{}, true)
		n++
		head, _, _ := w.NextMarked()
		w.Unmark(head)
		w.Remove(held[i%len(held)])
		held[i%len(held)] = head
	}
}

// A window of which there are many keeps little when it has been large.
func TestFewKeepsLittle(t *testing.T) {
	const values = 100 * 64
	sizes := make(map[bool]uint64)
	for _, few := range []bool{false, true} {
		w := Window[[64]byte]{Few: few}
		for n := range uint64(values) {
			w.Put(n, [64]byte{}, true)
		}
		for n := range uint64(values) {
			w.Remove(n)
		}
		for _, s := range w.spares {
			sizes[few] += uint64(len(s))
		}
	}
	if sizes[true] > 2*64 || sizes[false] < 10*sizes[true] {
		t.Errorf("few keeps room for %d values, many for %d", sizes[true], sizes[false])
	}
}
