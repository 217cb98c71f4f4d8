package queue

import (
	"math/bits"
	"slices"
)

const (
	chunkEntries = 64
	pageChunks   = 32
	pageEntries  = pageChunks * chunkEntries
	// maxSpares is how many chunks a window keeps to use again while it is busy.
	maxSpares = 64
	fewSpares = 2
	// pagesKept is the capacity of the list of pages that an empty window keeps.
	pagesKept = 4
	// firstEntries is what a chunk makes room for at first, so that a queue that holds one message stays small.
	firstEntries = 4
)

// Window holds values by ascending number: the messages of a queue by sequence, the deliveries of a channel by delivery tag. Numbers
// are put in growing order, as a rule without gaps, and taken out in any order. What is in the window may be marked; finding the
// lowest marked number costs next to nothing, and marking one again (a requeue) puts it back to its own place.
//
// Values stand in chunks of 64, each freed when its last value goes, so one value that stays for ever pins one chunk and no more.
// A chunk in use costs two words of bits beside its values. The zero Window is empty. It is not safe for concurrent use.
type Window[T any] struct {
	// Few makes the window keep little memory for the next values: for windows that are many and mostly small.
	Few bool

	pages  []*page[T] // ascending by number, none of them empty
	count  int
	marked int
	low    uint64   // no marked number lies below
	spares [][]T    // chunks to use again
	page   *page[T] // to use again
	found  *page[T] // that was looked at last
}

type page[T any] struct {
	number uint64
	count  int
	marked int
	chunks [pageChunks]chunk[T]
}

type chunk[T any] struct {
	live    uint64
	marked  uint64
	entries []T
}

// Len is the number of values in the window.
func (w *Window[T]) Len() int { return w.count }

// Marked is the number of marked values.
func (w *Window[T]) Marked() int { return w.marked }

// Put adds a value under a number that is not in the window, marked or not.
func (w *Window[T]) Put(n uint64, v T, marked bool) { *w.Place(n, marked) = v }

// Place is Put of a zero value, which the caller fills in where it stands: on the way of every message, a value that is put together elsewhere and
// copied at once makes the processor wait for its parts.
func (w *Window[T]) Place(n uint64, marked bool) *T {
	p := w.pageFor(n)
	k, bit := &p.chunks[n/chunkEntries%pageChunks], uint64(1)<<(n%chunkEntries)
	if k.live == 0 {
		k.entries = w.spare()
	}
	if i := int(n % chunkEntries); i >= len(k.entries) {
		k.entries = w.grow(k.entries, i)
	}
	k.live |= bit
	p.count++
	w.count++
	if marked {
		w.mark(p, k, bit, n)
	}
	return &k.entries[n%chunkEntries]
}

// At returns the value under n, nil if there is none. It may be changed in place until it is removed.
func (w *Window[T]) At(n uint64) *T {
	p := w.find(n)
	if p == nil {
		return nil
	}
	k := &p.chunks[n/chunkEntries%pageChunks]
	if k.live&(1<<(n%chunkEntries)) == 0 {
		return nil
	}
	return &k.entries[n%chunkEntries]
}

// IsMarked reports whether n is in the window and marked.
func (w *Window[T]) IsMarked(n uint64) bool {
	p := w.find(n)
	return p != nil && p.chunks[n/chunkEntries%pageChunks].marked&(1<<(n%chunkEntries)) != 0
}

// Mark marks a number that is in the window.
func (w *Window[T]) Mark(n uint64) {
	p := w.find(n)
	k, bit := &p.chunks[n/chunkEntries%pageChunks], uint64(1)<<(n%chunkEntries)
	if k.marked&bit == 0 {
		w.mark(p, k, bit, n)
	}
}

func (w *Window[T]) mark(p *page[T], k *chunk[T], bit, n uint64) {
	k.marked |= bit
	p.marked++
	if w.marked == 0 || n < w.low {
		w.low = n
	}
	w.marked++
}

// Unmark takes the mark off a number that is in the window.
func (w *Window[T]) Unmark(n uint64) {
	p := w.find(n)
	k, bit := &p.chunks[n/chunkEntries%pageChunks], uint64(1)<<(n%chunkEntries)
	if k.marked&bit != 0 {
		k.marked &^= bit
		p.marked--
		w.marked--
	}
}

// Remove takes a number out, marked or not; it reports false if it was not there.
func (w *Window[T]) Remove(n uint64) bool {
	p := w.find(n)
	if p == nil {
		return false
	}
	k, bit := &p.chunks[n/chunkEntries%pageChunks], uint64(1)<<(n%chunkEntries)
	if k.live&bit == 0 {
		return false
	}
	if k.marked&bit != 0 {
		k.marked &^= bit
		p.marked--
		w.marked--
	}
	var zero T
	k.entries[n%chunkEntries] = zero
	k.live &^= bit
	p.count--
	w.count--
	if k.live == 0 {
		w.keep(k.entries)
		k.entries = nil
	}
	if p.count == 0 {
		w.drop(p)
	}
	return true
}

// NextMarked returns the lowest marked number and its value.
func (w *Window[T]) NextMarked() (n uint64, v *T, ok bool) {
	if w.marked == 0 {
		return 0, nil, false
	}
	for _, p := range w.pages[w.search(w.low/pageEntries):] {
		if p.marked == 0 {
			continue
		}
		for i := range p.chunks {
			if k := &p.chunks[i]; k.marked != 0 {
				at := bits.TrailingZeros64(k.marked)
				n = p.number*pageEntries + uint64(i*chunkEntries+at)
				w.low = n
				return n, &k.entries[at], true
			}
		}
	}
	return 0, nil, false
}

// NextFrom returns the lowest number in the window that is not below n.
func (w *Window[T]) NextFrom(n uint64) (uint64, *T, bool) {
	for _, p := range w.pages[w.search(n/pageEntries):] {
		first := 0
		mask := ^uint64(0)
		if p.number == n/pageEntries {
			first, mask = int(n/chunkEntries%pageChunks), ^uint64(0)<<(n%chunkEntries)
		}
		for i := first; i < pageChunks; i++ {
			if live := p.chunks[i].live & mask; live != 0 {
				at := bits.TrailingZeros64(live)
				return p.number*pageEntries + uint64(i*chunkEntries+at), &p.chunks[i].entries[at], true
			}
			mask = ^uint64(0)
		}
	}
	return 0, nil, false
}

// pageFor returns the page of n, made if need be.
func (w *Window[T]) pageFor(n uint64) *page[T] {
	if p := w.find(n); p != nil {
		return p
	}
	p := w.page
	w.page = nil
	if p == nil {
		p = new(page[T])
	}
	p.number = n / pageEntries
	w.pages = slices.Insert(w.pages, w.search(p.number), p)
	return p
}

// find returns the page of n, nil if there is none: as a rule it is the one that was found last.
func (w *Window[T]) find(n uint64) *page[T] {
	if p := w.found; p != nil && p.number == n/pageEntries {
		return p
	}
	w.found = w.findOther(n)
	return w.found
}

// findOther looks at the two ends first: messages come at the tail and go at the head.
func (w *Window[T]) findOther(n uint64) *page[T] {
	if len(w.pages) == 0 {
		return nil
	}
	number := n / pageEntries
	if p := w.pages[0]; p.number == number {
		return p
	}
	if p := w.pages[len(w.pages)-1]; p.number == number {
		return p
	}
	if i := number - w.pages[0].number; i < uint64(len(w.pages)) && w.pages[i].number == number { // no page is missing before
		return w.pages[i]
	}
	if i := w.search(number); i < len(w.pages) && w.pages[i].number == number {
		return w.pages[i]
	}
	return nil
}

// search returns the index of the first page whose number is not below number.
func (w *Window[T]) search(number uint64) int {
	if len(w.pages) == 0 || w.pages[0].number >= number {
		return 0
	}
	low, high := 1, len(w.pages)
	for low < high {
		if middle := (low + high) / 2; w.pages[middle].number < number {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

func (w *Window[T]) drop(p *page[T]) {
	i := w.search(p.number)
	w.pages = slices.Delete(w.pages, i, i+1)
	if len(w.pages) == 0 && cap(w.pages) > pagesKept {
		w.pages = nil
	}
	w.page, w.found = p, nil
}

func (w *Window[T]) spare() []T {
	last := len(w.spares) - 1
	if last < 0 {
		return make([]T, firstEntries)
	}
	s := w.spares[last]
	w.spares[last] = nil
	w.spares = w.spares[:last]
	return s
}

func (w *Window[T]) grow(entries []T, i int) []T {
	size := chunkEntries
	if i < chunkEntries/4 {
		size = chunkEntries / 4
	}
	grown := make([]T, size)
	copy(grown, entries)
	return grown
}

// keep holds on to full-sized chunks only: a queue that never held more than a few messages has no use for them.
func (w *Window[T]) keep(entries []T) {
	limit := maxSpares
	if w.Few {
		limit = fewSpares
	}
	if len(entries) == chunkEntries && len(w.spares) < limit {
		w.spares = append(w.spares, entries)
	}
}

// Shrink lets go of the memory that the window keeps for the next values.
func (w *Window[T]) Shrink() {
	w.spares, w.page, w.found = nil, nil, nil
	if w.count == 0 {
		w.pages = nil
	}
}
