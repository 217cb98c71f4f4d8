package queue

import (
	"math"
	"math/bits"
	"slices"
	"sort"

	"leveret/store"
)

// Set holds numbers of messages in as little memory as their order allows: runs cost next to nothing, scattered ones a bit each, and those far
// apart a few bytes. Numbers come in any order, cheapest at the two ends. The zero Set is empty. It is not safe for concurrent use.
type Set struct {
	pages []setPage // ascending by number, none of them empty
	count int
	low   uint64 // no number is lower, and
	known bool   // this is the lowest; above every number if there is none
	spare *setBits
	short []uint16
}

// setPage stands for pageEntries numbers.
type setPage struct {
	number uint64
	count  int
	few    []uint16 // ascending distances from the page's first number, while there are few and bits is nil
	bits   *setBits // nil without few: all of them
}

type setBits [pageEntries / 64]uint64

const (
	// setFew is how many numbers of a page are listed before bits take over.
	setFew = 64
	// setPagesKept is the capacity of the list of pages that an empty set keeps: 3 KB, for those that are filled and emptied time and again.
	setPagesKept = 64
	// setFirst is the room for numbers that a page begins with.
	setFirst = 4
	// pagesMoved is how many pages are moved up when the first one goes, which costs less than the memory that a gap would.
	pagesMoved = 8
)

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
	if p.bits != nil {
		return p.bits[n/64%uint64(len(p.bits))]&(1<<(n%64)) != 0
	}
	if p.few == nil {
		return true
	}
	_, found := p.place(uint16(n % pageEntries))
	return found
}

// place is slices.BinarySearch in the list of a page, which looks at the two ends first: numbers come at the one and go at the other.
func (p *setPage) place(offset uint16) (i int, found bool) {
	last := len(p.few) - 1
	switch {
	case last < 0 || p.few[last] < offset:
		return last + 1, false
	case p.few[0] >= offset:
		return 0, p.few[0] == offset
	}
	return slices.BinarySearch(p.few, offset)
}

// insert adds a number that the page does not have to the listed ones; false: there are too many for a list.
func (p *setPage) insert(n uint64) bool {
	if p.bits != nil || p.few == nil || len(p.few) == setFew {
		return false
	}
	offset := uint16(n % pageEntries)
	if last := len(p.few) - 1; last < 0 || p.few[last] < offset {
		p.few = append(p.few, offset)
		return true
	}
	i, _ := p.place(offset)
	p.few = slices.Insert(p.few, i, offset)
	return true
}

// Add puts a number in.
func (s *Set) Add(n uint64) {
	i, found := s.find(n / pageEntries)
	s.low = min(s.low, n)
	if !found {
		s.pages = slices.Insert(s.pages, i, setPage{number: n / pageEntries, few: s.list()})
	}
	p := &s.pages[i]
	if p.has(n) {
		return
	}
	if !p.insert(n) {
		s.spread(p)
		p.bits[n/64%uint64(len(p.bits))] |= 1 << (n % 64)
	}
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
			s.low = min(s.low, n)
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
	s.take(p, n)
	p.count--
	s.count--
	s.known = s.known && n > s.low
	if p.count == 0 {
		if p.bits != nil {
			s.keep(p.bits)
		} else {
			s.short = p.few[:0]
		}
		s.dropPage(i)
	}
	return true
}

// dropPage takes an empty page out. The first one of many, which goes as a rule, moves none of the others.
func (s *Set) dropPage(i int) {
	if i == 0 && len(s.pages) > pagesMoved {
		s.pages[0] = setPage{}
		s.pages = s.pages[1:]
		return
	}
	s.pages = slices.Delete(s.pages, i, i+1)
	if len(s.pages) == 0 && cap(s.pages) > setPagesKept {
		s.pages = nil
	}
}

// take takes a number off a page that has it.
func (s *Set) take(p *setPage, n uint64) {
	if p.bits == nil && p.few != nil {
		i, _ := p.place(uint16(n % pageEntries))
		p.few = slices.Delete(p.few, i, i+1)
		return
	}
	s.spread(p)
	p.bits[n/64%uint64(len(p.bits))] &^= 1 << (n % 64)
}

// spread makes a page have bits.
func (s *Set) spread(p *setPage) {
	if p.bits != nil {
		return
	}
	p.bits = s.bits()
	if p.few == nil {
		for w := range p.bits {
			p.bits[w] = math.MaxUint64
		}
		return
	}
	for _, offset := range p.few {
		p.bits[offset/64] |= 1 << (offset % 64)
	}
	s.short, p.few = p.few[:0], nil
}

// From returns the lowest number in the set that is not below n.
func (s *Set) From(n uint64) (first uint64, ok bool) {
	i, found := s.find(n / pageEntries)
	if found {
		if first, ok = s.pages[i].from(n); ok {
			return first, true
		}
		i++
	}
	if i == len(s.pages) {
		return 0, false
	}
	return s.pages[i].from(s.pages[i].number * pageEntries)
}

// from returns the lowest number of the page that is not below n, which is one that the page stands for.
func (p *setPage) from(n uint64) (first uint64, ok bool) {
	switch {
	case p.bits == nil && p.few == nil:
		return n, true
	case p.bits == nil:
		i, _ := p.place(uint16(n % pageEntries))
		if i == len(p.few) {
			return 0, false
		}
		return p.number*pageEntries + uint64(p.few[i]), true
	}
	w := int(n % pageEntries / 64)
	for word := p.bits[w] &^ (1<<(n%64) - 1); ; word = p.bits[w] {
		if word != 0 {
			return p.number*pageEntries + uint64(w*64+bits.TrailingZeros64(word)), true
		}
		if w++; w == len(p.bits) {
			return 0, false
		}
	}
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
	base := p.number * pageEntries
	switch {
	case p.bits != nil:
		first, _ := p.from(max(s.low, base))
		return first
	case p.few == nil:
		return base
	default:
		return base + uint64(p.few[0])
	}
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
		return p.listedRuns(base, each)
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

// listedRuns is runs for a page without bits.
func (p *setPage) listedRuns(base uint64, each func(store.Range) bool) bool {
	if p.few == nil {
		return each(store.Range{First: base, Last: base + pageEntries - 1})
	}
	for _, offset := range p.few {
		if !each(store.Range{First: base + uint64(offset), Last: base + uint64(offset)}) {
			return false
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
	if i := number - s.pages[0].number; i <= uint64(last) && s.pages[i].number == number { // no page is missing before
		return int(i), true
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

// list returns an empty list for a new page.
func (s *Set) list() []uint16 {
	l := s.short
	s.short = nil
	if l == nil {
		l = make([]uint16, 0, setFirst)
	}
	return l
}

func (s *Set) keep(b *setBits) { s.spare = b }
