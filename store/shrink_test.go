package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

const shrunkSize = 256 << 10

// swell moves one and a half megabytes of bodies into the root file and settles nearly all of them.
func swell(l *life) {
	l.t.Helper()
	for range 100 {
		l.confirmed(l.send(1, 10, 1500))
	}
	l.until("bodies have moved", func() bool { return bodiesIn(l.t, l.Disk) > 900 && l.Stats().Segments <= 1 })
	l.Settle(1, []Range{{11, 990}})
	l.applied()
}

func TestRootFileShrinksWhileTheBrokerRuns(t *testing.T) {
	l := begin(t, t.TempDir(), newFaultFS(), func(o *Options) { o.RelocateThreshold, o.shrinkFrom = 1, shrunkSize })
	if err := l.Commit(Change{Bucket: "b", Key: "k", Value: []byte("v")}); err != nil {
		t.Fatal(err)
	}
	swell(l)
	l.until("the root file is small", func() bool { return l.Stats().RootBytes < shrunkSize })
	check := func() {
		l.has(1, Range{1, 10}, Range{991, 1000})
		found := ""
		if err := l.Load("b", func(k string, v []byte) error { found += k + string(v); return nil }); err != nil || found != "kv" {
			t.Fatalf("definitions %q, %v", found, err)
		}
	}
	check()
	if err := l.Commit(Change{Bucket: "b", Key: "other", Value: []byte("w")}, Change{Bucket: "b", Key: "other"}); err != nil {
		t.Fatal(err)
	}
	l.confirmed(l.send(2, 5, 100))
	l = l.kill()
	check()
	l.has(2, Range{1, 5})
	l.end()
}

func TestRootFileShrinksAtAStart(t *testing.T) {
	dir, files := t.TempDir(), newFaultFS()
	l := begin(t, dir, files, func(o *Options) { o.RelocateThreshold, o.shrinkFrom = 1, 1<<40 })
	swell(l)
	l.until("their bodies go", func() bool { return bodiesIn(t, l.Disk) < 30 })
	l.end()
	leftover := filepath.Join(dir, shrunkName)
	if err := os.WriteFile(leftover, []byte("cut short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := l.Stats().RootBytes; n < 1<<20 {
		t.Fatalf("the root file has %d bytes", n)
	}
	l = begin(t, dir, files, func(o *Options) { o.shrinkFrom = shrunkSize })
	defer l.end()
	if n := l.Stats().RootBytes; n >= shrunkSize {
		t.Errorf("the root file has %d bytes", n)
	}
	if _, err := os.Stat(leftover); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the leftover of a crash: %v", err)
	}
	l.has(1, Range{1, 10}, Range{991, 1000})
}

// A root file that can't be shrunk is used as it is.
func TestRootFileThatCanNotShrink(t *testing.T) {
	dir, files := t.TempDir(), newFaultFS()
	obstacle := filepath.Join(dir, shrunkName, "x")
	if err := os.MkdirAll(obstacle, 0o700); err != nil {
		t.Fatal(err)
	}
	small := func(o *Options) { o.RelocateThreshold, o.shrinkFrom = 1, shrunkSize }
	l := begin(t, dir, files, small)
	swell(l)
	l.until("their bodies go", func() bool { return bodiesIn(t, l.Disk) < 30 })
	l.has(1, Range{1, 10}, Range{991, 1000})
	l.end()
	l = begin(t, dir, files, small)
	defer l.end()
	l.has(1, Range{1, 10}, Range{991, 1000})
	if n := l.Stats().RootBytes; n < 1<<20 {
		t.Errorf("the root file has %d bytes", n)
	}
}

// When the new file's name may not last, nothing that is committed to it would either: the store has failed.
func TestRootFileWhoseNameMayNotLast(t *testing.T) {
	fault := errors.New("no sync")
	l := begin(t, t.TempDir(), newFaultFS(), func(o *Options) {
		o.RelocateThreshold, o.shrinkFrom = 1, shrunkSize
		o.hook = func(step string) error {
			if step == "swapped" {
				return fault
			}
			return nil
		}
	})
	swell(l)
	l.until("the store has failed", func() bool { return l.Err() != nil })
	if !errors.Is(l.Err(), fault) {
		t.Errorf("failed with %v", l.Err())
	}
	l.kill().end()
}

// Readers and writers go on while one file takes the place of the other.
func TestRootFileIsUsedWhileItShrinks(t *testing.T) {
	r, err := openRoot(t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); r.run() }()
	reading := make(chan error, 1)
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				reading <- nil
				return
			default:
			}
			if err := r.view(checkVersion); err != nil {
				reading <- err
				return
			}
		}
	}()
	for n := range uint64(20) {
		err := errors.Join(
			r.update(func(tx *bbolt.Tx) error { return putValue(tx, bucketQueues, uint64Key(n), []byte{1}) }),
			r.request(&change{}),
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	if err := <-reading; err != nil {
		t.Error(err)
	}
	err = r.view(func(tx *bbolt.Tx) error { return checkCount(tx, bucketQueues, 20) })
	r.close()
	<-done
	if err := errors.Join(err, r.closeFile()); err != nil {
		t.Error(err)
	}
}
