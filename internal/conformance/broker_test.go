package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestParseReady(t *testing.T) {
	tests := []struct {
		name, text string
		want       addresses
		ok         bool
	}{
		{"lists", `{"amqp":["127.0.0.1:1","[::1]:1"],"http":["127.0.0.1:2"]}`, addresses{"127.0.0.1:1", "127.0.0.1:2"}, true},
		{"strings", `{"amqp":"127.0.0.1:1","metrics":"127.0.0.1:3"}`, addresses{"127.0.0.1:1", ""}, true},
		{"no AMQP", `{"amqp":[],"http":["127.0.0.1:2"]}`, addresses{}, false},
		{"cut", `{"amqp":["127.`, addresses{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseReady([]byte(tt.text))
			if got != tt.want || (err == nil) != tt.ok {
				t.Errorf("got %+v, %v; want %+v, success %v", got, err, tt.want, tt.ok)
			}
		})
	}
}

// script makes an executable that stands in for the broker. Its body finds the name
// of the ready file in $ready.
func script(t *testing.T, body string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "broker")
	if err := os.WriteFile(file, []byte("#!/bin/sh\nready=$5\n"+body), 0o700); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestBrokerLifecycle(t *testing.T) {
	tests := []struct {
		name, body         string
		startErr, stopWith string // beginnings of an error's text, empty for none
	}{
		{"clean", goodBroker, "", ""},
		{"ends too early", `echo 'no disk' >&2; exit 3`, "the broker ended before it was ready", ""},
		{"ends with an error", `trap 'echo lost; exit 4' TERM; echo '{"amqp":["127.0.0.1:9"]}' >"$ready.new"; mv "$ready.new" "$ready"; while :; do sleep 0.05; done`, "", "the broker ended with exit status 4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			b, err := startBroker(ctx, script(t, tt.body))
			wantText(t, err, tt.startErr)
			if err != nil {
				return
			}
			if b.addresses.amqp != "127.0.0.1:9" {
				t.Errorf("addresses %+v", b.addresses)
			}
			wantText(t, b.stop(), tt.stopWith)
			if _, err := os.Stat(b.dir); !os.IsNotExist(err) {
				t.Errorf("its folder is still there: %v", err)
			}
		})
	}
}

func wantText(t *testing.T, err error, beginning string) {
	t.Helper()
	switch {
	case err == nil && beginning != "":
		t.Errorf("no error, want %q", beginning)
	case err != nil && (beginning == "" || !strings.HasPrefix(err.Error(), beginning)):
		t.Errorf("error %q, want %q", err, beginning)
	}
}
