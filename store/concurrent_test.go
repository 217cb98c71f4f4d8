package store_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"leveret/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Publishers, a consumer that reads and settles, declares and statistics at once: numbers given under the append lock are the
// order of the log, and nothing is lost or read twice.
func TestConcurrentUse(t *testing.T) {
	const publishers, rounds, each = 4, 40, 25
	dir := t.TempDir()
	s := open(t, dir, nil)
	var given uint64 // by the append lock
	var appended atomic.Uint64
	var last atomic.Uint64
	var wg sync.WaitGroup
	for range publishers {
		wg.Go(func() {
			var b store.Batch
			for round := range rounds {
				for range each {
					b.Publish(make([]byte, 700), 1)
					b.To(1)
				}
				leads := round%2 == 0
				b.Led = leads
				lsn := s.Append(&b, func() {
					for i := range b.Pairs() {
						given++
						b.Pairs()[i].Seq = given
					}
					appended.Store(given)
				})
				if leads {
					s.Lead()
				}
				for old := last.Load(); old < uint64(lsn) && !last.CompareAndSwap(old, uint64(lsn)); old = last.Load() {
				}
			}
		})
	}
	wg.Go(func() {
		for i := range 50 {
			id := s.NextQueueID()
			if err := s.Commit(store.Change{Bucket: "queues", Key: fmt.Sprint(i), Value: fmt.Append(nil, id)}); err != nil {
				t.Error(err)
			}
			_ = s.Stats()
		}
	})
	seen := uint64(0)
	wg.Go(func() {
		for seen < publishers*rounds*each {
			w, err := s.Read(1, []store.Range{{First: seen + 1, Last: max(seen+1, appended.Load())}}, 64<<10)
			if err != nil || len(w.Lost) > 0 {
				t.Errorf("read: lost %v, %v", w.Lost, err)
				return
			}
			for _, m := range w.Messages {
				if seen++; m.Seq != seen {
					t.Errorf("message %d came after %d", m.Seq, seen-1)
					return
				}
			}
			if n := len(w.Messages); n > 0 {
				s.Settle(1, []store.Range{{First: w.Messages[0].Seq, Last: w.Messages[n-1].Seq}})
			}
		}
	})
	wg.Wait()
	await(t, s, store.LSN(last.Load()))
	shut(t, s)

	s = open(t, dir, nil)
	wantQueue(t, s, 1, 0)
	keys := 0
	if err := s.Load("queues", func(string, []byte) error { keys++; return nil }); err != nil || keys != 50 {
		t.Fatalf("%d definitions, %v", keys, err)
	}
	if id := s.NextQueueID(); id != 51 {
		t.Fatalf("the next queue id is %d", id)
	}
}
