package perf

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// Report is what a run has measured.
type Report struct {
	Seconds         float64 `json:"seconds"` // of publishing; of consuming, if there are no producers
	Published       uint64  `json:"published"`
	PublishedPerSec float64 `json:"published_per_second"`
	Confirmed       uint64  `json:"confirmed"`
	Nacked          uint64  `json:"nacked"`
	Returned        uint64  `json:"returned"`
	Received        uint64  `json:"received"`
	ReceivedPerSec  float64 `json:"received_per_second"` // up to the last delivery
	Redelivered     uint64  `json:"redelivered"`
	Foreign         uint64  `json:"foreign"` // received, but not published by this run
	Missing         uint64  `json:"missing"` // published, not returned or refused, and not received
	DeliveryLatency Latency `json:"delivery_latency"`
	ConfirmLatency  Latency `json:"confirm_latency"`
	MegabytesPerSec float64 `json:"megabytes_per_second"` // of bodies received, or published if there are no consumers
	LastDeliveryMs  float64 `json:"last_delivery_ms"`     // after the start
}

// Progress is what has come in the last second.
type Progress struct {
	Elapsed                        time.Duration
	Published, Confirmed, Received float64 // a second
	Delivery, Confirm              Latency // of that second
	Blocked                        bool    // the broker holds publishers back
}

// String is a line of the live display.
func (p Progress) String() string {
	line := fmt.Sprintf("%5.1fs  published %s/s", p.Elapsed.Seconds(), thousands(p.Published))
	if p.Confirm.Count > 0 {
		line += fmt.Sprintf("  confirmed %s/s (p50 %s, p99 %s)", thousands(p.Confirmed), micros(p.Confirm.P50), micros(p.Confirm.P99))
	}
	line += fmt.Sprintf("  received %s/s", thousands(p.Received))
	if p.Delivery.Count > 0 {
		line += fmt.Sprintf(" (p50 %s, p99 %s)", micros(p.Delivery.P50), micros(p.Delivery.P99))
	}
	if p.Blocked {
		line += "  blocked by the broker"
	}
	return line
}

// meter turns sums into what came since the last look.
type meter struct {
	counts    counts
	latencies latencies
	at        time.Duration
}

// progress compares with the look before. The latencies are those of the time between, so that a slow start does not stay in view.
func (m *meter) progress(r *run) Progress {
	c, l, elapsed := r.count(), r.latencies(), time.Since(r.started)
	since := *l
	since.delivery.subtract(&m.latencies.delivery)
	since.confirm.subtract(&m.latencies.confirm)
	p := Progress{
		Elapsed:   elapsed,
		Published: rate(c.published-m.counts.published, elapsed-m.at),
		Confirmed: rate(c.confirmed-m.counts.confirmed, elapsed-m.at),
		Received:  rate(c.received-m.counts.received, elapsed-m.at),
		Delivery:  since.delivery.latency(),
		Confirm:   since.confirm.latency(),
		Blocked:   c.blocked,
	}
	m.counts, m.latencies, m.at = c, *l, elapsed
	return p
}

// report sums the run up. published is how long publishing took.
func (r *run) report(published time.Duration) *Report {
	t, l := r.count(), r.latencies()
	rep := &Report{
		Seconds:         round(published.Seconds(), 3),
		Published:       t.published,
		PublishedPerSec: rate(t.published, published),
		Confirmed:       t.confirmed,
		Nacked:          t.nacked,
		Returned:        t.returned,
		Received:        t.received,
		ReceivedPerSec:  rate(t.received, time.Duration(t.last)),
		Redelivered:     t.redelivered,
		Foreign:         t.foreign,
		DeliveryLatency: l.delivery.latency(),
		ConfirmLatency:  l.confirm.latency(),
		LastDeliveryMs:  round(float64(t.last)/1e6, 3),
	}
	if settled := t.settled(); r.options.Consumers > 0 && settled < t.published {
		rep.Missing = t.published - settled
	}
	perSecond := rep.ReceivedPerSec
	if r.options.Consumers == 0 {
		perSecond = rep.PublishedPerSec
	}
	rep.MegabytesPerSec = round(perSecond*float64(r.options.Size)/1e6, 2)
	return rep
}

// WriteTable prints the report for people.
func (r *Report) WriteTable(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name string, n uint64, perSecond float64) {
		if n == 0 {
			return
		}
		line := name + "\t" + thousands(float64(n))
		if perSecond > 0 {
			line += "\t" + thousands(perSecond) + "/s"
		}
		fmt.Fprintln(table, line)
	}
	fmt.Fprintf(table, "time\t%.3f s\n", r.Seconds)
	row("published", r.Published, r.PublishedPerSec)
	row("confirmed", r.Confirmed, 0)
	row("refused (nack)", r.Nacked, 0)
	row("returned", r.Returned, 0)
	row("received", r.Received, r.ReceivedPerSec)
	row("redelivered", r.Redelivered, 0)
	row("of others", r.Foreign, 0)
	row("missing", r.Missing, 0)
	fmt.Fprintf(table, "bodies\t%.2f MB/s\n", r.MegabytesPerSec)
	if err := table.Flush(); err != nil {
		return err
	}
	for _, l := range []struct {
		name string
		Latency
	}{{"delivery latency", r.DeliveryLatency}, {"confirm latency", r.ConfirmLatency}} {
		if l.Count == 0 {
			continue
		}
		_, err := fmt.Fprintf(w, "%s: p50 %s, p95 %s, p99 %s, p99.9 %s, max %s\n",
			l.name, micros(l.P50), micros(l.P95), micros(l.P99), micros(l.P999), micros(l.Max))
		if err != nil {
			return err
		}
	}
	return nil
}

// rate is n a second, and 0 where there is nothing to divide by.
func rate(n uint64, over time.Duration) float64 {
	if n == 0 || over <= 0 {
		return 0
	}
	return round(float64(n)/over.Seconds(), 1)
}

// round keeps JSON short: digits that were never measured are noise.
func round(x float64, digits int) float64 {
	scale := 1.0
	for range digits {
		scale *= 10
	}
	return float64(int64(x*scale+0.5)) / scale
}

// micros prints microseconds with a unit that suits them.
func micros(us float64) string {
	switch {
	case us < 1000:
		return fmt.Sprintf("%.1f us", us)
	case us < 1e6:
		return fmt.Sprintf("%.2f ms", us/1e3)
	}
	return fmt.Sprintf("%.2f s", us/1e6)
}

// thousands prints a whole number in groups of three.
func thousands(x float64) string {
	digits := fmt.Sprintf("%.0f", x)
	var groups []string
	for len(digits) > 3 {
		groups = append([]string{digits[len(digits)-3:]}, groups...)
		digits = digits[:len(digits)-3]
	}
	return strings.Join(append([]string{digits}, groups...), ",")
}
