package management

import (
	"time"

	"leveret/queue"
)

// timings adds for how long messages wait and are held, and how many of the deliveries are not the first of their message. What was not measured in the
// last minutes is null.
func (view *queueView) timings(o object, q queueIn, h history) object {
	now := time.Now()
	wait, processing := q.Wait(now), q.Processing(now)
	return append(o,
		field{"oldest_unacked_age", view.oldest[q.Queue].Milliseconds()},
		field{"wait_time", percentiles(&wait)}, field{"processing_time", percentiles(&processing)},
		field{"redelivery_share", redeliveries(h)},
	)
}

// headTimestamp is the timestamp of the next message, null if it has none.
func headTimestamp(s *queue.Stats) any {
	if s.HeadTimestamp == 0 || s.Ready == 0 {
		return nil
	}
	return s.HeadTimestamp
}

// idleSince is since when nothing has been seen to happen to an object, null while it is busy.
func idleSince(h history) any {
	if h.changed.IsZero() || time.Since(h.changed) <= sampleInterval {
		return nil
	}
	return timestamp(h.changed)
}

// percentiles shows durations in ms.
func percentiles(h *queue.Histogram) any {
	if h.Count() == 0 {
		return nil
	}
	return object{{"p50", h.Quantile(0.5)}, {"p95", h.Quantile(0.95)}, {"p99", h.Quantile(0.99)}}
}

// Where deliveries stand in a queue's samples; see deliveries.
const (
	queueDeliverGetAt = queueDeliverAt + 2
	queueRedeliverAt  = queueDeliverAt + 6
)

// redeliveries is the share of redeliveries in the deliveries of the last interval.
func redeliveries(h history) any {
	if all := h.rate(queueDeliverGetAt); all > 0 {
		return h.rate(queueRedeliverAt) / all
	}
	return nil
}

// firstPass adds how a consumer does with messages that nobody had got before: how many it acked, how many it rejected or came back from it, and the share of the
// first. That is left out as long as there are none: rabbitmqadmin's tables can't show null.
func firstPass(o object, c *queue.Consumer) object {
	acked, failed := c.FirstTries()
	o = append(o, field{"first_pass_acked", acked}, field{"first_pass_failed", failed})
	if all := acked + failed; all > 0 {
		o.add("first_pass_share", float64(acked)/float64(all))
	}
	return o
}
