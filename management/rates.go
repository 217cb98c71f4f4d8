package management

import (
	"slices"
	"sync"
	"time"

	"leveret/vhost"
)

const (
	// sampleInterval is how often counters are looked at.
	sampleInterval = 5 * time.Second
	// rateSamples is how many samples it takes for a rate, which is all that is kept of what nobody draws a curve of.
	rateSamples = 2
	// curveInterest is how long something counts as drawn after it was asked for.
	curveInterest = 10 * time.Minute
	// maxSeries bounds how many objects have rates. A broker with more shows none for the rest.
	maxSeries = 50_000
	// fewSeries is up to how many objects all have curves; of more, those that somebody asks for.
	fewSeries = 300
	// maxDrawn bounds how many may have them at a time.
	maxDrawn = 2_000
)

// tier is how far back samples are kept, and how far apart they may be there.
type tier struct{ step, age time.Duration }

// tiers are RabbitMQ's: those of the broker, its virtual hosts and nodes go back a day, those of other objects an hour.
var tiers = []tier{
	{sampleInterval, 10*time.Minute + sampleInterval}, {time.Minute, time.Hour + time.Minute},
	{10 * time.Minute, 8*time.Hour + 10*time.Minute}, {30 * time.Minute, 24 * time.Hour},
}

// basicTiers is how many of them other objects have.
const basicTiers = 2

// tiersOf is how many tiers an object has.
func tiersOf(key any) int {
	switch key.(type) {
	case nodeKey, resourcesKey, *vhost.VHost:
		return len(tiers)
	}
	return basicTiers
}

// sample is an object's counters at one moment.
type sample struct {
	at     time.Time
	values []uint64
}

// series is the past of one object's counters.
type series struct {
	tiers   [][]sample // each oldest first; only the first, if nobody draws the object
	wanted  time.Time  // when somebody asked for more than a rate
	changed time.Time  // when a counter was last seen to have changed
	seen    uint64     // the last round in which the object was there
}

// rates keeps the past of objects, each known by a key of the caller's choice.
type rates struct {
	mu     sync.RWMutex // guards what follows
	series map[any]*series
	round  uint64
	drawn  int // objects with curves in this round
}

// newRates makes a keeper of samples without any: the first rates come with the second sample.
func newRates() *rates { return &rates{series: make(map[any]*series)} }

// note keeps a sample of an object; values are copied.
func (r *rates) note(now time.Time, key any, values []uint64) {
	s := r.series[key]
	if s == nil {
		// Some thousands of names an hour may come and go, but memory for them must not grow with what clients declare.
		if len(r.series) >= maxSeries {
			return
		}
		s = &series{tiers: make([][]sample, 1), changed: now}
		r.series[key] = s
		if r.round > 1 { // it is new, and so what it counted it did since the last look
			s.tiers[0] = []sample{{now.Add(-sampleInterval), make([]uint64, len(values))}}
		}
	}
	s.seen = r.round
	// changed is what idle_since is made from: to an interval, and without a clock in the objects themselves.
	if recent := s.tiers[0]; len(recent) == 0 || !slices.Equal(recent[len(recent)-1].values, values) {
		s.changed = now
	}
	if !r.draws(s, key, now) {
		s.forgetCurve()
		s.tiers[0] = push(s.tiers[0], sample{now, values}, func(kept int, _ time.Time) bool { return kept >= rateSamples })
		return
	}
	for len(s.tiers) < tiersOf(key) {
		s.tiers = append(s.tiers, nil)
	}
	for i, t := range tiers[:len(s.tiers)] {
		// Half an interval of tolerance: ticks come a little early or late, and none is to be missed for that.
		if kept := s.tiers[i]; len(kept) > 0 && now.Sub(kept[len(kept)-1].at) < t.step-sampleInterval/2 {
			continue
		}
		s.tiers[i] = push(s.tiers[i], sample{now, values}, func(_ int, at time.Time) bool { return now.Sub(at) > t.age })
	}
}

// draws reports whether an object has a curve now.
func (r *rates) draws(s *series, key any, now time.Time) bool {
	if tiersOf(key) == len(tiers) {
		return true
	}
	if len(r.series) > fewSeries && now.Sub(s.wanted) >= curveInterest || r.drawn >= maxDrawn {
		return false
	}
	r.drawn++
	return true
}

// forgetCurve gives back the memory of a curve.
func (s *series) forgetCurve() {
	if len(s.tiers) > 1 {
		s.tiers = [][]sample{slices.Clone(s.tiers[0][max(0, len(s.tiers[0])-rateSamples):])}
	}
}

// push appends a sample and takes those off the front that are too old or too many. The values are copied, into memory of one that goes.
func push(list []sample, s sample, over func(kept int, at time.Time) bool) []sample {
	gone := 0
	for gone < len(list) && over(len(list)-gone, list[gone].at) {
		gone++
	}
	var reused []uint64
	if gone > 0 {
		reused = list[gone-1].values[:0]
		list = list[:copy(list, list[gone:])]
	}
	return append(list, sample{s.at, append(reused, s.values...)})
}

// look takes a sample of all objects: each calls its argument for every object there is. Objects that are gone are forgotten.
func (r *rates) look(now time.Time, each func(note func(key any, values []uint64))) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.round++
	// Which objects have curves is decided anew in each round, in the order in which they are noted.
	r.drawn = 0
	each(func(key any, values []uint64) { r.note(now, key, values) })
	for key, s := range r.series {
		// Nobody tells the rates that an object is gone: it was not noted in this round.
		if s.seen != r.round {
			delete(r.series, key)
		}
	}
}

// past returns what is known of an object, for reading: of each sample, counter i. w tells whether somebody draws a curve of it, and how long it is.
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
	h := history{changed: s.changed}
	if w == nil {
		h.samples = clone(s.tiers[0][max(0, len(s.tiers[0])-rateSamples):])
		return h
	}
	oldest := time.Now().Add(-w.age - w.step)
	// From the coarsest tier, which reaches back the furthest, to the finest.
	for i := len(s.tiers) - 1; i >= 0; i-- {
		list := s.tiers[i]
		for len(list) > 2 && list[1].at.Before(oldest) {
			list = list[1:]
		}
		for len(list) > 0 && len(h.samples) > 0 && !h.samples[len(h.samples)-1].at.Before(list[0].at) {
			h.samples = h.samples[:len(h.samples)-1] // the finer tier knows better
		}
		h.samples = append(h.samples, clone(list)...)
	}
	return h
}

// want notes that more samples of an object are to be kept from now on.
func (r *rates) want(key any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.series[key]; s != nil {
		s.wanted = time.Now()
	}
}

// clone copies samples with their values, whose memory push uses again.
func clone(list []sample) []sample {
	copied := make([]sample, len(list))
	for i, s := range list {
		copied[i] = sample{s.at, append([]uint64(nil), s.values...)}
	}
	return copied
}

// forget drops all samples.
func (r *rates) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.series)
}
