package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A stopped broker's folder is looked at and left as it is; what is damaged is told.
func TestStoreCommands(t *testing.T) {
	dir := t.TempDir()
	r := startBroker(t, "--data-dir", dir)
	code, _, stderr := r.perfAt(t, "--count", "1000", "--duration", "0", "--consumers", "0", "--confirm", "100", "--size", "100", "--persistent", "--queue", "jobs", "--quiet")
	if code != 0 {
		t.Fatal(stderr)
	}
	if code, _, stderr := broker(t, "", "store", "check", dir); code != 1 || !strings.Contains(stderr, "data folder "+dir) {
		t.Errorf("a folder in use: exit code %d, %s", code, stderr)
	}
	r.terminate(t)
	before := listing(t, dir)
	for command, want := range map[string]string{"inspect": "segment", "check": "1000 messages of 1 queues read\n"} {
		code, stdout, stderr := broker(t, "", "store", command, dir)
		if code != 0 || stderr != "" || !strings.Contains(stdout, want) {
			t.Errorf("%s: exit code %d, %s\n%s", command, code, stderr, stdout)
		}
	}
	if after := listing(t, dir); after != before {
		t.Errorf("to look at it changes the folder:\n%s\nwas\n%s", after, before)
	}
	damage(t, dir)
	code, stdout, stderr := broker(t, "", "store", "check", dir)
	if code != 1 || stderr != "broker: data folder "+dir+": store is damaged\n" || !strings.Contains(stdout, "can't be read\n999 messages of 1 queues read\n") {
		t.Errorf("damage: exit code %d, %s\n%s", code, stderr, stdout)
	}
}

// listing is what is in a folder, with sizes.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			b.WriteString(strings.TrimPrefix(path, dir) + " " + info.Mode().String() + " " + info.ModTime().String() + "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// damage turns bytes in the middle of the first segment's records over.
func damage(t *testing.T, dir string) {
	t.Helper()
	segments, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	if more, _ := filepath.Glob(filepath.Join(dir, "*", "*.seg")); err != nil || len(segments)+len(more) == 0 {
		t.Fatalf("no segments in:\n%s", listing(t, dir))
	} else {
		segments = append(segments, more...)
	}
	f, err := os.OpenFile(segments[0], os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const middle = 50_000 // a thousand messages of a hundred bytes are more than that
	if _, err := f.WriteAt([]byte("\xff\x00\xff\x00\xff\x00\xff\x00"), middle); err != nil {
		t.Fatal(err)
	}
}

// What is no data folder is refused, and not made.
func TestStoreCommandsRefuse(t *testing.T) {
	none, text := filepath.Join(t.TempDir(), "none"), file(t, "file", "text")
	for _, command := range []string{"inspect", "check"} {
		for _, tt := range []struct{ dir, want string }{{none, "no such file"}, {text, "data folder"}} {
			if code, stdout, stderr := broker(t, "", "store", command, tt.dir); code != 1 || stdout != "" || !strings.Contains(stderr, tt.want) {
				t.Errorf("%s %s: exit code %d, %q, %q", command, tt.dir, code, stdout, stderr)
			}
		}
		if code, _, stderr := broker(t, "", "store", command); code != 1 || !strings.Contains(stderr, "accepts 1 arg") {
			t.Errorf("%s: exit code %d, %q", command, code, stderr)
		}
	}
	if _, err := os.Stat(none); !os.IsNotExist(err) {
		t.Errorf("a folder was made: %v", err)
	}
}
