package queue

import (
	"math"
	"math/bits"
	"slices"
	"sort"

	"leveret/store"
)

// Set holds numbers of messages in as little memory as their order allows: runs cost next to nothing, scattered ones a bit each. Numbers come
// in any order, cheapest at the two ends. The zero Set is empty. It is not safe for concurrent use.
type Set struct {
	pages []setPage // ascending by number, none of them empty
	count int
	low   uint64 // the lowest number, if known
	known bool
	spare *setBits
}

// setPage stands for pageEntries numbers.
type setPage struct {
	number uint64
	count  int
	bits   *setBits // nil: all of them
}

type setBits [pageEntries / 64]uint64

// Len is how many numbers the set has.
func (s *Set) Len() int { return s.count }

// Clear empties the set.
func (s *Set) Clear() { *s = Set{spare: s.spare} }

// Has reports whether a number is in the set.
func (s *Set) Has(n uint64) bool {
	i, found := s.find(n / pageEntries)
	return found && s.pages[i].has(n)
}

func (p *setPage) has(n uint64) bool {
	return p.bits == nil || p.bits[n/64%uint64(len(p.bits))]&(1<<(n%64)) != 0
}

// Add puts a number in.
func (s *Set) Add(n uint64) {
	i, found := s.find(n / pageEntries)
	s.known = s.known && n > s.low
	if !found {
		s.pages = slices.Insert(s.pages, i, setPage{number: n / pageEntries, bits: s.bits()})
	}
	p := &s.pages[i]
	if p.bits == nil || p.has(n) {
		return
	}
	p.bits[n/64%uint64(len(p.bits))] |= 1 << (n % 64)
	p.count++
	s.count++
	if p.count == pageEntries {
		s.keep(p.bits)
		p.bits = nil
	}
}

// AddRange puts a range of numbers in.
func (s *Set) AddRange(r store.Range) {
	for n := r.First; ; {
		i, found := s.find(n / pageEntries)
		if n%pageEntries == 0 && r.Last-n >= pageEntries-1 && !found {
			s.pages = slices.Insert(s.pages, i, setPage{number: n / pageEntries, count: pageEntries})
			s.count += pageEntries
			s.known = false
			n += pageEntries - 1
		} else {
			s.Add(n)
		}
		if n == r.Last {
			return
		}
		n++
	}
}

// Remove takes a number out; it reports false if it was not there.
func (s *Set) Remove(n uint64) bool {
	i, found := s.find(n / pageEntries)
	if !found || !s.pages[i].has(n) {
		return false
	}
	p := &s.pages[i]
	if p.bits == nil {
		p.bits = s.bits()
		for w := range p.bits {
			p.bits[w] = math.MaxUint64
		}
	}
	p.bits[n/64%uint64(len(p.bits))] &^= 1 << (n % 64)
	p.count--
	s.count--
	s.known = s.known && n > s.low
	if p.count == 0 {
		s.keep(p.bits)
		s.pages = slices.Delete(s.pages, i, i+1)
		if len(s.pages) == 0 && cap(s.pages) > pagesKept {
			s.pages = nil
		}
	}
	return true
}

// From returns the lowest number in the set that is not below n.
func (s *Set) From(n uint64) (first uint64, ok bool) {
	s.Each(n, func(r store.Range) bool {
		first, ok = r.First, true
		return false
	})
	return first, ok
}

// First returns the lowest number in the set; above every number when it is empty.
func (s *Set) First() uint64 {
	if !s.known {
		s.low, s.known = s.lowest(), true
	}
	return s.low
}

func (s *Set) lowest() uint64 {
	if s.count == 0 {
		return math.MaxUint64
	}
	p := &s.pages[0]
	if p.bits == nil {
		return p.number * pageEntries
	}
	for w, word := range p.bits {
		if word != 0 {
			return p.number*pageEntries + uint64(w*64+bits.TrailingZeros64(word))
		}
	}
	return math.MaxUint64
}

// Each calls each for every run of numbers in the set, those below from left out, in order, until it returns false. The set must not change
// meanwhile.
func (s *Set) Each(from uint64, each func(store.Range) bool) {
	var run store.Range
	open := false
	extend := func(r store.Range) bool {
		r.First = max(r.First, from)
		switch {
		case r.First > r.Last:
			return true
		case open && run.Last+1 == r.First:
			run.Last = r.Last
			return true
		case open && !each(run):
			open = false
			return false
		}
		run, open = r, true
		return true
	}
	i, _ := s.find(from / pageEntries)
	for ; i < len(s.pages); i++ {
		if !s.pages[i].runs(extend) {
			return
		}
	}
	if open {
		each(run)
	}
}

// runs calls each for the runs of a page, neighbouring ones perhaps apart.
func (p *setPage) runs(each func(store.Range) bool) bool {
	base := p.number * pageEntries
	if p.bits == nil {
		return each(store.Range{First: base, Last: base + pageEntries - 1})
	}
	for w, word := range p.bits {
		at := base + uint64(w*64)
		for word != 0 {
			skip := bits.TrailingZeros64(word)
			length := bits.TrailingZeros64(^(word >> skip))
			if !each(store.Range{First: at + uint64(skip), Last: at + uint64(skip+length-1)}) {
				return false
			}
			if skip+length == 64 {
				break
			}
			word &^= (1<<length - 1) << skip
		}
	}
	return true
}

// find returns the place of a page, or where it belongs. It looks at the two ends first.
func (s *Set) find(number uint64) (i int, found bool) {
	last := len(s.pages) - 1
	switch {
	case last < 0 || s.pages[last].number < number:
		return last + 1, false
	case s.pages[last].number == number:
		return last, true
	case s.pages[0].number >= number:
		return 0, s.pages[0].number == number
	}
	i = sort.Search(last, func(i int) bool { return s.pages[i].number >= number })
	return i, s.pages[i].number == number
}

// bits returns bits that are all zero.
func (s *Set) bits() *setBits {
	b := s.spare
	s.spare = nil
	if b == nil {
		return new(setBits)
	}
	*b = setBits{}
	return b
}

func (s *Set) keep(b *setBits) { s.spare = b }
