package dedup_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"leveret/amqp"
	"leveret/dedup"

	"pgregory.net/rapid"
)

func headers(fields ...amqp.Field) []byte { return amqp.AppendTable(nil, fields) }

func field(name string, value any) amqp.Field { return amqp.Field{Name: name, Value: value} }

// keyed is a message's headers with a key in the usual place.
func keyed(key any, more ...amqp.Field) []byte {
	return headers(append([]amqp.Field{field(dedup.DefaultHeader, key)}, more...)...)
}

// fresh sends a message to a window, and reports whether it is no duplicate.
func fresh(t interface{ Fatal(...any) }, w *dedup.Window, headers []byte) bool {
	var claims dedup.Claims
	if claims.Meet(w, headers) {
		if len(claims) > 0 {
			t.Fatal("a duplicate has a claim")
		}
		return false
	}
	if !claims.Take() {
		t.Fatal("what was not known can't be taken")
	}
	return true
}

func expectFresh(t *testing.T, what string, w *dedup.Window, headers []byte, want bool) {
	t.Helper()
	if got := fresh(t, w, headers); got != want {
		t.Errorf("%s: fresh %v, want %v", what, got, want)
	}
}

func TestKeys(t *testing.T) {
	w := dedup.New(dedup.Options{Size: 100})
	expectFresh(t, "a string", w, keyed("a"), true)
	expectFresh(t, "the same", w, keyed("a"), false)
	expectFresh(t, "as bytes", w, keyed([]byte("a")), false)
	expectFresh(t, "another", w, keyed("b"), true)
	expectFresh(t, "a number", w, keyed(int32(1)), true)
	expectFresh(t, "the same number", w, keyed(int64(1)), false)
	expectFresh(t, "its text", w, keyed("1"), true)
	for range 2 {
		expectFresh(t, "no headers", w, nil, true)
		expectFresh(t, "an empty table", w, headers(), true)
		expectFresh(t, "another header", w, headers(field("message-key", "a")), true)
		expectFresh(t, "no value", w, keyed(nil), true)
	}
	if got := w.Duplicates(); got != 3 {
		t.Errorf("%d duplicates were counted, want 3", got)
	}
	if got := w.Len(); got != 4 {
		t.Errorf("%d keys are known, want 4", got)
	}
}

func TestHeaderOfAnotherName(t *testing.T) {
	w := dedup.New(dedup.Options{Size: 100, Header: "order"})
	expectFresh(t, "the first", w, headers(field("order", "a")), true)
	expectFresh(t, "the second", w, headers(field("order", "a")), false)
	expectFresh(t, "the usual header", w, keyed("a"), true)
	expectFresh(t, "the usual header again", w, keyed("a"), true)
}

func TestTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := dedup.New(dedup.Options{Size: 100, TTL: 1000})
		expectFresh(t, "the first", w, keyed("a"), true)
		expectFresh(t, "with a time of its own", w, keyed("b", field("x-cache-ttl", int32(5000))), true)
		expectFresh(t, "with no real time", w, keyed("c", field("x-cache-ttl", int32(0))), true)
		expectFresh(t, "with no time", w, keyed("d", field("x-cache-ttl", "5000")), true)
		time.Sleep(999 * time.Millisecond)
		expectFresh(t, "just before", w, keyed("a"), false)
		time.Sleep(time.Millisecond)
		expectFresh(t, "after the time", w, keyed("a"), true)
		expectFresh(t, "again", w, keyed("a"), false)
		expectFresh(t, "before its own time", w, keyed("b"), false)
		expectFresh(t, "after the window's time", w, keyed("c"), true)
		expectFresh(t, "after the window's time", w, keyed("d"), true)
		time.Sleep(4 * time.Second)
		expectFresh(t, "after its own time", w, keyed("b"), true)
		time.Sleep(time.Hour)
		expectFresh(t, "much later", w, keyed("e"), true)
		if n := w.Len(); n != 1 {
			t.Errorf("%d keys are remembered, all but one of which have expired", n)
		}
	})
}

func TestRelease(t *testing.T) {
	v, w := dedup.New(dedup.Options{Size: 10}), dedup.New(dedup.Options{Size: 10})
	both := func() (c dedup.Claims) {
		c.Meet(v, keyed("a"))
		c.Meet(w, keyed("a"))
		return c
	}
	first, second := both(), both()
	if !first.Take() {
		t.Fatal("the first can't be taken")
	}
	if second.Take() {
		t.Fatal("the second was taken")
	}
	expectFresh(t, "taken", v, keyed("a"), false)
	first.Release()
	if !second.Take() {
		t.Fatal("what was released can't be taken")
	}
	first.Release() // which is not its own any more
	expectFresh(t, "taken by the second", v, keyed("a"), false)

	// Of two windows one knows the key: then the other does not get to know it.
	third := dedup.Claims{}
	u := dedup.New(dedup.Options{Size: 10})
	third.Meet(u, keyed("b"))
	third.Meet(w, keyed("b"))
	expectFresh(t, "another is faster", w, keyed("b"), true)
	if third.Take() {
		t.Error("taken, though one window knows the key")
	}
	expectFresh(t, "the other window", u, keyed("b"), true)
}

// Of many who send the same, one gets through.
func TestConcurrentDuplicates(t *testing.T) {
	w := dedup.New(dedup.Options{Size: 1000})
	var passed atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 500 {
				var c dedup.Claims
				if !c.Meet(w, keyed(int32(i))) && c.Take() {
					passed.Add(1)
				}
			}
		})
	}
	all.Wait()
	if n := passed.Load(); n != 500 {
		t.Errorf("%d messages of 500 keys got through", n)
	}
}

// model is what a window is to do: a list of the last keys that were admitted.
type model struct {
	size int
	ttl  int64
	list []known
}

type known struct {
	key      string
	expires  int64
	released bool
}

func (m *model) admit(key string, ttl, now int64) bool {
	for _, k := range m.list {
		if k.key == key && !k.released && (k.expires == 0 || k.expires > now) {
			return false
		}
	}
	k := known{key: key}
	if ttl == 0 {
		ttl = m.ttl
	}
	if ttl > 0 {
		k.expires = now + ttl
	}
	m.list = append(m.list, k)
	for len(m.list) > 0 && m.list[0].expires != 0 && m.list[0].expires <= now {
		m.list = m.list[1:]
	}
	m.list = m.list[max(0, len(m.list)-m.size):]
	return true
}

func (m *model) release(key string) {
	for i := range slices.Backward(m.list) {
		if m.list[i].key == key {
			m.list[i].released = true
			return
		}
	}
}

func TestWindowProperties(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		size, ttl := rapid.IntRange(1, 20).Draw(r, "size"), rapid.Int64Range(0, 50).Draw(r, "ttl")
		steps := rapid.SliceOf(rapid.Custom(func(r *rapid.T) [4]int {
			return [4]int{
				rapid.IntRange(0, 30).Draw(r, "key"), rapid.IntRange(0, 60).Draw(r, "ttl"), rapid.IntRange(0, 20).Draw(r, "wait"),
				rapid.IntRange(0, 9).Draw(r, "release"),
			}
		})).Draw(r, "steps")
		synctest.Test(t, func(t *testing.T) {
			w, m := dedup.New(dedup.Options{Size: size, TTL: ttl}), &model{size: size, ttl: ttl}
			for i, s := range steps {
				time.Sleep(time.Duration(s[2]) * time.Millisecond)
				key := fmt.Sprint("key", s[0])
				var c dedup.Claims
				got := !c.Meet(w, keyed(key, field("x-cache-ttl", int32(s[1])))) && c.Take()
				if want := m.admit(key, int64(s[1]), time.Now().UnixMilli()); got != want {
					t.Fatalf("step %d, %s: fresh %v, want %v", i, key, got, want)
				}
				if got && s[3] == 0 {
					c.Release()
					m.release(key)
				}
				if w.Len() > size {
					t.Fatalf("%d keys are remembered in a window of %d", w.Len(), size)
				}
			}
		})
	})
}

func BenchmarkMeetAndTake(b *testing.B) {
	b.ReportAllocs()
	w := dedup.New(dedup.Options{Size: 100_000})
	var c dedup.Claims
	h := keyed("0000000000")
	for i := 0; b.Loop(); i++ {
		copy(h[len(h)-10:], fmt.Appendf(nil, "%010d", i))
		c = c[:0]
		if c.Meet(w, h) || !c.Take() {
			b.Fatal("a duplicate")
		}
	}
}
