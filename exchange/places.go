package exchange

import (
	"bytes"
	"slices"
)

// Behind a `#` a node of the trie can be reached in many ways, one for each number of words that the `#` swallows. To follow each by itself would
// take the product of their numbers: seconds of CPU for one message, if somebody binds for that. So from there on the walk takes all ways at
// once. Each node is visited once, with the set of places in the key that patterns have come to there, and the cost of a message is bounded by
// the size of the trie, whatever the patterns are.

// places is a set of places in a key: bit i is the place before word i, and the last one is the key's end.
type places []uint64

// from puts all places into p from the first one in other on, up to the end: what a `#` may swallow.
func (p places) from(other places, end int) {
	begun := uint64(0)
	for i, w := range other {
		// All bits from the lowest on are set by taking away one less than it.
		p[i] = begun | -(w & -w)
		if w != 0 {
			begun = ^uint64(0)
		}
	}
	p.cut(end)
}

// after puts the places behind one word of those in other into p, for words that stand at one of the places in which; nil stands for all.
func (p places) after(other, which places, end int) (any bool) {
	carry, all := uint64(0), uint64(0)
	for i, w := range other {
		if which != nil {
			w &= which[i]
		}
		p[i] = w<<1 | carry
		carry = w >> 63
		all |= p[i]
	}
	if which == nil {
		p.cut(end)
		all = 0
		for _, w := range p {
			all |= w
		}
	}
	return all != 0
}

// cut takes away what is beyond the end.
func (p places) cut(end int) {
	if used := uint(end) % 64; used != 63 {
		p[len(p)-1] &= 1<<(used+1) - 1
	}
}

func (p places) has(i int) bool { return p[i/64]&(1<<(uint(i)%64)) != 0 }

func (p places) add(i int) { p[i/64] |= 1 << (uint(i) % 64) }

func (p places) meets(other places) bool {
	for i, w := range p {
		if w&other[i] != 0 {
			return true
		}
	}
	return false
}

// manyWays is the scratch of a walk behind a `#`.
type manyWays struct {
	words  [][]byte // of the key
	ready  bool     // what follows is that of the key
	order  []int    // places of words, ordered by word
	stands []stands // each word once, in alphabetical order
	spare  []uint64 // of the places in stands
	levels []places // by how far below the `#` a node is
}

// stands says where in the key a word stands.
type stands struct {
	word []byte
	at   places
}

// width is how many words of memory a set of the key's places takes.
func (m *manyWays) width() int { return len(m.words)/64 + 1 }

// level returns the set of one level, with whatever was in it.
func (m *manyWays) level(i int) places {
	for len(m.levels) <= i {
		m.levels = append(m.levels, nil)
	}
	m.levels[i] = slices.Grow(m.levels[i][:0], m.width())[:m.width()]
	return m.levels[i]
}

// prepare finds out where each word of the key stands.
func (m *manyWays) prepare() {
	if m.ready {
		return
	}
	m.ready = true
	m.order = m.order[:0]
	for i := range m.words {
		m.order = append(m.order, i)
	}
	slices.SortFunc(m.order, func(a, b int) int { return bytes.Compare(m.words[a], m.words[b]) })
	m.stands = m.stands[:0]
	m.spare = slices.Grow(m.spare[:0], len(m.words)*m.width())[:len(m.words)*m.width()]
	clear(m.spare)
	for _, i := range m.order {
		if n := len(m.stands); n == 0 || !bytes.Equal(m.stands[n-1].word, m.words[i]) {
			m.stands = append(m.stands, stands{m.words[i], m.spare[n*m.width() : (n+1)*m.width()]})
		}
		m.stands[len(m.stands)-1].at.add(i)
	}
}

// where returns the places at which the key has the word, nil if it has none.
func (m *manyWays) where(word string) places {
	i, found := slices.BinarySearchFunc(m.stands, word, func(s stands, word string) int {
		return compare(s.word, word)
	})
	if !found {
		return nil
	}
	return m.stands[i].at
}

// compare is [bytes.Compare] with a text, which it does not copy.
func compare(a []byte, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return int(a[i]) - int(b[i])
		}
	}
	return len(a) - len(b)
}

// walkMany collects the ends of all patterns below n, which is behind a `#`, that match the words from one of the places in at on.
func (t *topic) walkMany(r *Routing, n *node, level int, at places) {
	m, end := &r.ways, len(r.ways.words)
	if at.has(end) {
		r.collect(&n.bound)
	}
	next := m.level(level + 1)
	if n.hash != nil {
		next.from(at, end)
		if n.hash.leaf() {
			r.collect(&n.hash.bound)
		} else {
			t.walkMany(r, n.hash, level+1, next)
		}
	}
	if n.star != nil && next.after(at, nil, end) {
		t.walkMany(r, n.star, level+1, next)
	}
	t.walkLiterals(r, n, level, at)
}

// walkLiterals is walkMany for the literal words that may follow. It goes by the shorter list: the words that the patterns have here, or those
// of the key.
func (t *topic) walkLiterals(r *Routing, n *node, level int, at places) {
	if n.literals == 0 {
		return
	}
	m, end := &r.ways, len(r.ways.words)
	m.prepare()
	next := m.level(level + 1)
	if n.words != nil && len(*n.words) < len(m.stands) {
		for _, word := range *n.words {
			if stand := m.where(word); stand != nil && next.after(at, stand, end) {
				t.walkMany(r, t.edges[edge{n, word}], level+1, next)
			}
		}
		return
	}
	for _, s := range m.stands {
		if !at.meets(s.at) {
			continue
		}
		if child := t.edges[edge{n, string(s.word)}]; child != nil && next.after(at, s.at, end) {
			t.walkMany(r, child, level+1, next)
		}
	}
}

// first returns the set of all places from the given number of words before the end on.
func (m *manyWays) first(left int) places {
	at := m.level(0)
	clear(at)
	at.add(len(m.words) - left)
	at.from(at, len(m.words))
	return at
}
