package store_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"leveret/store"
)

func segmentFiles(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "log", "*.seg"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

func inspected(t *testing.T, dir string) string {
	t.Helper()
	var out bytes.Buffer
	if err := store.Inspect(dir, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestInspectPrintsAFolder(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	if err := s.Commit(store.Change{Bucket: "vhosts", Key: "/", Value: []byte{1}}); err != nil {
		t.Fatal(err)
	}
	publish(t, s, 3, 1, bodies(1, 1500, 1000)...)
	s.Annotate(3, []store.Note{{Seq: 10, Data: []byte{1}}, {Seq: 11, Data: []byte{2}}, {Seq: 1500, Data: []byte{3}}})
	s.Settle(3, []store.Range{{First: 1, Last: 10}, {First: 20, Last: 20}})
	shut(t, s)

	before := segmentFiles(t, dir)
	got := regexp.MustCompile(`segment \d+$|^  \d+: position .*$`).ReplaceAllString(inspected(t, dir), "...")
	for _, want := range []string{
		"format version 1, closed in order true\n",
		"next queue id 1",
		"definitions:\n  vhosts: 1\n",
		"saved by a checkpoint\n",
		"queues:\n  3: 1489 messages, 1489000 bytes, next 1501, live 11-19 21-1500, 2 notes\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	var out bytes.Buffer
	if err := store.Check(dir, &out); err != nil || out.String() != "1489 messages of 1 queues read\n" {
		t.Errorf("check: %v, %s", err, &out)
	}
	if !slices.Equal(before, segmentFiles(t, dir)) {
		t.Error("looking changed the folder")
	}
}

func TestCheckFindsDamage(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	publish(t, s, 3, 1, bodies(1, 100, 1000)...)
	shut(t, s)
	hit := 0
	for _, name := range segmentFiles(t, dir) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if at := bytes.Index(data, []byte("message 50 ")); at >= 0 {
			data[at] ^= 1
			hit++
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if hit != 1 {
		t.Fatalf("the message stands in %d files", hit)
	}
	var out bytes.Buffer
	err := store.Check(dir, &out)
	if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(out.String(), "queue 3: messages 50 to 50 in segment") {
		t.Fatalf("check: %v\n%s", err, &out)
	}
	s = open(t, dir, nil)
	w, err := s.Read(3, []store.Range{{First: 49, Last: 51}}, 1<<20)
	if err != nil || len(w.Messages) != 2 || len(w.Lost) != 1 || w.Lost[0] != (store.Range{First: 50, Last: 50}) {
		t.Fatalf("read: %d messages, lost %v, %v", len(w.Messages), w.Lost, err)
	}
	if s.Stats().DamagedRecords == 0 {
		t.Error("the damage is not counted")
	}
}

func TestInspectRefusesAFolderInUse(t *testing.T) {
	dir := t.TempDir()
	open(t, dir, nil)
	if err := store.Inspect(dir, os.Stdout); !errors.Is(err, store.ErrLocked) {
		t.Fatalf("inspected a running broker's folder: %v", err)
	}
	if err := store.Check(t.TempDir(), os.Stdout); err == nil {
		t.Fatal("checked a folder without a store")
	}
}

// What a killed broker leaves is shown as it would be recovered.
func TestInspectOfWhatWouldBeReplayed(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(dir, store.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	publish(t, s, 3, 1, bodies(1, 5, 10)...)
	s.Annotate(3, []store.Note{{Seq: 2, Data: []byte{1}}, {Seq: 4, Data: []byte{1}}})
	s.Settle(3, []store.Range{{First: 2, Last: 2}})
	b := store.Batch{Atomic: true}
	b.Publish([]byte("moved"), 0)
	b.To(4)
	b.Settle(3, []store.Range{{First: 1, Last: 1}})
	await(t, s, s.Append(&b, func() { b.Pairs()[0].Seq = 1 }))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = s.Close(ctx) // as if killed
	got := inspected(t, dir)
	for _, want := range []string{
		"closed in order false\n",
		"4 live, to be replayed\n",
		"records: 6 messages, 2 settlements, 0 dropped queues, 1 ends of atomic batches, 1 groups of notes\n",
		"  3: 3 messages, 30 bytes, next 6, live 3-5, 1 notes\n",
		"  4: 1 messages, 5 bytes, next 2, live 1, 0 notes\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if again := inspected(t, dir); again != got {
		t.Errorf("the second look differs:\n%s", again)
	}
}
