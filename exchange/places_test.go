package exchange_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// crafted binds as many patterns as do the most harm to a matcher that tries all ways: each leads through two `#` with any number of words around.
func crafted(t testing.TB, n int) (*world, []string) {
	w := newWorld(t)
	x, q := w.exchange("topic", "x"), newQueue("q")
	var patterns []string
	for i := range n {
		patterns = append(patterns, strings.Repeat("*.", i%128)+"#."+strings.Repeat("*.", i/128)+"#.x")
		w.bind(x, q, patterns[i])
	}
	return w, patterns
}

// longKey is a routing key with as many words as fit a short string.
var longKey = strings.TrimSuffix(strings.Repeat("a.", 128), ".")

// A message costs no more than a look at each pattern, however these are made. When all ways were tried it took many seconds.
func TestCraftedPatterns(t *testing.T) {
	const bound = 10 * time.Second // milliseconds, on a machine that does nothing else
	w, _ := crafted(t, 16_384)
	x := w.exchanges["x"]
	began := time.Now()
	if got := names(x, keys(longKey)); len(got) != 0 {
		t.Errorf("found %q", got)
	}
	if got := names(x, keys(longKey[:len(longKey)-1]+"x")); len(got) != 1 {
		t.Errorf("found %q", got)
	}
	if took := time.Since(began); took > bound {
		t.Errorf("two messages took %s", took)
	}
}

// Long keys, of CC even longer than a short string, match as each pattern by itself would, in every mixture of words.
func TestLongKeys(t *testing.T) {
	word := rapid.SampledFrom([]string{"a", "b", "*", "#"})
	pattern := rapid.Custom(func(rt *rapid.T) []string {
		for {
			p := rapid.SliceOfN(word, 1, 6).Draw(rt, "pattern")
			if strings.Count(strings.Join(p, ""), "#") <= 2 {
				return p
			}
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		x := w.exchange("topic", "x")
		patterns := rapid.SliceOfN(pattern, 1, 8).Draw(rt, "patterns")
		for i, p := range patterns {
			w.bind(x, newQueue(fmt.Sprint(i)), strings.Join(p, "."))
		}
		n := rapid.SampledFrom([]int{0, 1, 62, 63, 64, 65, 127, 128, 129, 300}).Draw(rt, "length")
		key := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "a", "a", "b", "c"}), n, n).Draw(rt, "key")
		var want []string
		for i, p := range patterns {
			if matches(p, key) {
				want = append(want, fmt.Sprint(i))
			}
		}
		got := names(x, keys(strings.Join(key, ".")))
		slices.Sort(got)
		if !slices.Equal(got, want) {
			rt.Fatalf("key %q: got %q, want %q of %q", key, got, want, patterns)
		}
	})
}

// More literal words than a node knows by itself, and fewer again after an unbind, are found all the same.
func TestManyWordsBehindHash(t *testing.T) {
	w := newWorld(t)
	x, q := w.exchange("topic", "x"), newQueue("q")
	count := func() (n int) {
		for i := range 200 {
			n += len(names(x, keys(fmt.Sprintf("a.b.w%d", i))))
		}
		return n
	}
	for i := range 200 {
		w.bind(x, q, fmt.Sprintf("#.w%d", i))
	}
	if got := count(); got != 200 {
		t.Errorf("%d of 200 found", got)
	}
	for i := range 190 {
		w.unbind(x, q, fmt.Sprintf("#.w%d", i))
	}
	if got := count(); got != 10 {
		t.Errorf("%d of 10 found", got)
	}
	for i := 190; i < 200; i++ {
		w.unbind(x, q, fmt.Sprintf("#.w%d", i))
	}
	w.bind(x, q, "#.w3")
	if got := count(); got != 1 {
		t.Errorf("%d of 1 found", got)
	}
}

func BenchmarkTopicCrafted(b *testing.B) {
	w, _ := crafted(b, 16_384)
	x, r := w.exchanges["x"], keys(longKey)
	for b.Loop() {
		x.Route(r)
	}
}

// The usual pattern with a `#` in front.
func BenchmarkTopicHashFirst(b *testing.B) {
	w := newWorld(b)
	x := w.exchange("topic", "x")
	w.bind(x, newQueue("q"), "#.error")
	r := keys("app.server.error")
	for b.Loop() {
		x.Route(r)
	}
}
