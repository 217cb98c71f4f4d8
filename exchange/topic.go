package exchange

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"leveret/amqp"
)

// maxHashes is how many `#` a binding key may have: RabbitMQ's limit. The cost of matching does not depend on it, see places.go.
const maxHashes = 2

func init() {
	types["topic"] = func(amqp.Table) (table, error) {
		return &topic{root: new(node), edges: make(map[edge]*node)}, nil
	}
}

// topic leads to the destinations whose binding key, read as a pattern, matches one of the routing keys. Both are lists of words with
// dots between them, and no words if empty. In a pattern the word `*` stands for one word and `#` for any number.
//
// The patterns form a trie of words. The edges of all its nodes stand in one map: with a map a node, 100,000 patterns would take
// several times the memory.
//
//	a.*.c   a.#        root -a-> n1 -*-> n2 -c-> n3 {queues}
//	                              \-#-> n4 {queues}
type topic struct {
	root  *node
	edges map[edge]*node
}

// edge is a step from a node by a literal word.
type edge struct {
	from *node
	word string
}

// node is the end of all patterns that begin alike.
type node struct {
	bound    set
	star     *node     // the next word is `*`
	hash     *node     // the next word is `#`
	literals int32     // number of edges from here
	behind   bool      // a `#` stands before
	words    *[]string // of the edges from here, if that is behind a `#` and they are few
}

// fewWords is how many literal words a node knows by itself.
const fewWords = 64

func (n *node) leaf() bool { return n.literals == 0 && n.star == nil && n.hash == nil }

func (*topic) keyed() bool { return true }

func (*topic) check(b *Binding) error {
	if strings.Count(b.Key, "#") <= maxHashes {
		return nil
	}
	hashes := 0
	for word := range strings.SplitSeq(b.Key, ".") {
		if word == "#" {
			hashes++
		}
	}
	if hashes > maxHashes {
		return amqp.TooManyHashes(b.Key, hashes)
	}
	return nil
}

func (t *topic) add(b *Binding) {
	n := t.root
	for word := range patternWords(b.Key) {
		n = t.grow(n, word)
	}
	n.bound.add(b.Destination)
}

// grow returns the node behind the word, and makes it if need be.
func (t *topic) grow(n *node, word string) *node {
	switch word {
	case "*":
		if n.star == nil {
			n.star = &node{behind: n.behind}
		}
		return n.star
	case "#":
		if n.hash == nil {
			n.hash = &node{behind: true}
		}
		return n.hash
	}
	e := edge{n, word}
	next := t.edges[e]
	if next == nil {
		next = &node{behind: n.behind}
		t.edges[e] = next
		n.note(word)
	}
	return next
}

// note counts an edge, and remembers its word if need be.
func (n *node) note(word string) {
	n.literals++
	switch {
	case !n.behind:
	case n.literals == 1:
		n.words = &[]string{word}
	case n.words != nil && len(*n.words) < fewWords:
		*n.words = append(*n.words, word)
	default:
		n.words = nil // too many, until all are gone
	}
}

// forget takes an edge back.
func (n *node) forget(word string) {
	n.literals--
	if n.words != nil {
		*n.words = slices.DeleteFunc(*n.words, func(other string) bool { return other == word })
	}
	if n.literals == 0 {
		n.words = nil
	}
}

func (t *topic) remove(b *Binding) {
	n := t.root
	var path []edge
	for word := range patternWords(b.Key) {
		path = append(path, edge{n, word})
		n = t.grow(n, word)
	}
	n.bound.remove(b.Destination)
	for i := len(path) - 1; i >= 0 && n.leaf() && n.bound.empty(); i-- {
		t.cut(path[i])
		n = path[i].from
	}
}

// cut takes away the node behind a word.
func (t *topic) cut(e edge) {
	switch e.word {
	case "*":
		e.from.star = nil
	case "#":
		e.from.hash = nil
	default:
		delete(t.edges, e)
		e.from.forget(e.word)
	}
}

func (t *topic) route(r *Routing) {
	for _, key := range r.Keys {
		r.ways.words, r.ways.ready = splitWords(r.ways.words[:0], key), false
		t.walk(r, t.root, r.ways.words)
	}
}

// walk collects the ends of all patterns below n that match the words.
func (t *topic) walk(r *Routing, n *node, words [][]byte) {
	if n.hash != nil {
		t.walkHash(r, n.hash, words)
	}
	if len(words) == 0 {
		r.collect(&n.bound)
		return
	}
	if n.literals > 0 {
		if next := t.edges[edge{n, string(words[0])}]; next != nil {
			t.walk(r, next, words[1:])
		}
	}
	if n.star != nil {
		t.walk(r, n.star, words[1:])
	}
}

// walkHash is walk for the node behind a `#`, which may swallow none, some or all of the words.
func (t *topic) walkHash(r *Routing, n *node, words [][]byte) {
	if n.leaf() { // nothing can follow, so that it swallows all: the usual case
		r.collect(&n.bound)
		return
	}
	if len(words) > shortKey {
		t.walkMany(r, n, 0, r.ways.first(len(words)))
		return
	}
	for i := range len(words) + 1 {
		t.walk(r, n, words[i:])
	}
}

// shortKey is how many words may be left for a `#` to try each number of them by itself, which is quicker while there are few ways.
const shortKey = 4

// patternWords yields the words of a binding key.
func patternWords(key string) iter.Seq[string] {
	if key == "" {
		return func(func(string) bool) {}
	}
	return strings.SplitSeq(key, ".")
}

// splitWords appends the words of a routing key to dst.
func splitWords(dst [][]byte, key []byte) [][]byte {
	if len(key) == 0 {
		return dst
	}
	for {
		dot := bytes.IndexByte(key, '.')
		if dot < 0 {
			return append(dst, key)
		}
		dst = append(dst, key[:dot])
		key = key[dot+1:]
	}
}
