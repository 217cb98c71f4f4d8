package management

import (
	"math"
	"testing"
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

// Memory is bounded: two samples of what nobody draws, ten minutes of what somebody does, and no series beyond the most.
func TestKeptSamples(t *testing.T) {
	r := newRates()
	note := func(i int, keys ...any) {
		r.look(time.Now().Add(time.Duration(i)*sampleInterval), func(note func(any, []uint64)) {
			for _, key := range keys {
				note(key, []uint64{uint64(i)})
			}
		})
	}
	note(0, "drawn", "plain")
	r.past("drawn", &window{time.Minute, sampleInterval})
	for i := range 100 {
		note(i+1, "drawn", "plain")
	}
	if drawn, plain := len(r.series["drawn"].samples), len(r.series["plain"].samples); drawn != 101 || plain != rateSamples {
		t.Errorf("%d samples of what is drawn, %d of what is not", drawn, plain)
	}
	for i := range 2 * keptSamples {
		note(i, "drawn")
	}
	if n := len(r.series["drawn"].samples); n > keptSamples+1 {
		t.Errorf("%d samples are kept", n)
	}
}

func TestCurve(t *testing.T) {
	r := newRates()
	r.series["k"] = &series{samples: []sample{
		{time.Now().Add(-20 * time.Second), []uint64{100}}, {time.Now().Add(-10 * time.Second), []uint64{150}}, {time.Now(), []uint64{200}},
	}}
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
