package main

import (
	"context"
	"math"
	"slices"
	"testing"

	"leveret/amqp"
	"leveret/config"
	"leveret/metrics"
	"leveret/perf"
	"leveret/queue"
)

// find returns the first of a list that fits.
func find[T any](list []T, fits func(*T) bool) (found T, ok bool) {
	i := slices.IndexFunc(list, func(v T) bool { return fits(&v) })
	if i < 0 {
		return found, false
	}
	return list[i], true
}

// heard is a broker that listens for AMQP on a free port, and for nothing else.
func heard(c *config.Config) {
	c.AMQPAddrs, c.HTTPAddr, c.MetricsAddr = []string{"127.0.0.1:0"}, "", ""
}

// What clients do at the moment is found in each list of figures, under the names by which the others know it. Figures come once a turn, so they are looked at
// until all are there.
func TestFiguresOfClients(t *testing.T) {
	boot(t, t.TempDir(), heard, func(n *node) {
		if err := n.start(""); err != nil {
			t.Fatal(err)
		}
		o := perf.DefaultOptions()
		o.URI = "amqp://guest:guest@" + n.addresses().AMQP[0] + "/%2F"
		o.Queue, o.Durable, o.Persistent, o.Arguments = "jobs", true, true, amqp.Table{{Name: "x-queue-type", Value: "quorum"}}
		o.Window, o.Rate, o.AckEvery, o.Duration, o.Timeout = 8, 200, 1, patience, patience
		ctx, end := context.WithCancel(t.Context())
		defer end()
		lacks := "any look"
		report, err := perf.Run(ctx, o, func(perf.Progress) {
			if lacks = lackOf(figures{n}); lacks == "" {
				end()
			}
		})
		if err != nil || lacks != "" {
			t.Fatalf("%v; no figures of %s", err, lacks)
		}
		sumsOf(t, figures{n}, report)
	})
}

// lackOf tells of what there are no figures while a producer and a consumer are at work, one after the other.
func lackOf(f figures) string {
	node := f.Node()
	_, connections := find(f.Connections(), func(c *metrics.Connection) bool {
		return c.ReceivedBytes > 0 && c.SentBytes > 0 && c.Reads > 0 && c.Writes > 0 && c.Channels == 1
	})
	ch, channels := find(f.Channels(), func(ch *metrics.Channel) bool { return ch.Consumers == 1 })
	_, gotten := find(f.ChannelQueues(), func(q *metrics.ChannelQueue) bool {
		return q.ChannelID == ch.ID && q.VHost == "/" && q.Queue == "jobs" && q.DeliveredManualAck > 0 && q.Acked > 0 && q.DeliveredAutoAck == 0
	})
	_, published := find(f.ChannelExchanges(), func(x *metrics.ChannelExchange) bool {
		return x.ChannelID != ch.ID && x.VHost == "/" && x.Exchange == "" && x.Published > 0 && x.Confirmed > 0 && x.Returned+x.Dropped == 0
	})
	_, flow := find(f.QueueExchanges(), func(x *metrics.QueueExchange) bool {
		return x.VHost == "/" && x.Queue == "jobs" && x.Exchange == "" && x.Published > 0
	})
	_, inflow := find(f.ChannelQueueExchanges(), func(x *metrics.ChannelQueueExchange) bool {
		return x.ChannelID != ch.ID && x.VHost == "/" && x.Queue == "jobs" && x.Exchange == "" && x.Published > 0
	})
	q, queues := find(f.Queues(), func(q *metrics.Queue) bool {
		return q.VHost == "/" && q.Name == "jobs" && q.Type == "quorum" && q.Consumers == 1 && q.Published > 0 && q.Acked > 0 && q.Unattended == 0
	})
	_, exchanges := find(f.Exchanges(), func(x *metrics.Exchange) bool {
		return x.VHost == "/" && x.Name == "" && x.Type == "direct" && x.Published > 0 && x.Confirmed > 0
	})
	for _, look := range []struct {
		what  string
		there bool
	}{
		{"connections", connections && len(f.Connections()) == 2}, {"channels", channels && len(f.Channels()) == 2}, {"queues of channels", gotten},
		{"exchanges of channels", published}, {"flows", flow}, {"flows of channels", inflow}, {"queues", queues}, {"exchanges", exchanges},
		{"times", q.Wait.P99 > 0 && q.Processing.P99 > 0}, {"the node's clients", node.ConnectionCount == 2 && node.ChannelCount == 2 && node.ConsumerCount == 1},
		{"publishers", node.Publishers == 1}, {"virtual hosts", slices.Equal(f.VHosts(), []string{"/"})},
	} {
		if !look.there {
			return look.what
		}
	}
	return ""
}

// sumsOf holds that the totals of the node are those of the clients that have gone.
func sumsOf(t *testing.T, f figures, r *perf.Report) {
	t.Helper()
	node := f.Node()
	quorum, _ := find(node.QueueTypes, func(q *metrics.Queue) bool { return q.Type == "quorum" })
	for _, figure := range []struct {
		name      string
		got, want uint64
	}{
		{"published", node.Published, r.Published}, {"confirmable", node.Confirmable, r.Published}, {"confirmed", node.Confirmed, r.Confirmed},
		{"published into quorum queues", quorum.Published, r.Published}, {"delivered", quorum.DeliveredManualAck, r.Received},
		{"returned", node.Returned, 0}, {"unroutable", node.Unroutable, 0}, {"queues created", node.QueuesCreated, 1}, {"queues", node.QueueCount, 1},
	} {
		if figure.got != figure.want {
			t.Errorf("%s: %d, want %d", figure.name, figure.got, figure.want)
		}
	}
	if node.Syncs == 0 || node.RecordsWritten < r.Published || node.DiskFree == 0 {
		t.Errorf("of the disk: %d syncs, %d records, %d bytes free", node.Syncs, node.RecordsWritten, node.DiskFree)
	}
	logins, _ := find(node.Logins, func(l *metrics.Logins) bool { return l.Protocol == "amqp091" })
	if logins.Tried < 2 || logins.Failed != 0 {
		t.Errorf("logins %+v", node.Logins)
	}
}

// A queue with messages and nobody to take them is what an operator is warned of; the type that a queue says it is of counts.
func TestFiguresOfAQueueAlone(t *testing.T) {
	boot(t, "", heard, func(n *node) {
		if err := n.start(""); err != nil {
			t.Fatal(err)
		}
		o := perf.DefaultOptions()
		o.URI = "amqp://guest:guest@" + n.addresses().AMQP[0] + "/%2F"
		o.Consumers, o.Count, o.Duration, o.Queue, o.Size, o.Timeout = 0, 10, 0, "jobs", 100, patience
		if _, err := perf.Run(t.Context(), o, nil); err != nil {
			t.Fatal(err)
		}
		figures{n}.eachQueue(func(q *queue.Queue) {
			if _, err := q.Counts(); err != nil { // which waits for its turn
				t.Error(err)
			}
		})
		q, _ := find(figures{n}.Queues(), func(q *metrics.Queue) bool { return q.Name == "jobs" })
		if q.Type != "classic" || q.Ready != 10 || q.Unattended != 1 || q.ReadyBytes != 1000 || q.Bodies != 1000 || q.InMemory != 10 {
			t.Errorf("%+v", q)
		}
		if !math.IsNaN(q.HeadTimestamp) {
			t.Errorf("a message without a timestamp has %f", q.HeadTimestamp)
		}
		node := figures{n}.Node()
		if node.Unattended != 1 || node.QueueTypes[0].Ready != 10 || node.DiskFree != 0 || node.DiskLimit != 0 {
			t.Errorf("%d unattended, %d ready, %d bytes of disk", node.Unattended, node.QueueTypes[0].Ready, node.DiskFree)
		}
		if id := channelID(7, 3); id != "7.3" {
			t.Errorf("a channel's label is %s", id)
		}
	})
}
