package exchange_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"leveret/exchange"

	"pgregory.net/rapid"
)

// matches is the simplest thing that can tell whether a pattern matches a key.
func matches(pattern, key []string) bool {
	if len(pattern) == 0 {
		return len(key) == 0
	}
	if pattern[0] == "#" {
		return matches(pattern[1:], key) || len(key) > 0 && matches(pattern, key[1:])
	}
	return len(key) > 0 && (pattern[0] == "*" || pattern[0] == key[0]) && matches(pattern[1:], key[1:])
}

func words(key string) []string {
	if key == "" {
		return nil
	}
	return strings.Split(key, ".")
}

func TestTopic(t *testing.T) {
	sent := []string{"", "a", "a.b", "a.b.c", "a..b", "a.", ".", "a.x.b", "a.b.c.d", "A.b", "a#.b", "a*", "*", "#", "x.y", "\xff.b"}
	for pattern, want := range map[string][]string{
		"":        {""},
		"#":       sent,
		"*":       {"a", "a*", "*", "#"},
		"a.*":     {"a.b", "a."},
		"*.*":     {"a.b", "a.", ".", "A.b", "a#.b", "x.y", "\xff.b"},
		"a.#":     {"a", "a.b", "a.b.c", "a..b", "a.", "a.x.b", "a.b.c.d"},
		"a.#.b":   {"a.b", "a..b", "a.x.b"},
		"#.b":     {"a.b", "a..b", "a.x.b", "A.b", "a#.b", "\xff.b"},
		"a.*.c.#": {"a.b.c", "a.b.c.d"},
		"#.#":     sent,
		"#.*":     {"a", "a.b", "a.b.c", "a..b", "a.", ".", "a.x.b", "a.b.c.d", "A.b", "a#.b", "a*", "*", "#", "x.y", "\xff.b"},
		"#.b.#":   {"a.b", "a.b.c", "a..b", "a.x.b", "a.b.c.d", "A.b", "a#.b", "\xff.b"},
		"a*":      {"a*"},
		"a#.b":    {"a#.b"},
		".":       {"."},
		"a.":      {"a."},
		"a.b.c":   {"a.b.c"},
	} {
		w := newWorld(t)
		x := w.exchange("topic", "x")
		w.bind(x, newQueue("q"), pattern)
		got := []string{}
		for _, key := range sent {
			if len(names(x, keys(key))) == 1 {
				got = append(got, key)
			}
		}
		expect(t, fmt.Sprintf("pattern %q", pattern), got, want)
	}
}

func TestTopicHashLimit(t *testing.T) {
	w := newWorld(t)
	x, y, q := w.exchange("topic", "x"), w.exchange("topic", "y"), newQueue("q")
	for _, accepted := range []string{"#", "#.#", "#.a.#", "a#.#.b#.#.##", "###"} {
		w.bind(x, q, accepted)
	}
	for refused, n := range map[string]int{"#.a.#.b.#": 3, "#.#.#": 3, "#.#.#.#.x": 4} {
		want := fmt.Sprintf("PRECONDITION_FAILED - Topic binding key '%s' uses %d '#' wildcards, at most 2 are allowed", refused, n)
		for _, d := range []exchange.Destination{q, y} {
			b := exchange.Binding{Destination: d, Key: refused}
			if err := x.Bind(b); err == nil || err.Error() != want {
				t.Errorf("bind %q to %s: %v", refused, d.Name(), err)
			}
			if err := x.Check(b); err == nil || x.Has(b) {
				t.Errorf("check %q: %v", refused, err)
			}
		}
	}
}

// The trie does the same as matching each binding by itself, whatever was bound and unbound before.
func TestTopicAgainstModel(t *testing.T) {
	type bound struct {
		queue *destination
		key   string
	}
	word := rapid.SampledFrom([]string{"a", "b", "c", "", "*", "#", "a*"})
	key := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(word, 0, 6).Draw(t, "words"), ".") })
	queue := rapid.SampledFrom([]*destination{newQueue("0"), newQueue("1"), newQueue("2"), newQueue("3")})
	rapid.Check(t, func(rt *rapid.T) {
		x := newWorld(t).exchange("topic", "x")
		model := make(map[bound]bool)
		rt.Repeat(map[string]func(*rapid.T){
			"bind": func(rt *rapid.T) {
				b := bound{queue.Draw(rt, "queue"), key.Draw(rt, "key")}
				if x.Bind(exchange.Binding{Destination: b.queue, Key: b.key}) == nil {
					model[b] = true
				}
			},
			"unbind": func(rt *rapid.T) {
				b := bound{queue.Draw(rt, "queue"), key.Draw(rt, "key")}
				if len(model) > 0 && rapid.Bool().Draw(rt, "existing") {
					all := slices.SortedFunc(maps.Keys(model), func(a, b bound) int {
						return strings.Compare(a.queue.name+a.key, b.queue.name+b.key)
					})
					b = rapid.SampledFrom(all).Draw(rt, "binding")
				}
				if got := x.Unbind(exchange.Binding{Destination: b.queue, Key: b.key}); got != model[b] {
					rt.Fatalf("unbind %s from %q: got %v", b.queue.name, b.key, got)
				}
				delete(model, b)
			},
			"drop queue": func(rt *rapid.T) {
				q := queue.Draw(rt, "queue")
				x.UnbindAll(q)
				maps.DeleteFunc(model, func(b bound, _ bool) bool { return b.queue == q })
			},
			"": func(rt *rapid.T) {
				k := key.Draw(rt, "routing key")
				want := []string{}
				for b := range model {
					if matches(words(b.key), words(k)) && !slices.Contains(want, b.queue.name) {
						want = append(want, b.queue.name)
					}
				}
				slices.Sort(want)
				if got := names(x, keys(k)); !slices.Equal(got, want) {
					rt.Fatalf("key %q: got %q, want %q; bound: %v", k, got, want, model)
				}
			},
		})
	})
}

func FuzzTopicMatch(f *testing.F) {
	for _, seed := range [][2]string{{"a.*.c.#", "a.b.c"}, {"#.a.#", "x.a.y"}, {"", ""}, {"*", ""}, {"a.", "a."}, {".", "."}, {"#", "\xff."}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, key string) {
		if len(pattern) > 255 || len(key) > 255 {
			return // no short string
		}
		x, q := newWorld(t).exchange("topic", "x"), newQueue("q")
		b := exchange.Binding{Destination: q, Key: pattern}
		hashes := 0
		for _, w := range words(pattern) {
			if w == "#" {
				hashes++
			}
		}
		err := x.Bind(b)
		if (err != nil) != (hashes > 2) {
			t.Fatalf("bind %q: %v", pattern, err)
		}
		if err != nil {
			return
		}
		got := len(names(x, keys(key))) == 1
		if want := matches(words(pattern), words(key)); got != want {
			t.Errorf("pattern %q, key %q: got %v, want %v", pattern, key, got, want)
		}
		if !x.Unbind(b) || len(names(x, keys(key))) != 0 {
			t.Errorf("pattern %q is still there after unbind", pattern)
		}
	})
}
