package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"leveret/amqp"
	"leveret/config"
	"leveret/queue"
	"leveret/vhost"
)

// sink is a connection and a consumer that costs next to nothing: what is measured is the queue.
type sink struct {
	sync.Mutex
	consumer queue.Consumer
}

func (*sink) Touch() bool                             { return true }
func (*sink) Flush(bool)                              {}
func (*sink) Cancelled()                              {}
func (*sink) Deliver(uint64, amqp.Message, bool) bool { return true }

// BenchmarkStatistics is what statistics cost the queues: a hundred of them with a consumer each, through which messages go in batches of 256. An
// operation is two windows of a second: one in a broker without an API, one in a broker that samples every 5 s and of which everything is
// scraped in that second. They take turns, since machines have moods, and the lower quartiles are compared. The time is the CPU time of the thread that
// runs the queues; the scraper's own is not in it. Use -benchtime=60x or more.
func BenchmarkStatistics(b *testing.B) {
	boot(b, b.TempDir(), unheard, func(n *node) {
		quiet := consumedQueues(b, n, 100)
		boot(b, b.TempDir(), unheard, func(n *node) {
			if err := n.start(""); err != nil {
				b.Fatal(err)
			}
			compareEngines(b, quiet, consumedQueues(b, n, 100), n)
		})
	})
}

// compareEngines lets the queues take turns, with scrapes of n while it is the turn of the second.
func compareEngines(b *testing.B, quiet, watched []*queue.Queue, n *node) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var quietTimes, watchedTimes []float64
	for range b.N {
		quietTimes = append(quietTimes, window(b, quiet))
		var scraper sync.WaitGroup
		scraper.Go(func() { scrape(b, n) })
		watchedTimes = append(watchedTimes, window(b, watched))
		scraper.Wait()
	}
	q, w := lowerQuartile(quietTimes), lowerQuartile(watchedTimes)
	b.ReportMetric(q, "quiet-ns/message")
	b.ReportMetric(w, "watched-ns/message")
	b.ReportMetric(100*(w/q-1), "cost-%")
}

// unheard is a broker without AMQP listeners, whose other address is free.
func unheard(c *config.Config) { c.AMQPAddrs, c.HTTPAddr, c.MetricsAddr = nil, "127.0.0.1:0", "" }

// lowerQuartile is steadier than the median where something else takes the machine now and then.
func lowerQuartile(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/4]
}

// consumedQueues are queues that deliver at once.
func consumedQueues(b *testing.B, n *node, count int) []*queue.Queue {
	var queues []*queue.Queue
	for i := range count {
		q, err := n.server.VHost("/").DeclareQueue(vhost.QueueDeclare{Name: fmt.Sprint("q", i)}, 0, vhost.Unrestricted{})
		if err != nil {
			b.Fatal(err)
		}
		s := new(sink)
		s.consumer = queue.Consumer{NoAck: true, Outbox: s, Receiver: s}
		if err := q.Consume(&s.consumer, func() {}); err != nil {
			b.Fatal(err)
		}
		queues = append(queues, q)
	}
	return queues
}

// window pushes messages for a second, and returns the thread's CPU time for one.
func window(b *testing.B, queues []*queue.Queue) float64 {
	const batchSize = 256
	m := amqp.Message(append(amqp.AppendMessageAddress(nil, nil, []byte("key")), make([]byte, 2+64)...))
	m.SetProperties(2, new(amqp.PropertyIndex), time.Now().UnixMilli())
	messages := 0
	begun, end := threadTime(b), time.Now().Add(time.Second)
	for time.Now().Before(end) {
		for _, q := range queues {
			batch := queue.NewBatch()
			for range batchSize {
				batch.Add(m, nil)
			}
			if q.Push(batch).Run {
				q.Run()
			}
			messages += batchSize
		}
	}
	return float64(threadTime(b)-begun) / float64(messages)
}

// threadTime is the CPU time of this thread.
func threadTime(b *testing.B) time.Duration {
	const thisThread = 1
	var u syscall.Rusage
	if err := syscall.Getrusage(thisThread, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// scrape asks for everything once.
func scrape(b *testing.B, n *node) {
	for path := range strings.FieldsSeq("/metrics /metrics/per-object /api/queues /api/overview") {
		if err := fetch(b.Context(), "http://guest:guest@"+n.addresses().HTTP[0]+path); err != nil {
			b.Error(err)
		}
	}
}
