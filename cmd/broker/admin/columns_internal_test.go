package admin

import (
	"testing"

	"leveret/ctl"
)

func TestDurations(t *testing.T) {
	for ms, want := range map[float64]string{-5: "0s", 0: "0s", 250: "250ms", 999: "999ms", 2549: "2.5s", 59_000: "59s", 60_000: "1m0s", 3_599_000: "59m59s",
		3_600_000: "1h0m", 86_399_000: "23h59m", 97_200_000: "1d3h", 864_000_000: "10d0h"} {
		if got := duration(ms); got != want {
			t.Errorf("%v ms: %q, want %q", ms, got, want)
		}
	}
}

// TestCells: what is missing is nothing, whatever its format.
func TestCells(t *testing.T) {
	o := ctl.Object{}
	if err := ctl.Decode([]byte(`{"size":1536,"none":0,"some":3,"wait":1500,"null":null}`), &o); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"size|bytes": "1.5 KiB", "none|some": "", "some|some": "3", "wait|ms": "1.5s", "null|ms": "", "missing|since": "", "some": "3", "none": "0"} {
		if got := (column{"x", path}).cell(o); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
