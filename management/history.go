package management

import "time"

// history is some samples of one object, oldest first; they may be further apart the older they are.
type history struct {
	samples []sample
	changed time.Time // when a counter was last seen to have changed, zero if nothing is known
}

// rate is how much a counter grew a second between the last two samples. Gauges may have shrunk.
func (h history) rate(i int) float64 {
	if len(h.samples) < rateSamples {
		return 0
	}
	before, last := h.samples[len(h.samples)-2], h.samples[len(h.samples)-1]
	return growth(before, last, i)
}

// growth is how much counter i grew a second between two samples. One that a sample does not have has not grown.
func growth(from, to sample, i int) float64 {
	seconds := to.at.Sub(from.at).Seconds()
	if seconds <= 0 || i >= len(from.values) || i >= len(to.values) {
		return 0
	}
	// The difference wraps around for gauges that have shrunk, and as a signed number is right again.
	return float64(int64(to.values[i]-from.values[i])) / seconds
}

// details is what stands beside a counter: its rate, and the curve that the client asked for.
func (h history) details(i int, now uint64, w *window) object {
	d := object{{"rate", h.rate(i)}}
	if w == nil {
		return d
	}
	points := h.curve(i, now, w)
	var sum float64
	list := make([]object, len(points))
	for n, p := range points {
		sum += float64(int64(p.value))
		list[n] = object{{"sample", p.value}, {"timestamp", p.at.UnixMilli()}}
	}
	newest, oldest := points[0], points[len(points)-1]
	var average float64
	if seconds := newest.at.Sub(oldest.at).Seconds(); seconds > 0 {
		average = float64(int64(newest.value-oldest.value)) / seconds
	}
	return append(d, field{"samples", list}, field{"avg_rate", average}, field{"avg", sum / float64(len(points))})
}

// point is a counter's value at one moment.
type point struct {
	at    time.Time
	value uint64
}

// curve is a counter's values at regular moments, newest first. Moments from before the first sample have the value of that.
func (h history) curve(i int, now uint64, w *window) []point {
	// Points stand at whole seconds, so that two curves of one page have the same moments.
	at := time.Now().Truncate(time.Second)
	var points []point
	for back := time.Duration(0); back <= w.age; back += w.step {
		points = append(points, point{at.Add(-back), h.valueAt(at.Add(-back), i, now)})
	}
	return points
}

// valueAt is a counter's value at a moment: that of the last sample before it, of the first sample for what was before that, and now behind the
// last. Between two samples there is no interpolation: counters grow in steps anyway.
func (h history) valueAt(at time.Time, i int, now uint64) uint64 {
	value := now
	for n := len(h.samples) - 1; n >= 0; n-- {
		s := h.samples[n]
		if n == len(h.samples)-1 && at.After(s.at) {
			return now
		}
		if i < len(s.values) {
			value = s.values[i]
		}
		if !s.at.After(at) {
			return value
		}
	}
	return value
}
