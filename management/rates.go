package management

import (
	"sync"
	"time"
)

const (
	// sampleInterval is how often counters are looked at.
	sampleInterval = 5 * time.Second
	// keptSamples is how many samples are kept of what somebody draws a curve of: ten minutes.
	keptSamples = 10*60/5 + 1
	// rateSamples is how many it takes for a rate, which is all that is kept of what nobody draws.
	rateSamples = 2
	// curveInterest is how long something counts as drawn after it was asked for.
	curveInterest = 10 * time.Minute
	// maxSeries bounds how many objects have rates. A broker with more shows none for the rest.
	maxSeries = 50_000
)

// sample is an object's counters at one moment.
type sample struct {
	at     time.Time
	values []uint64
}

// series is the recent past of one object's counters, oldest first.
type series struct {
	samples []sample
	wanted  time.Time // when somebody asked for more than a rate
	seen    uint64    // the last round in which the object was there
}

// rates keeps the recent past of objects, each known by a key of the caller's choice.
type rates struct {
	mu     sync.RWMutex // guards what follows
	series map[any]*series
	round  uint64
}

func newRates() *rates { return &rates{series: make(map[any]*series)} }

// note keeps a sample of an object; values are copied.
func (r *rates) note(now time.Time, key any, values []uint64) {
	s := r.series[key]
	if s == nil {
		if len(r.series) >= maxSeries {
			return
		}
		s = new(series)
		r.series[key] = s
		if r.round > 1 { // it is new, and so what it counted it did since the last look
			s.samples = []sample{{now.Add(-sampleInterval), make([]uint64, len(values))}}
		}
	}
	s.seen = r.round
	limit := rateSamples
	if now.Sub(s.wanted) < curveInterest {
		limit = keptSamples
	}
	var reused []uint64
	if over := len(s.samples) - limit + 1; over > 0 {
		reused = s.samples[over-1].values[:0]
		s.samples = s.samples[:copy(s.samples, s.samples[over:])]
	}
	s.samples = append(s.samples, sample{now, append(reused, values...)})
}

// look takes a sample of all objects: each calls its argument for every object there is. Objects that are gone are forgotten.
func (r *rates) look(now time.Time, each func(note func(key any, values []uint64))) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.round++
	each(func(key any, values []uint64) { r.note(now, key, values) })
	for key, s := range r.series {
		if s.seen != r.round {
			delete(r.series, key)
		}
	}
}

// past returns what is known of an object, for reading: of each sample, counter i. w tells whether somebody draws a curve of it.
func (r *rates) past(key any, w *window) history {
	if w != nil {
		r.want(key)
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	s := r.series[key]
	if s == nil {
		return history{}
	}
	if w == nil {
		return history{clone(s.samples[max(0, len(s.samples)-rateSamples):])}
	}
	return history{clone(s.samples)}
}

// want notes that more samples of an object are to be kept from now on.
func (r *rates) want(key any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.series[key]; s != nil {
		s.wanted = time.Now()
	}
}

func clone(list []sample) []sample {
	copied := make([]sample, len(list))
	for i, s := range list {
		copied[i] = sample{s.at, append([]uint64(nil), s.values...)}
	}
	return copied
}

// history is some samples of one object.
type history struct{ samples []sample }

// rate is how much a counter grew a second between the last two samples. Gauges may have shrunk.
func (h history) rate(i int) float64 {
	if len(h.samples) < rateSamples {
		return 0
	}
	before, last := h.samples[len(h.samples)-2], h.samples[len(h.samples)-1]
	return growth(before, last, i)
}

func growth(from, to sample, i int) float64 {
	seconds := to.at.Sub(from.at).Seconds()
	if seconds <= 0 || i >= len(from.values) || i >= len(to.values) {
		return 0
	}
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
	at := time.Now().Truncate(time.Second)
	var points []point
	for back := time.Duration(0); back <= w.age; back += w.step {
		points = append(points, point{at.Add(-back), h.valueAt(at.Add(-back), i, now)})
	}
	return points
}

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

// forget drops all samples.
func (r *rates) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.series)
}
