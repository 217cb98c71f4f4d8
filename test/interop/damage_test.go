package interop

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDamageCostsItsMessage damages the newest file of the log of a killed broker in several ways. It starts all the same, says what was
// damaged, and has everything else.
func TestDamageCostsItsMessage(t *testing.T) {
	tests := []struct {
		name   string
		damage func(t *testing.T, file string, body int64)
		lost   int // at most
	}{
		{"the file cut by some octets", cutFile, 0},
		{"octets of a message overwritten", overwrite(0, 64), 1},
		{"the header of a message overwritten", overwrite(-60, 20), 2},
		{"a page of zeros", overwriteZero(4096), 25},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLives(t)
			if l == nil {
				return
			}
			s := l.dial()
			s.durable("hit")
			s.durable("other")
			s.keep("", "other", numbers(1, 20)...)
			s.keep("", "hit", longBodies(200)...)
			s.keep("", "other", numbers(21, 40)...)
			l.kill()
			file, at := l.findBody(longBodies(200)[99])
			tt.damage(t, file, at)
			l.start()
			s = l.dial()
			s.wantGot("other", strings.Join(numbers(1, 40), "! ")+"!")
			l.wantLost(s, tt.lost)
			s.keep("", "hit", "after")
			l.crash()
			l.dial().wantGot("hit", "after!")
		})
	}
}

// wantLost takes what is left of the damaged queue: all but a few neighbours, in order, each as it was.
func (l *lives) wantLost(s *session, most int) {
	l.t.Helper()
	want := longBodies(200)
	got := s.got("hit", len(want), true)
	lost := 0
	for _, body := range got {
		for lost < len(want) && body != want[lost]+"!" {
			want = append(want[:lost], want[lost+1:]...)
		}
		lost++
	}
	if n := 200 - len(got); len(want) != len(got) || n > most {
		l.t.Errorf("of 200 messages %d are there, %d of them as they were; %d may be lost", len(got), len(want), most)
	} else if n > 0 && !strings.Contains(string(l.log()), "damage") {
		l.t.Error("the log tells of no damage")
	}
	l.settled(s)
}

func longBodies(n int) (bodies []string) {
	for i := range n {
		bodies = append(bodies, fmt.Sprintf("message %04d %s", i, strings.Repeat("x", 200)))
	}
	return bodies
}

// findBody finds the segment file that holds a body, and where.
func (l *lives) findBody(body string) (file string, at int64) {
	l.t.Helper()
	files, err := filepath.Glob(filepath.Join(l.dir, "data", "log", "*"))
	if err != nil {
		l.t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			l.t.Fatal(err)
		}
		if i := bytes.Index(text, []byte(body)); i >= 0 {
			return file, int64(i)
		}
	}
	l.t.Fatalf("%q is in none of %q", body, files)
	return "", 0
}

func cutFile(t *testing.T, file string, _ int64) {
	info, err := os.Stat(file)
	if err == nil {
		err = os.Truncate(file, info.Size()-77)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// overwrite puts other octets at a distance from a body's beginning.
func overwrite(distance int64, n int) func(t *testing.T, file string, body int64) {
	return func(t *testing.T, file string, body int64) {
		patch(t, file, body+distance, bytes.Repeat([]byte{0xA5}, n))
	}
}

func overwriteZero(n int) func(t *testing.T, file string, body int64) {
	return func(t *testing.T, file string, body int64) { patch(t, file, body, make([]byte, n)) }
}

func patch(t *testing.T, file string, at int64, octets []byte) {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(octets, at); err != nil {
		t.Fatal(err)
	}
}

// TestSpaceComesBack publishes far more than a segment, purges, and waits for the disk to be as empty as before.
func TestSpaceComesBack(t *testing.T) {
	l := newLives(t, "--log-level", "warn")
	if l == nil {
		return
	}
	s := l.dial()
	s.durable("jobs")
	s.durable("stuck")
	body := strings.Repeat("x", 1<<20)
	for range 4 {
		s.keep("", "stuck", "one that stays")
		for range 25 {
			s.keep("", "jobs", body, body, body, body)
		}
	}
	if n, err := s.ch.QueuePurge("jobs", false); err != nil || n != 400 {
		t.Fatalf("purged %d, %v", n, err)
	}
	// The log writes to one file and keeps a few for use again.
	const base = 7 * 32 << 20
	poll(t, func() error {
		if used := l.diskUsed(); used > base {
			return fmt.Errorf("%d bytes of disk are used", used)
		}
		return l.noDeletedFiles()
	})
	l.crash()
	l.dial().wantGot("stuck", "one that stays! one that stays! one that stays! one that stays!")
}

// diskUsed is how many bytes the data folder takes.
func (l *lives) diskUsed() (n int64) {
	filepath.WalkDir(filepath.Join(l.dir, "data"), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

// noDeletedFiles looks for files of the data folder that the process holds open although they are deleted.
func (l *lives) noDeletedFiles() error {
	fds := fmt.Sprintf("/proc/%d/fd", l.cmd.Process.Pid)
	entries, err := os.ReadDir(fds)
	if err != nil {
		return err
	}
	for _, e := range entries {
		target, _ := os.Readlink(filepath.Join(fds, e.Name()))
		if strings.HasPrefix(target, l.dir) && strings.HasSuffix(target, "(deleted)") {
			return fmt.Errorf("%s is held open", target)
		}
	}
	return nil
}
