package main

import (
	"io"
	"reflect"
	"strings"
	"testing"
)

func TestParseAllowed(t *testing.T) {
	tests := []struct {
		name, text string
		want       map[string]string
		wantErr    string
	}{
		{"empty", "", map[string]string{}, ""},
		{"comments and space", "# why\n\n  W7_size   until the next release \nQ1_name  x", map[string]string{"W7_size": "until the next release", "Q1_name": "x"}, ""},
		{"no reason", "# head\nW7_size\n", nil, "line 2: W7_size has no reason"},
		{"twice", "W7_size a\nW7_size b\n", nil, "line 2: W7_size stands there twice"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseAllowed([]byte(tt.text))
			if tt.wantErr != "" {
				if err == nil || err.Error() != tt.wantErr {
					t.Errorf("error %v, want %q", err, tt.wantErr)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v, %v; want %v", got, err, tt.want)
			}
		})
	}
}

func TestJudge(t *testing.T) {
	list := map[string]string{"A1_listed": "r", "A2_mended": "r", "A3_gone": "r", "A4_skipped": "r"}
	outcomes := map[string]outcome{
		"A1_listed": failed, "A2_mended": passed, "A4_skipped": skipped, "B1_good": passed, "B2_bad": failed,
	}
	want := verdict{
		unexpected: []string{"B2_bad"}, mended: []string{"A2_mended"}, unknown: []string{"A3_gone"},
		expected: 1, passed: 2, skipped: 1,
	}
	if got := judge(outcomes, list, true); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	want.unknown = nil
	if got := judge(outcomes, list, false); !reflect.DeepEqual(got, want) {
		t.Errorf("of a part: got %+v, want %+v", got, want)
	}
}

func TestReport(t *testing.T) {
	tests := []struct {
		name string
		v    verdict
		ok   bool
		text string
	}{
		{"as listed", verdict{passed: 3, expected: 2}, true, "3 passed, 2 failed as listed"},
		{"a new failure", verdict{passed: 3, unexpected: []string{"W7_size"}}, false, "W7_size fails and is not on the list"},
		{"a mended one", verdict{passed: 3, mended: []string{"W7_size"}}, false, "W7_size passes: delete its line"},
		{"a wrong name", verdict{passed: 3, unknown: []string{"W7_sice"}}, false, "W7_sice is no check"},
		{"nothing ran", verdict{skipped: 9}, false, "9 skipped"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			if err := tt.v.report(&out); (err == nil) != tt.ok {
				t.Errorf("error %v, want success %v", err, tt.ok)
			}
			if !strings.Contains(out.String(), tt.text) {
				t.Errorf("no %q in %q", tt.text, out.String())
			}
		})
	}
}

func TestReadOutcomes(t *testing.T) {
	lines := `ok   D10 unknown tag: An unknown tag: 406
FAIL W7 frame max: Too large: 501 -- TCP closed by the broker (4.2 s)
skip P5 needs http: With the API -- no HTTP API at 127.0.0.1:1
cannot load protocol/x.py: SyntaxError
conformance: 1 passed, 1 failed, 1 skipped
`
	var out strings.Builder
	got := readOutcomes(strings.NewReader(lines), &out)
	want := report{complete: true, outcomes: map[string]outcome{"D10_unknown_tag": passed, "W7_frame_max": failed, "P5_needs_http": skipped}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if s := out.String(); strings.Contains(s, "D10") || !strings.Contains(s, "FAIL W7") || !strings.Contains(s, "cannot load") {
		t.Errorf("shown: %q", s)
	}

	if got := readOutcomes(strings.NewReader("ok   D10 unknown tag: An\n"), io.Discard); got.complete {
		t.Error("complete without a summary")
	}
	if got := readOutcomes(strings.NewReader("ok   D10 "+strings.Repeat("x", 2<<20)), io.Discard); got.err == nil {
		t.Error("a line of 2 MiB is read without an error")
	}
}
