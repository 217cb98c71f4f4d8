package store

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// events records what a store does to the files of its log.
func events(files *faultFS) (read func() string) {
	log := make(chan string, 1000)
	files.mu.Lock()
	defer files.mu.Unlock()
	files.observe = func(op, name string) {
		if op == "write" || op == "sync" {
			log <- op
		}
	}
	return func() string {
		synctest.Wait()
		var seen []string
		for len(log) > 0 {
			seen = append(seen, <-log)
		}
		return strings.Join(seen, " ")
	}
}

// A settlement alone is written within 20 ms and synced within a second; what follows is the promise of an idle log.
func TestSettlementsAreWrittenLazily(t *testing.T) {
	dir, files := t.TempDir(), newFaultFS()
	synctest.Test(t, func(t *testing.T) {
		l := begin(t, dir, files, nil)
		defer l.end()
		l.confirmed(l.send(1, 3, 10))
		time.Sleep(5 * time.Second)
		seen := events(files)

		l.Settle(1, []Range{{1, 1}})
		time.Sleep(lazyWrite / 2)
		l.Settle(1, []Range{{2, 2}}) // rides along
		if got := seen(); got != "" {
			t.Fatalf("at once: %s", got)
		}
		time.Sleep(lazyWrite/2 + time.Millisecond)
		if got := seen(); got != "write" {
			t.Fatalf("after 20 ms: %s", got)
		}
		l.has(1, Range{3, 3})
		time.Sleep(lazySync)
		if got := seen(); got != "sync" {
			t.Fatalf("after a second: %s", got)
		}
		time.Sleep(time.Minute)
		if got := seen(); got != "write sync" {
			t.Fatalf("in the minute that followed: %s", got)
		}
		time.Sleep(time.Hour)
		if got := seen(); got != "" {
			t.Fatalf("an idle store does %s", got)
		}
	})
}

// A batch that somebody waits for is written at once, and takes along what was lazy.
func TestBatchesAreWrittenAtOnce(t *testing.T) {
	dir, files := t.TempDir(), newFaultFS()
	synctest.Test(t, func(t *testing.T) {
		l := begin(t, dir, files, nil)
		defer l.end()
		time.Sleep(5 * time.Second)
		seen := events(files)
		l.send(1, 3, 10)
		if got := seen(); got != "write sync" {
			t.Fatalf("a batch: %s", got)
		}
		l.Settle(1, []Range{{1, 1}})
		lsn := l.send(1, 3, 10)
		if got := seen(); got != "write sync" || l.Durable() != lsn {
			t.Fatalf("a settlement and a batch: %s, durable %d of %d", got, l.Durable(), lsn)
		}
		l.has(1, Range{2, 6})
	})
}

// Files that wait for use again go when the log has been idle for a while.
func TestIdleStoreKeepsFewFiles(t *testing.T) {
	dir, files := t.TempDir(), newFaultFS()
	synctest.Test(t, func(t *testing.T) {
		l := begin(t, dir, files, nil)
		defer l.end()
		for i := range uint64(50) {
			l.confirmed(l.send(1, 10, 2000))
			l.Settle(1, []Range{{i*10 + 1, i*10 + 10}})
		}
		time.Sleep(2 * keepEvery)
		if st := l.Stats(); st.Segments != 1 || st.Free <= preparedSegments {
			t.Fatalf("%d segments, %d ready", st.Segments, st.Free)
		}
		time.Sleep(2 * idleTrim * keepEvery)
		if st := l.Stats(); st.Free != preparedSegments {
			t.Fatalf("%d ready files on an idle store", st.Free)
		}
	})
}

// So do those that become free later than that, as segments do that were watched before their survivors moved.
func TestIdleStoreGivesUpWhatBecomesFreeLate(t *testing.T) {
	dir, files := t.TempDir(), newFaultFS()
	synctest.Test(t, func(t *testing.T) {
		l := begin(t, dir, files, nil)
		defer l.end()
		for range 50 {
			l.confirmed(l.send(1, 10, 2000))
		}
		time.Sleep(2 * idleTrim * keepEvery)
		l.Settle(1, []Range{{1, 500}})
		time.Sleep(5 * keepEvery)
		if st := l.Stats(); st.Segments != 1 || st.Free != preparedSegments {
			t.Fatalf("%d segments, %d ready files on an idle store", st.Segments, st.Free)
		}
	})
}
