package store_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"leveret/store"
)

// processorTime is what the process has used: on a machine that others use too it tells more than the clock.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// filled is a folder whose queue 1 holds n messages of a size, each with a tag; the store is open.
func filled(b *testing.B, n, size int) (*store.Disk, string) {
	dir := b.TempDir()
	o := store.DefaultOptions()
	o.MinFree = 0
	s, err := store.Open(dir, o)
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
	body := make([]byte, size)
	var batch store.Batch
	seq := uint64(0)
	for seq < uint64(n) {
		for range min(1000, n-int(seq)) {
			batch.Publish(body, uint32(seq)|1)
			batch.To(1)
		}
		s.Append(&batch, func() {
			for i := range batch.Pairs() {
				seq++
				batch.Pairs()[i].Seq = seq
			}
		})
		for s.Pressure() {
			<-moved
		}
	}
	return s, dir
}

// BenchmarkScan looks through the index of five million messages after a restart: what a queue does to sort them by their tags.
func BenchmarkScan(b *testing.B) {
	const messages = 5_000_000
	s, dir := filled(b, messages, 16)
	if err := s.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
	s, err := store.Open(dir, store.DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close(context.Background())
	b.ReportAllocs()
	for b.Loop() {
		n, tags := 0, uint32(0)
		err := s.Scan(1, []store.Range{{First: 1, Last: 1 << 60}}, func(i store.Info) bool { n++; tags ^= i.Tag; return true })
		if err != nil || n != messages {
			b.Fatalf("%d messages, %v", n, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/messages, "ns/msg")
}

// BenchmarkRead reads a long queue from its start to its end, as a drain does, from the system's cache.
func BenchmarkRead(b *testing.B) {
	for _, size := range []int{64, 1100} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			const messages = 500_000
			s, _ := filled(b, messages, size)
			defer s.Close(context.Background())
			var w store.Window
			memory, used := make([]byte, 4<<20), 0
			buffer := func(size, _ int) []byte {
				used += size
				return memory[used-size : used]
			}
			b.ReportAllocs()
			before := processorTime()
			for b.Loop() {
				n := 0
				for from := uint64(1); from <= messages; {
					used = 0
					if err := s.ReadInto(&w, 1, []store.Range{{First: from, Last: messages}}, 1<<20, buffer); err != nil {
						b.Fatal(err)
					}
					n += len(w.Messages)
					from = w.Next
				}
				if n != messages {
					b.Fatalf("%d messages", n)
				}
			}
			b.ReportMetric(float64(processorTime()-before)/float64(b.N)/messages, "cpu-ns/msg")
		})
	}
}
