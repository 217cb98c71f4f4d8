package store_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"leveret/store"
)

// contender is one way to make a group of messages durable.
type contender struct {
	name  string
	put   func(group [][]byte) error
	times []time.Duration
}

// rawFile appends the bare bodies to a growing file and syncs.
func rawFile(b *testing.B, dir string) *contender {
	f, err := os.Create(filepath.Join(dir, "raw"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	var buf []byte
	return &contender{name: "raw", put: func(group [][]byte) error {
		buf = buf[:0]
		for _, body := range group {
			buf = append(buf, body...)
		}
		if _, err := f.Write(buf); err != nil {
			return err
		}
		return f.Sync()
	}}
}

// boltFile puts each body under a rising key, a transaction for a group.
func boltFile(b *testing.B, dir string) *contender {
	db, err := bbolt.Open(filepath.Join(dir, "bolt"), 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType, NoFreelistSync: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	seq := uint64(0)
	return &contender{name: "bbolt", put: func(group [][]byte) error {
		return db.Update(func(tx *bbolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists([]byte("messages"))
			for _, body := range group {
				seq++
				if err := bucket.Put(binary.BigEndian.AppendUint64(nil, seq), body); err != nil {
					return err
				}
			}
			return err
		})
	}}
}

// logOf appends to a store and waits for Durable; with ack every message is settled again, so segments are recycled.
func logOf(b *testing.B, dir, name string, ack bool) *contender {
	s, err := store.Open(filepath.Join(dir, name), store.DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close(context.Background()) })
	moved := make(chan struct{}, 1)
	s.OnDurable(func() {
		select {
		case moved <- struct{}{}:
		default:
		}
	})
	var batch store.Batch
	seq := uint64(0)
	return &contender{name: name, put: func(group [][]byte) error {
		for _, body := range group {
			batch.Publish(body, 0)
			batch.To(1)
		}
		first := seq + 1
		lsn := s.Append(&batch, func() {
			for i := range batch.Pairs() {
				seq++
				batch.Pairs()[i].Seq = seq
			}
		})
		for s.Durable() < lsn {
			<-moved
		}
		if ack {
			s.Settle(1, []store.Range{{First: first, Last: seq}})
		}
		return s.Err()
	}}
}

// BenchmarkPut gives the same groups to each contender in turn, so that all see the same disk, and reports the ratios of the
// median times to those of bare writes to a growing file (above 1: faster than that) and to bbolt.
func BenchmarkPut(b *testing.B) {
	for _, c := range []struct{ size, group int }{{1024, 1}, {1024, 256}, {1024, 1024}, {16, 1024}, {64 << 10, 16}} {
		b.Run(fmt.Sprintf("size=%d/group=%d", c.size, c.group), func(b *testing.B) {
			dir := b.TempDir()
			group := make([][]byte, c.group)
			for i := range group {
				group[i] = make([]byte, c.size)
			}
			all := []*contender{rawFile(b, dir), boltFile(b, dir), logOf(b, dir, "log", false), logOf(b, dir, "recycled", true)}
			for first := 0; b.Loop(); first++ {
				for i := range all {
					c := all[(first+i*(1+first/len(all)%2*2))%len(all)] // each follows each other equally often
					start := time.Now()
					if err := c.put(group); err != nil {
						b.Fatal(err)
					}
					c.times = append(c.times, time.Since(start))
				}
			}
			median := func(i int) float64 {
				slices.Sort(all[i].times)
				return float64(all[i].times[len(all[i].times)/2])
			}
			b.ReportMetric(median(0)/median(2), "log/raw")
			b.ReportMetric(median(0)/median(3), "recycled/raw")
			b.ReportMetric(median(1)/median(3), "recycled/bbolt")
			b.ReportMetric(median(3)/1e3, "us/group")
			b.ReportMetric(float64(c.group)/median(3)*1e9, "msgs/s")
		})
	}
}

// appender appends groups of 256 messages as fast as the disk lets.
type appender struct {
	*store.Disk
	batch store.Batch
	body  []byte
	seq   uint64
	moved chan struct{}
}

func newAppender(b *testing.B, size int) *appender {
	s, err := store.Open(b.TempDir(), store.DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close(context.Background()) })
	a := &appender{Disk: s, body: make([]byte, size), moved: make(chan struct{}, 1)}
	s.OnDurable(func() {
		select {
		case a.moved <- struct{}{}:
		default:
		}
	})
	return a
}

// group fills the batch.
func (a *appender) group(queue uint64) {
	for range 256 {
		a.batch.Publish(a.body, 0)
		a.batch.To(queue)
	}
}

// send appends the batch, and waits while too much is not yet on disk.
func (a *appender) send() (sent store.Range) {
	sent.First = a.seq + 1
	a.Append(&a.batch, func() {
		for i := range a.batch.Pairs() {
			a.seq++
			a.batch.Pairs()[i].Seq = a.seq
		}
	})
	for a.Pressure() {
		<-a.moved
	}
	sent.Last = a.seq
	return sent
}

// BenchmarkAppend measures the processor's time a message in the store alone: a group of 256 of 1 KiB, settled lazily.
func BenchmarkAppend(b *testing.B) {
	a := newAppender(b, 1024)
	b.ReportAllocs()
	for b.Loop() {
		a.group(1)
		a.Settle(1, []store.Range{a.send()})
	}
}

// BenchmarkTransfer moves 256 messages of 1 KiB from one queue to another, as dead letters go: new messages and the settlements
// of the old ones in one atomic batch; as one range, or one for each of them.
func BenchmarkTransfer(b *testing.B) {
	for _, length := range []uint64{256, 1} {
		b.Run(fmt.Sprintf("range=%d", length), func(b *testing.B) {
			a := newAppender(b, 1024)
			a.group(1)
			from, held := uint64(1), a.send()
			ranges := make([]store.Range, 0, 256)
			b.ReportAllocs()
			for b.Loop() {
				to := 3 - from
				ranges = ranges[:0]
				for seq := held.First; seq <= held.Last; seq += length {
					ranges = append(ranges, store.Range{First: seq, Last: seq + length - 1})
				}
				a.batch.Atomic = true
				a.group(to)
				a.batch.Settle(from, ranges)
				held, from = a.send(), to
			}
		})
	}
}
