package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReadyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ready.json")
	if err := os.WriteFile(path, []byte("left over from the last run, and longer than what comes now, by a good deal of text"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := addresses{AMQP: []string{"127.0.0.1:5672"}, AMQPS: []string{}, HTTP: []string{}, HTTPS: []string{}, Metrics: []string{"[::]:15692"}, MetricsTLS: []string{}}
	if err := writeReadyFile(path, at); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if want := `{"amqp":["127.0.0.1:5672"],"amqps":[],"http":[],"https":[],"metrics":["[::]:15692"],"metrics_tls":[]}` + "\n"; err != nil || string(text) != want {
		t.Errorf("got %q, %v, want %q", text, err, want)
	}
	wantAlone(t, path)
}

func TestReadyFileThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(path, "by-a-folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := writeReadyFile(path, addresses{}); err == nil {
		t.Error("written over a folder")
	}
	wantAlone(t, path)
	if err := writeReadyFile(filepath.Join(dir, "no", "folder"), addresses{}); err == nil {
		t.Error("written into a folder that is not there")
	}
}

// wantAlone checks that nothing but the file itself is left in its folder.
func wantAlone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 || entries[0].Name() != filepath.Base(path) {
		t.Errorf("the folder has %v, %v", entries, err)
	}
}
