package queue_test

import (
	"testing"

	"pgregory.net/rapid"

	"leveret/queue"
)

func drawSettings(t *rapid.T) queue.Settings {
	s := queue.DefaultSettings()
	s.TTL = rapid.SampledFrom([]int64{-1, -1, 0, 40, 500}).Draw(t, "ttl")
	s.MaxLength = rapid.SampledFrom([]int64{-1, -1, 0, 3, 10}).Draw(t, "max-length")
	s.MaxBytes = rapid.SampledFrom([]int64{-1, -1, 60}).Draw(t, "max-bytes")
	s.Overflow = rapid.SampledFrom([]queue.Overflow{queue.DropHead, queue.RejectPublish, queue.RejectPublishDLX}).Draw(t, "overflow")
	s.DeadLetter = rapid.Bool().Draw(t, "dead letters")
	s.DeliveryLimit = rapid.SampledFrom([]int64{-1, -1, 0, 2}).Draw(t, "delivery limit")
	s.CountReturns = rapid.SampledFrom([]queue.Counting{queue.CountFailed, queue.CountEvery}).Draw(t, "count")
	s.RetryType = rapid.SampledFrom([]queue.Retry{queue.RetryDisabled, queue.RetryAll, queue.RetryFailed, queue.RetryReturned}).Draw(t, "retry")
	s.RetryMin = rapid.SampledFrom([]int64{-1, 20}).Draw(t, "retry min")
	s.RetryMax = 70
	s.RetryMultiplier = rapid.SampledFrom([]float64{0, 2}).Draw(t, "multiplier")
	s.RetryJitter = rapid.SampledFrom([]float64{0, 0.5}).Draw(t, "jitter")
	s.ExpireAnywhere = rapid.Bool().Draw(t, "anywhere")
	s.PriorityMaxBurst = rapid.SampledFrom([]int{0, 2}).Draw(t, "burst")
	s.PriorityAging = rapid.SampledFrom([]int64{0, 30}).Draw(t, "aging")
	s.Dispatch = rapid.SampledFrom([]queue.Dispatch{queue.RoundRobin, queue.LeastUnacked}).Draw(t, "dispatch")
	s.AtLeastOnce = rapid.Bool().Draw(t, "at least once")
	s.DefaultPrefetch = rapid.SampledFrom([]int{0, 0, 2}).Draw(t, "default-prefetch")
	s.MaxPrefetch = rapid.SampledFrom([]int{0, 0, 2}).Draw(t, "max-prefetch")
	return s
}

// drawOptions draws what a queue is declared with.
func drawOptions(t *rapid.T) (o queue.Options) {
	o.Quorum = rapid.Bool().Draw(t, "quorum")
	o.Durable = o.Quorum || rapid.IntRange(0, 3).Draw(t, "durable") > 0
	o.SingleActiveConsumer = rapid.IntRange(0, 3).Draw(t, "single active consumer") == 0
	key := queue.Keying{Source: queue.ByProperty, Name: "routing-key"}
	switch rapid.IntRange(0, 3).Draw(t, "order") {
	case 1:
		o.MaxPriority = 5
	case 2:
		o.FairBy = key
	case 3:
		o.GroupBy = key
	}
	return o
}

// features are what a queue can do beyond first in, first out, as the table of contents of docs/queues.md has it.
var features = []struct {
	name string
	on   func(o *queue.Options, s *queue.Settings) bool
}{
	{"quorum", func(o *queue.Options, _ *queue.Settings) bool { return o.Quorum }},
	{"transient queue", func(o *queue.Options, _ *queue.Settings) bool { return !o.Durable }},
	{"single active consumer", func(o *queue.Options, _ *queue.Settings) bool { return o.SingleActiveConsumer }},
	{"priorities", func(o *queue.Options, _ *queue.Settings) bool { return o.MaxPriority > 0 }},
	{"fairness", func(o *queue.Options, _ *queue.Settings) bool { return o.FairBy.Source != queue.NoKey }},
	{"groups", func(o *queue.Options, _ *queue.Settings) bool { return o.GroupBy.Source != queue.NoKey }},
	{"ttl", func(_ *queue.Options, s *queue.Settings) bool { return s.TTL >= 0 }},
	{"expire anywhere", func(_ *queue.Options, s *queue.Settings) bool { return s.ExpireAnywhere }},
	{"max-length", func(_ *queue.Options, s *queue.Settings) bool { return s.MaxLength >= 0 }},
	{"max-length-bytes", func(_ *queue.Options, s *queue.Settings) bool { return s.MaxBytes >= 0 }},
	{"drop-head", func(_ *queue.Options, s *queue.Settings) bool { return s.Overflow == queue.DropHead }},
	{"reject-publish", func(_ *queue.Options, s *queue.Settings) bool { return s.Overflow == queue.RejectPublish }},
	{"reject-publish-dlx", func(_ *queue.Options, s *queue.Settings) bool { return s.Overflow == queue.RejectPublishDLX }},
	{"dead letters", func(_ *queue.Options, s *queue.Settings) bool { return s.DeadLetter }},
	{"at least once", func(_ *queue.Options, s *queue.Settings) bool { return s.DeadLetter && s.AtLeastOnce }},
	{"delivery limit", func(_ *queue.Options, s *queue.Settings) bool { return s.DeliveryLimit >= 0 }},
	{"retries that wait", func(_ *queue.Options, s *queue.Settings) bool {
		return s.RetryType != queue.RetryDisabled && s.RetryMin > 0
	}},
	{"burst", func(o *queue.Options, s *queue.Settings) bool {
		return s.PriorityMaxBurst > 0 && (o.MaxPriority > 0 || o.Quorum)
	}},
	{"aging", func(o *queue.Options, s *queue.Settings) bool {
		return s.PriorityAging > 0 && (o.MaxPriority > 0 || o.Quorum)
	}},
	{"least unacked", func(_ *queue.Options, s *queue.Settings) bool { return s.Dispatch == queue.LeastUnacked }},
	{"default prefetch", func(_ *queue.Options, s *queue.Settings) bool { return s.DefaultPrefetch > 0 }},
	{"max prefetch", func(_ *queue.Options, s *queue.Settings) bool { return s.MaxPrefetch > 0 }},
}

// apart are the pairs that no queue has: a declare that asks for two rules of what is next is refused, a quorum queue is durable, and a queue has one
// overflow.
var apart = map[[2]string]bool{
	{"priorities", "fairness"}: true, {"priorities", "groups"}: true, {"fairness", "groups"}: true,
	{"quorum", "transient queue"}:   true,
	{"drop-head", "reject-publish"}: true, {"drop-head", "reject-publish-dlx"}: true, {"reject-publish", "reject-publish-dlx"}: true,
}

// The model draws each pair of features that a queue can have, and none of the others.
func TestFeaturesArePaired(t *testing.T) {
	type queueOf struct {
		o queue.Options
		s queue.Settings
	}
	draw := rapid.Custom(func(t *rapid.T) queueOf { return queueOf{drawOptions(t), drawSettings(t)} })
	seen := map[[2]string]int{}
	for seed := range 2000 {
		q := draw.Example(seed)
		for i, one := range features {
			for _, other := range features[i+1:] {
				if one.on(&q.o, &q.s) && other.on(&q.o, &q.s) {
					seen[[2]string{one.name, other.name}]++
				}
			}
		}
	}
	for i, one := range features {
		for _, other := range features[i+1:] {
			pair := [2]string{one.name, other.name}
			if (seen[pair] == 0) != apart[pair] {
				t.Errorf("%s with %s: drawn %d times, and may not be: %v", one.name, other.name, seen[pair], apart[pair])
			}
		}
	}
}
