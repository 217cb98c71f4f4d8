package events

import (
	"context"
	"log/slog"
	"strings"
	"sync"

	"leveret/amqp"
)

// The properties of the event that stands for a line of the log. Its key is the severity: debug, info, warning or error.
const (
	LogLine = "line"
	LogType = "content_type" // "text/plain" or "application/json"
)

// logHandler passes records on, and emits each as an event too.
type logHandler struct {
	next, copy slog.Handler
	line       *logLine
}

// logLine takes the text of one record at a time.
type logLine struct {
	mu  sync.Mutex // held while a record is formatted; a leaf lock, but for the bus's
	bus *Bus
	key string
	of  string // content type
}

// LogHandler makes a handler that passes everything on to next, and emits each line as an event on the bus, formatted as JSON or as text. It
// never waits for who listens: publishing a line may well cause another.
func LogHandler(next slog.Handler, bus *Bus, json bool) slog.Handler {
	line := &logLine{bus: bus, of: "text/plain"}
	all := &slog.HandlerOptions{Level: slog.LevelDebug} // what is too little is kept out by next
	h := &logHandler{next: next, line: line, copy: slog.NewTextHandler(line, all)}
	if json {
		line.of, h.copy = "application/json", slog.NewJSONHandler(line, all)
	}
	return h
}

// Enabled is what the handler behind it says.
func (h *logHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle passes a record on and emits it.
func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	key := severity(r.Level)
	if h.line.bus.Wanted(key) {
		h.line.mu.Lock()
		h.line.key = key
		_ = h.copy.Handle(ctx, r) // the line takes all that is written
		h.line.mu.Unlock()
	}
	return h.next.Handle(ctx, r)
}

// WithAttrs is a handler whose records have these attributes too.
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &logHandler{next: h.next.WithAttrs(attrs), copy: h.copy.WithAttrs(attrs), line: h.line}
}

// WithGroup is a handler whose attributes stand in a group.
func (h *logHandler) WithGroup(name string) slog.Handler {
	return &logHandler{next: h.next.WithGroup(name), copy: h.copy.WithGroup(name), line: h.line}
}

// Write is called with one whole line.
func (l *logLine) Write(text []byte) (int, error) {
	l.bus.Emit(l.key, func() amqp.Table {
		return amqp.Table{{Name: LogLine, Value: strings.TrimSuffix(string(text), "\n")}, {Name: LogType, Value: l.of}}
	})
	return len(text), nil
}

// severity is RabbitMQ's word for a level.
func severity(level slog.Level) string {
	switch {
	case level < slog.LevelInfo:
		return "debug"
	case level < slog.LevelWarn:
		return "info"
	case level < slog.LevelError:
		return "warning"
	}
	return "error"
}
