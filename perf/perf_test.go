package perf_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"leveret/amqp"
	"leveret/perf"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// options are those of a short run against the fake.
func options(b *fakeBroker, change func(o *perf.Options)) perf.Options {
	o := perf.DefaultOptions()
	o.URI, o.Duration, o.Count, o.Timeout = b.uri(), 0, 2000, time.Minute
	if change != nil {
		change(&o)
	}
	return o
}

// short is a timeout that tests wait for, in which a broker that answers can do so on any machine.
const short = 2 * time.Second

func run(t *testing.T, o perf.Options) *perf.Report {
	t.Helper()
	report, err := perf.Run(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestEveryMessageArrives(t *testing.T) {
	tests := []struct {
		name   string
		broker func(b *fakeBroker)
		change func(o *perf.Options)
	}{
		{"defaults", nil, nil},
		{"automatic acknowledgement", nil, func(o *perf.Options) { o.AutoAck = true }},
		{"every message acknowledged", nil, func(o *perf.Options) { o.AckEvery = 1 }},
		{"no prefetch", nil, func(o *perf.Options) { o.Prefetch = 0 }},
		{"prefetch equal to acks", nil, func(o *perf.Options) { o.Prefetch, o.AckEvery = 7, 7 }},
		{"persistent with confirms", nil, func(o *perf.Options) { o.Persistent, o.Window = true, 10 }},
		{"one outstanding", nil, func(o *perf.Options) { o.Window, o.Count = 1, 200 }},
		{"confirms out of order", func(b *fakeBroker) { b.confirmLast = 5 }, func(o *perf.Options) { o.Window = 20 }},
		{"empty bodies", nil, func(o *perf.Options) { o.Size = 0 }},
		{"short bodies", nil, func(o *perf.Options) { o.Size = 15 }},
		{"bodies of many frames", nil, func(o *perf.Options) { o.Size, o.Count = 20_000, 100 }},
		{"no frame limit", func(b *fakeBroker) { b.frameMax = 0 }, func(o *perf.Options) { o.Size, o.Count = 300_000, 20 }},
		{"many of all", nil, func(o *perf.Options) { o.Producers, o.Consumers, o.Queues = 4, 4, 4 }},
		{"more queues than others", nil, func(o *perf.Options) { o.Producers, o.Consumers, o.Queues = 2, 3, 7 }},
		{"fewer queues than others", nil, func(o *perf.Options) { o.Producers, o.Consumers, o.Queues = 3, 5, 2 }},
		{"fewer messages than producers", nil, func(o *perf.Options) { o.Producers, o.Count = 5, 3 }},
		{"at a rate", nil, func(o *perf.Options) { o.Rate, o.Count = 5000, 500 }},
		{"at a rate with confirms", nil, func(o *perf.Options) { o.Rate, o.Count, o.Window = 5000, 500, 50 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := startFake(t, tt.broker)
			o := options(b, tt.change)
			r := run(t, o)
			if r.Published != o.Count || r.Received != o.Count || r.Missing != 0 || r.Foreign != 0 {
				t.Errorf("published %d, received %d, missing %d, foreign %d of %d", r.Published, r.Received, r.Missing, r.Foreign, o.Count)
			}
			if o.Window > 0 && (r.Confirmed != o.Count || r.ConfirmLatency.Count != o.Count) {
				t.Errorf("confirmed %d of %d, latency of %d", r.Confirmed, o.Count, r.ConfirmLatency.Count)
			}
			if want := o.Count; o.Size >= 16 && r.DeliveryLatency.Count != want || o.Size < 16 && r.DeliveryLatency.Count != 0 {
				t.Errorf("latency of %d messages of %d bytes", r.DeliveryLatency.Count, o.Size)
			}
			if b.declared != o.Queues || b.deleted != o.Queues {
				t.Errorf("declared %d queues and deleted %d of %d", b.declared, b.deleted, o.Queues)
			}
			for name, q := range b.queues {
				t.Errorf("%s is left, with %d messages", name, len(q.messages))
			}
		})
	}
}

func TestPacing(t *testing.T) {
	b := startFake(t, nil)
	r := run(t, options(b, func(o *perf.Options) { o.Rate, o.Count = 1000, 200 }))
	if r.Seconds < 0.19 {
		t.Errorf("200 messages at 1000/s took %.3f s", r.Seconds)
	}
}

func TestDurationEndsTheRun(t *testing.T) {
	b := startFake(t, nil)
	o := options(b, func(o *perf.Options) { o.Count, o.Duration = 0, 500*time.Millisecond })
	r := run(t, o)
	if r.Seconds < 0.5 || r.Published == 0 || r.Missing != 0 {
		t.Errorf("%+v", r)
	}
}

func TestCancelledRunReports(t *testing.T) {
	b := startFake(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	o := options(b, func(o *perf.Options) { o.Count = 0 })
	o.Duration = time.Minute // if nothing cancels it
	r, err := perf.Run(ctx, o, func(p perf.Progress) {
		if p.Published > 0 && p.Received > 0 && p.Delivery.Count > 0 && p.Elapsed >= time.Second {
			cancel()
		}
	})
	if ctx.Err() == nil {
		t.Error("progress does not tell what is published and received")
	}
	if err != nil || r.Published == 0 || r.Received == 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestConsumersAlone(t *testing.T) {
	b := startFake(t, nil)
	q := &fakeQueue{}
	for range 105 {
		q.messages = append(q.messages, make([]byte, 16))
	}
	b.queues["work"] = q
	r := run(t, options(b, func(o *perf.Options) { o.Producers, o.Queue, o.Count, o.Passive = 0, "work", 105, true }))
	if r.Received != 105 || r.Foreign != 0 || r.Redelivered != 1 {
		t.Errorf("%+v", r)
	}
	if b.deleted != 0 || b.queues["work"] == nil {
		t.Error("a queue that was there before is deleted")
	}
	// 105 is no multiple of 50: the last acknowledgement comes at the end.
	if c := q.consumers[0]; c.unacked != 0 {
		t.Errorf("%d messages stay unacknowledged", c.unacked)
	}
}

// Of more messages than they are to consume, consumers count and acknowledge as many as that; the others go back when they leave.
func TestConsumersTakeNoMore(t *testing.T) {
	b := startFake(t, nil)
	q := &fakeQueue{}
	for range 500 {
		q.messages = append(q.messages, make([]byte, 16))
	}
	b.queues["work"] = q
	r := run(t, options(b, func(o *perf.Options) {
		o.Producers, o.Consumers, o.Queue, o.Count, o.Passive = 0, 2, "work", 105, true
	}))
	if r.Received != 105 {
		t.Errorf("%d messages are consumed, want 105", r.Received)
	}
	acked := 500 - len(q.messages)
	for _, c := range q.consumers {
		acked -= c.unacked
	}
	if acked != 105 {
		t.Errorf("%d messages are acknowledged, want 105", acked)
	}
}

func TestProducersAlone(t *testing.T) {
	b := startFake(t, nil)
	r := run(t, options(b, func(o *perf.Options) { o.Consumers, o.Queue = 0, "work" }))
	if r.Published != 2000 || r.Missing != 0 || len(b.queues["work"].messages) != 2000 {
		t.Errorf("%+v, and %d in the queue", r, len(b.queues["work"].messages))
	}
}

func TestForeignMessagesAreTold(t *testing.T) {
	b := startFake(t, nil)
	b.queues["work"] = &fakeQueue{messages: [][]byte{[]byte("a"), make([]byte, 100)}}
	r := run(t, options(b, func(o *perf.Options) { o.Queue = "work" }))
	if r.Foreign != 2 || r.Received != 2002 || r.Missing != 0 || r.DeliveryLatency.Count != 2000 {
		t.Errorf("%+v", r)
	}
}

func TestLostMessagesAreMissing(t *testing.T) {
	b := startFake(t, func(b *fakeBroker) { b.dropAll = true })
	r := run(t, options(b, func(o *perf.Options) { o.Timeout = short }))
	if r.Missing != 2000 || r.Received != 0 {
		t.Errorf("%+v", r)
	}
}

func TestRefusedMessagesAreNotMissing(t *testing.T) {
	b := startFake(t, func(b *fakeBroker) { b.nackAll = true })
	r := run(t, options(b, func(o *perf.Options) { o.Window = 10 }))
	if r.Nacked != 2000 || r.Confirmed != 0 || r.Missing != 0 || r.ConfirmLatency.Count != 0 {
		t.Errorf("%+v", r)
	}
}

func TestBrokersErrors(t *testing.T) {
	tests := []struct {
		name   string
		broker func(b *fakeBroker)
		change func(o *perf.Options)
		want   string
	}{
		{"channel closed", func(b *fakeBroker) { b.closeChannel = 100 }, nil,
			"the broker closed the channel at basic.publish: 404 NOT_FOUND - no exchange 'x' in vhost '/'"},
		{"channel closed amid confirms", func(b *fakeBroker) { b.closeChannel = 100 }, func(o *perf.Options) { o.Window = 10 }, "404 NOT_FOUND"},
		{"connection closed", func(b *fakeBroker) { b.closeAll = 10 }, nil, "the broker closed the connection: 320 CONNECTION_FORCED - maintenance"},
		{"socket closed", func(b *fakeBroker) { b.hangUp = 10 }, nil, "the broker hung up"},
		{"consumer cancelled", func(b *fakeBroker) { b.cancel = true },
			func(o *perf.Options) { o.Count, o.Duration = 0, 10*time.Second }, "the broker cancelled a consumer"},
		{"confirm of nothing", func(b *fakeBroker) { b.strayConfirm = true }, func(o *perf.Options) { o.Window = 10 }, "the broker confirmed delivery tag 1099511627776"},
		{"confirm without being asked", func(b *fakeBroker) { b.strayConfirm = true }, nil, "the broker confirms on a channel without confirms"},
		{"no such queue", nil, func(o *perf.Options) { o.Passive, o.Queue = true, "none" }, "queue.declare: the broker closed the channel"},
		{"no confirms", func(b *fakeBroker) { b.confirmNone = true },
			func(o *perf.Options) { o.Window, o.Timeout = 10, short }, "the broker has confirmed nothing for " + short.String()},
		{"the last confirms don't come", func(b *fakeBroker) { b.confirmNone = true },
			func(o *perf.Options) { o.Window, o.Count, o.Timeout = 10, 5, short }, "5 messages are still not confirmed"},
		{"wrong password", func(b *fakeBroker) { b.password = "secret" }, nil, "the broker hung up: is the password right?"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := startFake(t, tt.broker)
			_, err := perf.Run(t.Context(), options(b, tt.change), nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %s", err, tt.want)
			}
			var closed *perf.ClosedError
			if errors.As(err, &closed) != strings.Contains(err.Error(), "the broker closed the c") {
				t.Errorf("a ClosedError is what the broker closed something with: %v", err)
			}
		})
	}
}

func TestReturnedMessagesAreNotMissing(t *testing.T) {
	b := startFake(t, func(b *fakeBroker) { b.returnAll = true })
	r := run(t, options(b, func(o *perf.Options) { o.Mandatory = true }))
	if r.Returned != 2000 || r.Received != 0 || r.Missing != 0 {
		t.Errorf("%+v", r)
	}
}

// TestBlockedProducersAreTold has a broker that says it is low on memory, and confirms nothing: that is no error, and progress tells it.
func TestBlockedProducersAreTold(t *testing.T) {
	b := startFake(t, func(b *fakeBroker) { b.blockFirst, b.confirmNone = true, true })
	ctx, cancel := context.WithCancel(t.Context())
	o := options(b, func(o *perf.Options) { o.Window, o.Timeout, o.Count, o.Duration = 10, short, 0, time.Minute })
	_, err := perf.Run(ctx, o, func(p perf.Progress) {
		if p.Blocked && strings.HasSuffix(p.String(), "blocked by the broker") {
			cancel()
		}
	})
	if ctx.Err() == nil {
		t.Error("progress does not tell that the broker blocks")
	}
	if err == nil || !strings.Contains(err.Error(), "10 messages are still not confirmed") {
		t.Errorf("got %v: the confirms are still missing at the end", err)
	}
}

func TestProgressLine(t *testing.T) {
	tests := []struct {
		progress perf.Progress
		want     string
	}{
		{perf.Progress{Elapsed: 1500 * time.Millisecond, Published: 1234.4, Received: 0}, "  1.5s  published 1,234/s  received 0/s"},
		{perf.Progress{
			Elapsed: time.Minute, Published: 1e6, Confirmed: 999, Received: 12,
			Delivery: perf.Latency{Count: 1, P50: 10, P99: 2000}, Confirm: perf.Latency{Count: 1, P50: 1.5, P99: 3e6}, Blocked: true,
		}, " 60.0s  published 1,000,000/s  confirmed 999/s (p50 1.5 us, p99 3.00 s)  received 12/s (p50 10.0 us, p99 2.00 ms)  blocked by the broker"},
	}
	for _, tt := range tests {
		if got := tt.progress.String(); got != tt.want {
			t.Errorf("got  %q\nwant %q", got, tt.want)
		}
	}
}

func TestNobodyListens(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	o := perf.DefaultOptions()
	o.URI = "amqp://" + address
	if _, err := perf.Run(t.Context(), o, nil); err == nil || !strings.HasPrefix(err.Error(), "connect: ") {
		t.Errorf("got %v", err)
	}
}

func TestSilentBroker(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") // the system accepts, nobody answers
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	o := perf.DefaultOptions()
	o.URI, o.Timeout = "amqp://"+listener.Addr().String(), 50*time.Millisecond
	if _, err := perf.Run(t.Context(), o, nil); err == nil || !strings.Contains(err.Error(), "timeout") {
		t.Errorf("got %v", err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	tests := []struct {
		change func(o *perf.Options)
		want   string
	}{
		{func(o *perf.Options) { o.Producers, o.Consumers = 0, 0 }, "neither a producer nor a consumer"},
		{func(o *perf.Options) { o.Queues = 0 }, "queues is 0"},
		{func(o *perf.Options) { o.Size = -1 }, "size is -1"},
		{func(o *perf.Options) { o.Prefetch = 65536 }, "prefetch is 65536"},
		{func(o *perf.Options) { o.Prefetch = 10 }, "ack every 50 is over the prefetch of 10"},
		{func(o *perf.Options) { o.Timeout = 0 }, "must be positive"},
		{func(o *perf.Options) { o.URI = "http://x" }, `the scheme is "http"`},
		{func(o *perf.Options) { o.URI = "amqp://u:secret@h:x/" }, "URI: "},
		{func(o *perf.Options) { o.URI = "amqp://h/%zz" }, "URI: "},
	}
	for _, tt := range tests {
		o := perf.DefaultOptions()
		tt.change(&o)
		_, err := perf.Run(t.Context(), o, nil)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

func TestQueuesAreDeclaredAsAsked(t *testing.T) {
	b := startFake(t, nil)
	want := amqp.Table{{Name: "x-max-length", Value: int64(5)}}
	run(t, options(b, func(o *perf.Options) { o.Arguments, o.Durable, o.Queue, o.Queues = want, false, "work", 2 }))
	for _, name := range []string{"work.1", "work.2"} {
		if q := b.queues[name]; q == nil || q.durable || !reflect.DeepEqual(q.arguments, want) {
			t.Errorf("%s: %+v", name, q)
		}
	}
}

func TestReportIsJSON(t *testing.T) {
	b := startFake(t, nil)
	text, err := json.Marshal(run(t, options(b, nil)))
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]any
	if err := json.Unmarshal(text, &back); err != nil || back["published"] != 2000.0 || back["missing"] != 0.0 {
		t.Errorf("%s, %v", text, err)
	}
}

func TestTable(t *testing.T) {
	r := perf.Report{
		Seconds: 2, Published: 1234567, PublishedPerSec: 617283.5, Received: 999, ReceivedPerSec: 500, Missing: 3, MegabytesPerSec: 9.88,
		DeliveryLatency: perf.Latency{Count: 999, P50: 12.3, P95: 999.9, P99: 1234, P999: 56789, Max: 2e6},
	}
	var out strings.Builder
	if err := r.WriteTable(&out); err != nil {
		t.Fatal(err)
	}
	const want = `time       2.000 s
published  1,234,567  617,284/s
received   999        500/s
missing    3
bodies     9.88 MB/s
delivery latency: p50 12.3 us, p95 999.9 us, p99 1.23 ms, p99.9 56.79 ms, max 2.00 s
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
}
