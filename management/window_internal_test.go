package management

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// asking is a call with a query.
func asking(query string) *call {
	r := httptest.NewRequest(http.MethodGet, "/?"+query, nil)
	return &call{request: r, query: r.URL.Query()}
}

func TestWindows(t *testing.T) {
	for query, want := range map[string]window{
		"lengths_age=60&lengths_incr=5":                   {time.Minute, 5 * time.Second},
		"lengths_age=500&lengths_incr=1":                  {500 * time.Second, time.Second},
		"lengths_age=5&lengths_incr=60":                   {5 * time.Second, time.Minute},
		"lengths_age=86400&lengths_incr=1800":             {24 * time.Hour, 30 * time.Minute},
		"lengths_age=3153600000&lengths_incr=3153600000":  {maxReach * time.Second, maxReach * time.Second},
		"lengths_age=60&lengths_incr=5&msg_rates_age=bad": {time.Minute, 5 * time.Second},
	} {
		got, err := windowsOf(asking(query))
		if err != nil || got.lengths == nil || *got.lengths != want || got.messages != nil || got.data != nil || got.node != nil {
			t.Errorf("%s: %+v %v, want %v", query, got, err, want)
		}
	}
	for _, query := range []string{"", "lengths_age=60", "lengths_incr=5", "lengths_age=x&lengths_incr=5", "lengths_age=60&lengths_incr=1.5"} {
		if got, err := windowsOf(asking(query)); err != nil || got.any() != nil {
			t.Errorf("%q asks for no curve, and gets %+v %v", query, got, err)
		}
	}
}

// Curves that can't be are refused with the numbers that were asked for; so are those whose durations would overflow, which could have any number
// of points, or none.
func TestWrongWindows(t *testing.T) {
	for query, want := range map[string]string{
		"node_stats_age=0&node_stats_incr=5":                       "age 0, incr 5",
		"node_stats_age=60&node_stats_incr=0":                      "age 60, incr 0",
		"node_stats_age=-60&node_stats_incr=5":                     "age -60, incr 5",
		"node_stats_age=60&node_stats_incr=-5":                     "age 60, incr -5",
		"node_stats_age=501&node_stats_incr=1":                     "age 501, incr 1",
		"node_stats_age=3153600001&node_stats_incr=10000000":       "age 3153600001, incr 10000000",
		"node_stats_age=10000000000&node_stats_incr=10000000000":   "age 10000000000, incr 10000000000",
		"node_stats_age=9223380000000&node_stats_incr=18446744074": "age 9223380000000, incr 18446744074",
	} {
		_, err := windowsOf(asking(query))
		f, isFailure := err.(*failure)
		if !isFailure || f.status != http.StatusBadRequest {
			t.Errorf("%s: %v", query, err)
			continue
		}
		if reason, _ := f.body.get("reason"); reason != "Invalid range parameters: "+want {
			t.Errorf("%s: %v, want %s", query, reason, want)
		}
	}
}

// Of several curves of one object the one that reaches back the furthest says what is read of its past.
func TestLongestWindow(t *testing.T) {
	short, long := &window{time.Minute, time.Second}, &window{time.Hour, time.Minute}
	for _, tt := range []struct {
		name string
		w    windows
		want *window
	}{
		{"none", windows{}, nil},
		{"one", windows{data: short}, short},
		{"the first is longer", windows{messages: long, node: short}, long},
		{"the last is longer", windows{messages: short, lengths: short, node: long}, long},
	} {
		if got := tt.w.any(); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// past is a history of one counter: its value so many seconds before now, oldest first.
func past(points ...[2]int) history {
	var h history
	for _, p := range points {
		h.samples = append(h.samples, sample{time.Now().Add(-time.Duration(p[0]) * time.Second), []uint64{uint64(p[1])}})
	}
	return h
}

// What stands beside a counter, in a bubble whose clock stands at 2000-01-01 00:00:00 UTC: curves are at whole steps back from now, the newest first, and
// end with what the counter is now; the average rate is over all of the curve, the rate over the last two samples.
func TestDetails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &window{20 * time.Second, 10 * time.Second}
		for _, tt := range []struct {
			name    string
			samples [][2]int
			now     uint64
			w       *window
			want    string
		}{
			{"nothing known", nil, 7, nil, `{"rate":0.0}`},
			{"one sample is no rate", [][2]int{{5, 3}}, 7, nil, `{"rate":0.0}`},
			{"a rate", [][2]int{{10, 100}, {5, 150}}, 500, nil, `{"rate":10.0}`},
			{"a rate of a gauge that falls", [][2]int{{10, 150}, {5, 100}}, 0, nil, `{"rate":-10.0}`},
			{"samples of one moment", [][2]int{{5, 100}, {5, 150}}, 150, nil, `{"rate":0.0}`},
			{"a curve of nothing", nil, 0, w, `{"rate":0.0,"samples":[{"sample":0,"timestamp":946684800000},{"sample":0,"timestamp":946684790000},` +
				`{"sample":0,"timestamp":946684780000}],"avg_rate":0.0,"avg":0.0}`},
			{"a curve", [][2]int{{20, 10}, {15, 20}, {10, 30}, {5, 40}}, 50, w, `{"rate":2.0,"samples":[{"sample":50,"timestamp":946684800000},` +
				`{"sample":30,"timestamp":946684790000},{"sample":10,"timestamp":946684780000}],"avg_rate":2.0,"avg":30.0}`},
			{"a curve that begins before its samples", [][2]int{{10, 30}, {5, 30}}, 30, w, `{"rate":0.0,"samples":[{"sample":30,"timestamp":946684800000},` +
				`{"sample":30,"timestamp":946684790000},{"sample":30,"timestamp":946684780000}],"avg_rate":0.0,"avg":30.0}`},
			{"a curve of a gauge that falls", [][2]int{{20, 30}, {10, 20}}, 10, w, `{"rate":-1.0,"samples":[{"sample":10,"timestamp":946684800000},` +
				`{"sample":20,"timestamp":946684790000},{"sample":30,"timestamp":946684780000}],"avg_rate":-1.0,"avg":20.0}`},
		} {
			if got := string(appendJSON(nil, past(tt.samples...).details(0, tt.now, tt.w))); got != tt.want {
				t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
			}
		}
	})
}

// An object's samples may be shorter than what is looked for in them: of before an update, of another kind. That is no rate, and no fault.
func TestRatesOfWhatWasNotSampled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := past([2]int{10, 1}, [2]int{5, 2})
		if got := h.rate(1); got != 0 {
			t.Errorf("rate %v of a counter that has no samples", got)
		}
		if points := h.curve(1, 9, &window{10 * time.Second, 5 * time.Second}); len(points) != 3 || points[0].value != 9 || points[2].value != 9 {
			t.Errorf("its curve is %v, want what it is now", points)
		}
	})
}

// Counters stand in an object in their order, each with its details behind it, and take their rates from where they are in the samples.
func TestCountersAddTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := history{samples: []sample{
			{time.Now().Add(-5 * time.Second), []uint64{0, 0, 0}}, {time.Now(), []uint64{5, 10, 15}},
		}}
		got := counters{"one", "two"}.addTo(object{{"name", "q"}}, []uint64{10, 15}, h, 1, nil)
		const want = `{"name":"q","one":10,"one_details":{"rate":2.0},"two":15,"two_details":{"rate":3.0}}`
		if text := string(appendJSON(nil, got)); text != want {
			t.Errorf("got %s, want %s", text, want)
		}
	})
}
