package store_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"leveret/store"
)

// BenchmarkBacklog fills one queue, reopens the store without a clean stop's checkpoint, reads all and settles it. It reports rates
// and what the backlog costs on disk and in memory.
func BenchmarkBacklog(b *testing.B) {
	for _, c := range []struct{ count, size int }{{1_000_000, 1024}, {5_000_000, 128}} {
		b.Run(fmt.Sprintf("%dx%d", c.count, c.size), func(b *testing.B) { backlog(b, c.count, c.size) })
	}
}

func backlog(b *testing.B, count, size int) {
	const group = 256
	total, bytes := float64(count), float64(count*size)
	for b.Loop() {
		dir := b.TempDir()
		s, err := store.Open(dir, store.DefaultOptions())
		if err != nil {
			b.Fatal(err)
		}
		moved := make(chan struct{}, 1)
		s.OnDurable(func() {
			select {
			case moved <- struct{}{}:
			default:
			}
		})
		start := time.Now()
		fill(s, count, size, group, moved)
		b.ReportMetric(total/time.Since(start).Seconds(), "in/s")
		runtime.GC()
		st := s.Stats()
		b.ReportMetric(float64(st.LogBytes+st.RootBytes-int64(st.Free)*store.DefaultOptions().SegmentSize)/bytes, "disk/payload")
		b.ReportMetric(float64(st.IndexBytes)/total, "index_B/msg")
		b.ReportMetric(privateMemory(b), "anon_MB")
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // stop as a crash would: without a checkpoint
		_ = s.Close(ctx)

		start = time.Now()
		if s, err = store.Open(dir, store.DefaultOptions()); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(time.Since(start).Milliseconds()), "reopen_ms")
		b.ReportMetric(float64(s.Report().Replayed), "replayed_segments")
		start = time.Now()
		drain(b, s, uint64(count))
		b.ReportMetric(total/time.Since(start).Seconds(), "out/s")
		if err := s.Close(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

func fill(s store.Store, count, size, group int, moved chan struct{}) {
	var batch store.Batch
	body := make([]byte, size)
	seq := uint64(0)
	var lsn store.LSN
	for range count / group {
		for range group {
			batch.Publish(body, 0)
			batch.To(1)
		}
		lsn = s.Append(&batch, func() {
			for i := range batch.Pairs() {
				seq++
				batch.Pairs()[i].Seq = seq
			}
		})
		for s.Pressure() {
			<-moved
		}
	}
	for s.Durable() < lsn {
		<-moved
	}
}

func drain(b *testing.B, s *store.Disk, count uint64) {
	for from := uint64(1); from < count-300; {
		w, err := s.Read(1, []store.Range{{First: from, Last: count}}, 256<<10)
		if err != nil || len(w.Messages) == 0 {
			b.Fatalf("at %d: %d messages, %v", from, len(w.Messages), err)
		}
		last := w.Messages[len(w.Messages)-1].Seq
		s.Settle(1, []store.Range{{First: from, Last: last}})
		from = last + 1
	}
}

// privateMemory is RssAnon in MB.
func privateMemory(b *testing.B) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte("RssAnon:"))
	kb, err := strconv.Atoi(string(bytes.Fields(rest)[0]))
	if err != nil {
		b.Log(fmt.Errorf("RssAnon: %w", err))
	}
	return float64(kb) / 1e3
}

// BenchmarkManyQueues opens a store with ten thousand queues of one message each that was not closed in order.
func BenchmarkManyQueues(b *testing.B) {
	const queues = 10_000
	dir := b.TempDir()
	s, err := store.Open(dir, store.DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	var batch store.Batch
	for queue := range uint64(queues) {
		batch.Publish(make([]byte, 100), 0)
		batch.To(queue + 1)
	}
	lsn := s.Append(&batch, func() {
		for i := range batch.Pairs() {
			batch.Pairs()[i].Seq = 1
		}
	})
	await(b, s, lsn)
	for b.Loop() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = s.Close(ctx)
		start := time.Now()
		if s, err = store.Open(dir, store.DefaultOptions()); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(time.Since(start).Milliseconds()), "reopen_ms")
		n := 0
		s.Queues(func(q store.QueueState) { n += int(q.Messages) })
		if n != queues {
			b.Fatalf("%d messages", n)
		}
	}
	_ = s.Close(context.Background())
}
