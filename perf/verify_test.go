package perf_test

import (
	"bytes"
	"strings"
	"testing"

	"leveret/perf"
)

// noted publishes into a queue that nobody consumes from and returns what was noted as confirmed.
func noted(t *testing.T, b *fakeBroker, change func(o *perf.Options)) (perf.Options, string) {
	t.Helper()
	var log bytes.Buffer
	o := options(b, func(o *perf.Options) {
		o.Queue, o.Consumers, o.Producers, o.Window, o.Size, o.ConfirmedLog = "jobs", 0, 3, 20, 32, &log
		o.Count = 1500 // a third of it can be confirmed five at a time
		if change != nil {
			change(o)
		}
	})
	run(t, o)
	return o, log.String()
}

func TestVerifyFindsWhatWasConfirmed(t *testing.T) {
	b := startFake(t, func(b *fakeBroker) { b.confirmLast = 5 })
	o, first := noted(t, b, nil)
	_, second := noted(t, b, func(o *perf.Options) { o.Size, o.Count = 20_000, 60 })
	if n := strings.Count(first, "\n"); n != 3 {
		t.Errorf("%d lines for three producers:\n%s", n, first)
	}
	v, err := perf.Verify(t.Context(), o, strings.NewReader(first+second))
	if err != nil || v.Confirmed != o.Count+60 || v.Lost+v.Twice+v.Unconfirmed != 0 {
		t.Fatalf("%+v, %v", v, err)
	}
	if v, err = perf.Verify(t.Context(), o, strings.NewReader("")); err != nil || *v != (perf.Verdict{}) {
		t.Errorf("an empty queue: %+v, %v", v, err)
	}
	if v, err = perf.Verify(t.Context(), o, strings.NewReader(first)); err != nil || v.Lost != o.Count || v.FirstLost == "" {
		t.Errorf("an empty queue that should not be: %+v, %v", v, err)
	}
}

func TestVerifyCountsWhatNobodyPromised(t *testing.T) {
	b := startFake(t, nil)
	o, log := noted(t, b, nil)
	lines := strings.SplitAfter(log, "\n")
	v, err := perf.Verify(t.Context(), o, strings.NewReader(strings.Join(lines[1:], "")))
	if err != nil || v.Lost != 0 || v.Unconfirmed == 0 || v.Confirmed+v.Unconfirmed != o.Count {
		t.Fatalf("%+v, %v", v, err)
	}
}

func TestVerifySeesDuplicates(t *testing.T) {
	b := startFake(t, nil)
	o, log := noted(t, b, nil)
	b.mu.Lock()
	q := b.queues["jobs"]
	q.messages = append(q.messages, q.messages[7])
	b.mu.Unlock()
	if v, err := perf.Verify(t.Context(), o, strings.NewReader(log)); err != nil || v.Twice != 1 || v.Lost != 0 {
		t.Fatalf("%+v, %v", v, err)
	}
}

func TestVerifyRefuses(t *testing.T) {
	b := startFake(t, nil)
	o := options(b, func(o *perf.Options) { o.Queue = "jobs" })
	for _, log := range []string{"nonsense\n", "0000000000000001 0 5 4\n", "0000000000000001 0 0 4\n", "1 2\n"} {
		if v, err := perf.Verify(t.Context(), o, strings.NewReader(log)); err == nil {
			t.Errorf("%q passes: %+v", log, v)
		}
	}
	for _, change := range []func(*perf.Options){
		func(o *perf.Options) { o.Window = 0 },
		func(o *perf.Options) { o.Size = 31 },
	} {
		o := options(b, func(o *perf.Options) { o.Window, o.Size, o.ConfirmedLog = 1, 32, &bytes.Buffer{} })
		if change(&o); o.Validate() == nil {
			t.Errorf("%+v passes", o)
		}
	}
}

// What was confirmed before the broker went away is noted too.
func TestConfirmsOfARunThatBreaksOff(t *testing.T) {
	b := startFake(t, func(b *fakeBroker) { b.hangUp = 500 })
	var log bytes.Buffer
	o := options(b, func(o *perf.Options) {
		o.Queue, o.Consumers, o.Window, o.Size, o.ConfirmedLog = "jobs", 0, 20, 32, &log
	})
	report, err := perf.Run(t.Context(), o, nil)
	if err == nil || report == nil || report.Confirmed == 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	v, err := perf.Verify(t.Context(), o, &log)
	if err != nil || v.Confirmed != report.Confirmed || v.Lost != 0 {
		t.Errorf("%+v, %v; the run counted %d", v, err, report.Confirmed)
	}
}
