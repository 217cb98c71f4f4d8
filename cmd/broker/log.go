package main

import (
	"io"
	"log/slog"
)

// newLogger makes the broker's log; level may be changed while it is in use.
func newLogger(w io.Writer, format string, level *slog.LevelVar) *slog.Logger {
	// Times and levels stay in slog's own form, which log collectors know.
	options := &slog.HandlerOptions{Level: level}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// levelNamed turns a level that config has checked into slog's.
func levelNamed(name string) slog.Level {
	var level slog.Level
	if err := level.UnmarshalText([]byte(name)); err != nil {
		return slog.LevelInfo
	}
	return level
}
