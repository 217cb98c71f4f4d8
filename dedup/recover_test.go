package dedup_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"leveret/dedup"
	"leveret/store"

	"pgregory.net/rapid"
)

// log sends a message to a window and logs its key, as a publisher does. It reports whether the message is no duplicate.
func log(s store.Store, w *dedup.Window, headers []byte) bool {
	var c dedup.Claims
	if c.Meet(w, headers) || !c.Take() {
		return false
	}
	var b store.Batch
	b.Publish([]byte("the message"), 0)
	b.To(9999)
	c.Log(&b)
	s.Append(&b, func() {
		b.Pairs()[0].Seq = seq.next()
		c.Number(b.Pairs())
	})
	return true
}

// seq numbers the messages themselves.
var seq counter

type counter uint64

func (c *counter) next() uint64 { *c++; return uint64(*c) }

// stateOf is what a store would know of a window if it were opened now.
func stateOf(s store.Store, id uint64) (state store.QueueState) {
	read, err := s.Read(id, []store.Range{{First: 1, Last: 1 << 40}}, 1<<30)
	if err != nil {
		panic(err)
	}
	for _, m := range read.Messages {
		state.Live = append(state.Live, store.Range{First: m.Seq, Last: m.Seq})
		state.Messages++
		state.Next = m.Seq + 1
	}
	return state
}

func restart(t interface{ Fatal(...any) }, s store.Store, o dedup.Options) *dedup.Window {
	w, err := dedup.Recover(o, stateOf(s, o.ID))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestRecover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store.NewMemory()
		o := dedup.Options{Size: 3, TTL: 1000, Log: s, ID: s.NextQueueID()}
		w := restart(t, s, o)
		for _, key := range []string{"a", "b", "c", "d"} {
			if !log(s, w, keyed(key)) {
				t.Fatalf("%s is a duplicate", key)
			}
		}
		expectFresh(t, "only in memory", w, keyed("transient"), true)

		w = restart(t, s, o)
		for _, key := range []string{"b", "c", "d"} {
			expectFresh(t, "after a restart, "+key, w, keyed(key), false)
		}
		expectFresh(t, "what was never logged", w, keyed("transient"), true)
		time.Sleep(500 * time.Millisecond)
		if !log(s, w, keyed("e")) {
			t.Fatal("e is a duplicate")
		}
		time.Sleep(500 * time.Millisecond)

		w = restart(t, s, o)
		expectFresh(t, "expired", w, keyed("d"), true)
		expectFresh(t, "not expired", w, keyed("e"), false)
		time.Sleep(500 * time.Millisecond)
		expectFresh(t, "expired later", w, keyed("e"), true)
	})
}

// What is forgotten leaves the store too, if not at once.
func TestForgottenKeysLeaveTheStore(t *testing.T) {
	s := store.NewMemory()
	o := dedup.Options{Size: 10, Log: s, ID: s.NextQueueID()}
	w := restart(t, s, o)
	for i := range 5000 {
		log(s, w, keyed(int32(i)))
	}
	if n := stateOf(s, o.ID).Messages; n > 1100 {
		t.Errorf("the store holds %d keys of a window of 10", n)
	}
	w = restart(t, s, o)
	if n := stateOf(s, o.ID).Messages; n != 10 {
		t.Errorf("after a restart the store holds %d keys of a window of 10", n)
	}
	if log(s, w, keyed(int32(4999))) || !log(s, w, keyed(int32(4989))) {
		t.Error("the window is not that of before")
	}
}

// A key that newer ones drive out before its number comes must not stay in the store for ever.
func TestNumberOfADrivenOutKey(t *testing.T) {
	s := store.NewMemory()
	o := dedup.Options{Size: 1, Log: s, ID: s.NextQueueID()}
	w := restart(t, s, o)
	var first dedup.Claims
	first.Meet(w, keyed("a"))
	first.Take()
	var b store.Batch
	first.Log(&b)
	log(s, w, keyed("b"))
	s.Append(&b, func() { first.Number(b.Pairs()) })
	restart(t, s, o)
	if n := stateOf(s, o.ID).Messages; n != 1 {
		t.Errorf("the store holds %d keys of a window of 1", n)
	}
}

// The numbers in the store rise over restarts, or a new key would be taken for one that is settled.
func TestNumbersGoOn(t *testing.T) {
	s := store.NewMemory()
	o := dedup.Options{Size: 2, Log: s, ID: s.NextQueueID()}
	w := restart(t, s, o)
	for i := range 20 {
		if !log(s, w, keyed(int32(i))) {
			t.Fatalf("%d is a duplicate", i)
		}
		w = restart(t, s, o)
		if log(s, w, keyed(int32(i))) {
			t.Fatalf("%d is forgotten", i)
		}
	}
}

func TestRecoverProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := store.NewMemory()
		o := dedup.Options{Size: rapid.IntRange(1, 40).Draw(t, "size"), Log: s, ID: s.NextQueueID()}
		w, m := restart(t, s, o), &model{size: o.Size}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			if rapid.IntRange(0, 19).Draw(t, "restart") == 0 {
				w = restart(t, s, o)
			}
			key := fmt.Sprint(rapid.IntRange(0, 60).Draw(t, "key"))
			if got, want := log(s, w, keyed(key)), m.admit(key, 0, 1); got != want {
				t.Fatalf("%s: fresh %v, want %v", key, got, want)
			}
		}
	})
}

// broken is a log that can't be read.
type broken struct{ store.Store }

var errBroken = errors.New("the disk is broken")

func (broken) Read(uint64, []store.Range, int) (store.Window, error) {
	return store.Window{}, errBroken
}

func TestRecoverFails(t *testing.T) {
	s := store.NewMemory()
	_, err := dedup.Recover(dedup.Options{Log: broken{s}, ID: 1}, store.QueueState{Live: []store.Range{{First: 1, Last: 1}}})
	if !errors.Is(err, errBroken) {
		t.Errorf("error %v", err)
	}
}

// Whatever bytes stand in the store, a start gets over them.
func FuzzRecover(f *testing.F) {
	f.Add([]byte("short"))
	f.Add(make([]byte, 24))
	f.Fuzz(func(t *testing.T, record []byte) {
		s := store.NewMemory()
		o := dedup.Options{Size: 5, Log: s, ID: s.NextQueueID()}
		var b store.Batch
		b.Publish(record, 0)
		b.To(o.ID)
		s.Append(&b, func() { b.Pairs()[0].Seq = 1 })
		w := restart(t, s, o)
		if w.Len() == 0 {
			if n := stateOf(s, o.ID).Messages; n != 0 {
				t.Fatalf("what can't be used stays in the store: %d records", n)
			}
		}
		if !log(s, w, keyed("a")) || log(s, restart(t, s, o), keyed("a")) {
			t.Fatal("the window does not work")
		}
	})
}
