package events_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"leveret/events"
)

var times = regexp.MustCompile(`time="?[^ ,]+ |"time":"[^"]*",`)

// lines are what a listener heard of the log: severity, content type, line without its time.
func (l *listener) lines() (lines []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.taken {
		line, _ := e.Properties.Get(events.LogLine)
		kind, _ := e.Properties.Get(events.LogType)
		lines = append(lines, fmt.Sprintf("%s %s %s", e.Key, kind, times.ReplaceAllString(line.(string), "")))
	}
	return lines
}

func TestLogHandler(t *testing.T) {
	for _, json := range []bool{false, true} {
		var console bytes.Buffer
		bus, l := events.New(), new(listener)
		next := slog.NewTextHandler(&console, &slog.HandlerOptions{Level: slog.LevelInfo})
		log := slog.New(events.LogHandler(next, bus, json))
		log.Info("nobody listens")
		bus.Listen(l)
		log = log.With("connection", "c")
		log.Debug("too little")
		log.Info("one")
		log.WithGroup("g").Warn("two", "a", 1)
		log.Error("three")
		bus.Close()
		want := []string{
			"info text/plain level=INFO msg=one connection=c",
			"warning text/plain level=WARN msg=two connection=c g.a=1",
			"error text/plain level=ERROR msg=three connection=c",
		}
		if json {
			want = []string{
				`info application/json {"level":"INFO","msg":"one","connection":"c"}`,
				`warning application/json {"level":"WARN","msg":"two","connection":"c","g":{"a":1}}`,
				`error application/json {"level":"ERROR","msg":"three","connection":"c"}`,
			}
		}
		if got := l.lines(); !slices.Equal(got, want) {
			t.Errorf("got %q\nwant %q", got, want)
		}
		if n := strings.Count(console.String(), "\n"); n != 4 {
			t.Errorf("%d lines went on, not 4:\n%s", n, console.String())
		}
	}
}

func TestManyLog(t *testing.T) {
	bus, l := events.New(), new(listener)
	bus.Listen(l)
	log := slog.New(events.LogHandler(slog.DiscardHandler, bus, false))
	log.Info("nothing goes on, so nothing is emitted")
	log = slog.New(events.LogHandler(slog.NewTextHandler(new(bytes.Buffer), nil), bus, false))
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			for range 100 {
				if i%2 == 0 {
					log.Info("even")
				} else {
					log.Error("odd")
				}
			}
		})
	}
	writers.Wait()
	bus.Close()
	lines := l.lines()
	if len(lines) != 400 {
		t.Fatalf("%d lines of 400", len(lines))
	}
	for _, line := range lines {
		if strings.HasPrefix(line, "info") != strings.Contains(line, "even") {
			t.Errorf("severity and line do not go together: %q", line)
		}
	}
}
