package store

import (
	"errors"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// sendAndLead appends a message as one who commits it by himself.
func (l *life) sendAndLead(queue uint64, size int) LSN {
	var b Batch
	b.Publish(make([]byte, size), 0)
	b.To(queue)
	b.Led = true
	lsn := l.Append(&b, func() {
		l.next[queue]++
		b.Pairs()[0].Seq = l.next[queue]
	})
	l.Lead()
	return lsn
}

// The caller's message is durable when Lead returns, unless the committer's goroutine happens to be at something else.
func TestLead(t *testing.T) {
	l := begin(t, t.TempDir(), newFaultFS(), nil)
	defer l.end()
	here := 0
	for range 100 {
		lsn := l.sendAndLead(1, 30)
		if l.Durable() >= lsn {
			here++
		}
		l.confirmed(lsn)
	}
	if here < 50 {
		t.Fatalf("%d of 100 messages were durable when Lead returned", here)
	}
	l.has(1, Range{1, 100})
}

// Whoever finds the turn taken relies on the one who has it.
func TestLeadAtOnce(t *testing.T) {
	l := begin(t, t.TempDir(), newFaultFS(), nil)
	defer l.end()
	var wg sync.WaitGroup
	for queue := range uint64(8) {
		wg.Go(func() {
			seq := uint64(0)
			for range 200 {
				var b Batch
				b.Publish(make([]byte, 30), 0)
				b.To(queue + 1)
				b.Led = true
				seq++
				lsn := l.Append(&b, func() { b.Pairs()[0].Seq = seq })
				l.Lead()
				l.confirmed(lsn)
			}
		})
	}
	wg.Wait()
	for queue := range uint64(8) {
		l.has(queue+1, Range{1, 200})
	}
}

// Messages that do not fit into the segment are the goroutine's, which opens the next one.
func TestLeadIntoTheNextSegment(t *testing.T) {
	l := begin(t, t.TempDir(), newFaultFS(), nil)
	for range 50 {
		l.confirmed(l.sendAndLead(1, 7000))
	}
	l = l.kill()
	defer l.end()
	l.has(1, Range{1, 50})
}

// What the disk refuses is as it is for the goroutine: tried again when there was no space or half of it was written, put into
// another segment when it can't be synced, and the end of the store when that does not help either.
func TestLeadOnABadDisk(t *testing.T) {
	for _, c := range []struct {
		name  string
		op    string
		err   error
		times int
		fails bool
	}{
		{"full for a moment", "write", syscall.ENOSPC, 3, false},
		{"short write", "write", errShort, 1, false},
		{"write error", "write", syscall.EIO, 1, false},
		{"sync error", "sync", syscall.EIO, 1, false},
		{"sync errors", "sync", syscall.EIO, 1000, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := newFaultFS()
			l := begin(t, t.TempDir(), files, nil)
			l.confirmed(l.sendAndLead(1, 100))
			var mu sync.Mutex
			left := c.times
			files.setFault(func(op, _ string) error {
				mu.Lock()
				defer mu.Unlock()
				if op != c.op || left == 0 {
					return nil
				}
				left--
				return c.err
			})
			lsn := l.sendAndLead(1, 100)
			if c.fails {
				l.until("the store fails", func() bool { return l.Err() != nil })
				if !errors.Is(l.Err(), c.err) || l.Durable() >= lsn {
					t.Fatalf("failed with %v, durable %d of %d", l.Err(), l.Durable(), lsn)
				}
				l.Lead() // nobody is left to do it, and nothing to be done
				files.setFault(nil)
				if err := l.Close(t.Context()); !errors.Is(err, c.err) {
					t.Fatalf("closed with %v", err)
				}
				return
			}
			l.confirmed(lsn)
			files.setFault(nil)
			l.confirmed(l.sendAndLead(1, 100))
			l = l.kill()
			defer l.end()
			l.has(1, Range{1, 3})
		})
	}
}

// Nobody goes on when the store has failed, neither the goroutine nor who leads: what they wrote would count as durable, and all before it.
func TestNobodyGoesOnAfterAFailure(t *testing.T) {
	for _, byLead := range []bool{true, false} {
		files := newFaultFS()
		l := begin(t, t.TempDir(), files, nil)
		l.confirmed(l.sendAndLead(1, 100))
		late := func() {
			var b Batch
			b.Publish(make([]byte, 100), 0)
			b.To(2)
			b.Led = true
			l.Append(&b, func() { b.Pairs()[0].Seq = 1 })
		}
		var mu sync.Mutex
		step := 0
		files.setFault(func(op, _ string) error { // the sync fails, and then the write of header and batch into another segment
			mu.Lock()
			defer mu.Unlock()
			switch {
			case step == 0 && op == "sync":
				late() // before the log is closed
			case step == 0 || step == 3 || op != "write":
				return nil
			}
			step++
			return syscall.EIO
		})
		var lsn LSN
		if byLead {
			lsn = l.sendAndLead(1, 100)
		} else {
			lsn = l.send(1, 1, 100)
		}
		l.until("the store fails", func() bool { return l.Err() != nil })
		l.Lead()
		if err := l.Close(t.Context()); !errors.Is(err, syscall.EIO) {
			t.Fatalf("closed with %v", err)
		}
		if step != 3 || l.Durable() >= lsn {
			t.Errorf("by Lead %v: durable up to %d, %d is lost; %d faults", byLead, l.Durable(), lsn, step)
		}
	}
}

// What was led is promised a second later, however long the goroutine meant to sleep.
func TestLedMessagesArePromised(t *testing.T) {
	dir, files := t.TempDir(), newFaultFS()
	synctest.Test(t, func(t *testing.T) {
		l := begin(t, dir, files, nil)
		defer l.end()
		time.Sleep(5 * time.Second)
		seen := events(files)
		for range 3 { // the last is what the second counts from
			l.sendAndLead(1, 30)
			time.Sleep(idlePromise / 2)
		}
		if got := seen(); got != "write sync write sync write sync" {
			t.Fatalf("led: %s", got)
		}
		time.Sleep(idlePromise)
		if got := seen(); got != "write" {
			t.Fatalf("a second later: %q", got)
		}
	})
}
