package management

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

var begin = time.Unix(1_700_000_000, 0)

// looks takes a sample of each of the values, an interval apart, after one without the object.
func looks(r *rates, key any, values ...uint64) {
	now := begin
	r.look(now, func(func(any, []uint64)) {})
	for _, v := range values {
		now = now.Add(sampleInterval)
		r.look(now, func(note func(any, []uint64)) { note(key, []uint64{v, 1}) })
	}
}

func TestRate(t *testing.T) {
	for _, tt := range []struct {
		name   string
		values []uint64
		want   float64
	}{
		{"never seen", nil, 0},
		{"new: it began with nothing", []uint64{10}, 2},
		{"growing", []uint64{10, 35}, 5},
		{"standing still", []uint64{10, 10}, 0},
		{"a gauge that falls", []uint64{10, 5}, -1},
		{"the last interval alone counts", []uint64{0, 1000, 1005}, 1},
	} {
		r := newRates()
		looks(r, "k", tt.values...)
		if got := r.past("k", nil).rate(0); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// What was there when the broker's API began has not done all it counted since the last look.
func TestRateAtTheStart(t *testing.T) {
	r := newRates()
	r.look(begin, func(note func(any, []uint64)) { note("k", []uint64{1000}) })
	if got := r.past("k", nil).rate(0); got != 0 {
		t.Errorf("%v, want 0", got)
	}
}

func TestForgottenWhenGone(t *testing.T) {
	r := newRates()
	looks(r, "k", 1, 2)
	r.look(begin.Add(time.Hour), func(func(any, []uint64)) {})
	if len(r.series) != 0 {
		t.Errorf("%d series are kept of nothing", len(r.series))
	}
}

// samples is how many samples are kept of an object.
func (r *rates) samples(key any) (n int) {
	for _, list := range r.series[key].tiers {
		n += len(list)
	}
	return n
}

// running looks at objects every five seconds of the bubble's time, for a time. Each counts the seconds since the start.
func running(r *rates, age time.Duration, keys ...any) {
	for end := time.Now().Add(age); time.Now().Before(end); time.Sleep(sampleInterval) {
		r.look(time.Now(), func(note func(any, []uint64)) {
			for _, key := range keys {
				note(key, []uint64{uint64(time.Now().Unix())})
			}
		})
	}
}

// drawn is the curve of an object, newest first.
func drawn(r *rates, key any, w window) []point {
	return r.past(key, &w).curve(0, uint64(time.Now().Unix()), &w)
}

// The broker's curves reach back a day and other objects' an hour, coarser the further back, in bounded memory.
func TestCurvesReachBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRates()
		running(r, 26*time.Hour, nodeKey{}, "queue")
		for _, c := range []struct {
			key  any
			w    window
			near time.Duration // how far the value may be from the moment
		}{
			{nodeKey{}, window{time.Minute, 5 * time.Second}, 5 * time.Second},
			{nodeKey{}, window{10 * time.Minute, 10 * time.Second}, 5 * time.Second},
			{nodeKey{}, window{time.Hour, time.Minute}, time.Minute},
			{nodeKey{}, window{8 * time.Hour, 10 * time.Minute}, 10 * time.Minute},
			{nodeKey{}, window{23 * time.Hour, 30 * time.Minute}, 30 * time.Minute},
			{"queue", window{time.Minute, 5 * time.Second}, 5 * time.Second},
			{"queue", window{time.Hour, time.Minute}, time.Minute},
		} {
			points := drawn(r, c.key, c.w)
			if want := int(c.w.age/c.w.step) + 1; len(points) != want {
				t.Errorf("%v %v: %d points, want %d", c.key, c.w, len(points), want)
			}
			for _, p := range points {
				if off := p.at.Sub(time.Unix(int64(p.value), 0)); off < 0 || off > c.near+sampleInterval {
					t.Errorf("%v %v: the value of %s is %s old, want at most %s", c.key, c.w, p.at, off, c.near)
					break
				}
			}
		}
		if got := drawn(r, "queue", window{8 * time.Hour, time.Hour}); got[8].value != got[2].value {
			t.Error("a queue's curve reaches back more than an hour")
		}
		if node, queue := r.samples(nodeKey{}), r.samples("queue"); node > 122+62+50+50 || queue > 122+62 {
			t.Errorf("%d samples of the node are kept, %d of a queue", node, queue)
		}
	})
}

// Where there are many objects, those alone have curves that somebody has asked for lately.
func TestCurvesOfMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRates()
		keys := []any{nodeKey{}}
		for i := range fewSeries + 1 {
			keys = append(keys, i)
		}
		running(r, 2*sampleInterval, keys...)
		drawn(r, 7, window{time.Minute, 5 * time.Second})
		running(r, time.Minute, keys...)
		if asked, other, node := r.samples(7), r.samples(8), r.samples(nodeKey{}); asked < 12 || other != rateSamples || node < 12 {
			t.Errorf("%d samples of what is drawn, %d of what is not, %d of the node", asked, other, node)
		}
		running(r, curveInterest, keys...)
		if n := r.samples(7); n != rateSamples {
			t.Errorf("%d samples of what was drawn long ago", n)
		}
	})
}

// However many objects are asked for, so many have curves.
func TestMostCurves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRates()
		var keys []any
		for i := range maxDrawn + 100 {
			keys = append(keys, i)
		}
		running(r, 2*sampleInterval, keys...)
		for _, key := range keys {
			r.want(key)
		}
		running(r, 4*sampleInterval, keys...)
		curves := 0
		for _, key := range keys {
			if r.samples(key) > rateSamples {
				curves++
			}
		}
		if curves != maxDrawn {
			t.Errorf("%d objects have curves, want %d", curves, maxDrawn)
		}
	})
}

// Since when an object is idle is known to an interval, and null while it is busy.
func TestIdleSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRates()
		if got := idleSince(r.past("k", nil)); got != nil {
			t.Errorf("what nobody knows is idle since %v", got)
		}
		for value := range uint64(3) {
			r.look(time.Now(), func(note func(any, []uint64)) { note("k", []uint64{value}) })
			time.Sleep(sampleInterval)
		}
		if got := idleSince(r.past("k", nil)); got != nil {
			t.Errorf("what just changed is idle since %v", got)
		}
		changed := time.Now().Add(-sampleInterval)
		for range 3 {
			r.look(time.Now(), func(note func(any, []uint64)) { note("k", []uint64{2}) })
			time.Sleep(sampleInterval)
		}
		if got := idleSince(r.past("k", nil)); got != timestamp(changed) {
			t.Errorf("idle since %v, want %v", got, timestamp(changed))
		}
	})
}

func TestCurve(t *testing.T) {
	r := newRates()
	r.series["k"] = &series{tiers: [][]sample{{
		{time.Now().Add(-20 * time.Second), []uint64{100}}, {time.Now().Add(-10 * time.Second), []uint64{150}}, {time.Now(), []uint64{200}},
	}}}
	w := &window{age: 30 * time.Second, step: 10 * time.Second}
	d := r.past("k", w).details(0, 200, w)
	samples, _ := d.get("samples")
	var got []uint64
	for _, s := range samples.([]object) {
		v, _ := s.get("sample")
		got = append(got, v.(uint64))
	}
	if len(got) != 4 || got[3] != 100 || got[0] < got[1] || got[1] < got[2] || got[2] < got[3] {
		t.Errorf("curve, newest first: %v", got)
	}
	if average, _ := d.get("avg_rate"); math.Abs(average.(float64)-float64(got[0]-got[3])/30) > 0.01 {
		t.Errorf("average rate %v of %v", average, got)
	}
}

// Any object's fields come back from JSON as the standard library reads them, whatever stands in them.
func TestEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(3).Draw(t, "value")
		o, ok := parseObject(appendJSON(nil, object{{"v", v}}))
		if !ok {
			t.Fatalf("%s is no JSON", appendJSON(nil, v))
		}
		if got, want := string(appendJSON(nil, o)), string(appendJSON(nil, object{{"v", v}})); got != want {
			t.Fatalf("%s became %s", want, got)
		}
	})
}

func anyValue(depth int) *rapid.Generator[any] {
	leaves := []*rapid.Generator[any]{
		rapid.String().AsAny(), rapid.Bool().AsAny(), rapid.Int64().AsAny(), rapid.Uint64().AsAny(), rapid.Just[any](nil),
		rapid.Float64Range(-1e300, 1e300).AsAny(),
	}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	inner := rapid.Custom(func(t *rapid.T) any {
		o := object{}
		for range rapid.IntRange(0, 4).Draw(t, "fields") {
			o.add(rapid.String().Draw(t, "name"), anyValue(depth-1).Draw(t, "value"))
		}
		return o
	})
	list := rapid.Custom(func(t *rapid.T) any { return rapid.SliceOfN(anyValue(depth-1), 0, 4).Draw(t, "list") })
	return rapid.OneOf(append(leaves, inner, list)...)
}

func FuzzParseObject(f *testing.F) {
	for _, seed := range []string{"", "null", "{}", `{"a":[1,{"b":null}],"a":2}`, "[", `{"a":"\ud800"}`, "5"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, ok := parseObject(raw)
		if !ok {
			return
		}
		if again, ok := parseObject(appendJSON(nil, o)); !ok || string(appendJSON(nil, again)) != string(appendJSON(nil, o)) {
			t.Errorf("%q was read as %s, which does not read back", raw, appendJSON(nil, o))
		}
	})
}
