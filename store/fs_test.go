package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRealFiles(t *testing.T) {
	fs, err := openFolder(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := fs.create("a", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := f.size(); err != nil || n != 1<<20 {
		t.Fatalf("size %d, %v", n, err)
	}
	if _, err := fs.create("a", 1); !errors.Is(err, os.ErrExist) {
		t.Errorf("made twice: %v", err)
	}
	// More buffers than one system call takes, empty ones among them.
	var buffers [][]byte
	for i := range 3000 {
		buffers = append(buffers, bytes.Repeat([]byte{byte(i)}, i%7))
	}
	if err := f.write(buffers, 100); err != nil {
		t.Fatal(err)
	}
	if err := f.sync(); err != nil {
		t.Fatal(err)
	}
	want := bytes.Join(buffers, nil)
	got := make([]byte, len(want))
	if _, err := f.ReadAt(got, 100); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("read back: equal %v, %v", bytes.Equal(got, want), err)
	}
	if err := f.punch(0, 4096); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		t.Logf("no holes here: %v", err)
	} else if _, err := f.ReadAt(got[:50], 100); err != nil || !bytes.Equal(got[:50], make([]byte, 50)) {
		t.Errorf("a hole reads %x, %v", got[:50], err)
	}
	if err := errors.Join(fs.rename("a", "b"), fs.syncDir()); err != nil {
		t.Fatal(err)
	}
	if names, err := fs.list(); err != nil || strings.Join(names, " ") != "b" {
		t.Errorf("names %v, %v", names, err)
	}
	if free, err := fs.free(); err != nil || free == 0 {
		t.Errorf("free %d, %v", free, err)
	}
	if err := errors.Join(f.Close(), fs.remove("b"), removeQuietly(fs, "b")); err != nil {
		t.Error(err)
	}
	if _, err := fs.open("b"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("opened what was removed: %v", err)
	}
}

func TestPoolKeepsFilesUnderNewNames(t *testing.T) {
	files := newFaultFS()
	p := &pool{fs: files, size: 1000, want: 2, most: 3, nextID: 7, wake: make(chan struct{}, 1)}
	if err := p.fill(); err != nil || p.count() != 2 {
		t.Fatalf("%d files, %v", p.count(), err)
	}
	first, err := p.take(100)
	if err != nil || first.id != 7 {
		t.Fatalf("took %+v, %v", first, err)
	}
	large, err := p.take(5000)
	if err != nil || large.size != 5000+segmentHead {
		t.Fatalf("for a large batch: %+v, %v", large, err)
	}
	for _, f := range []preparedFile{first, large} {
		if err := p.recycle(f.id, f.size, f.file); err != nil {
			t.Fatal(err)
		}
	}
	if names, _ := files.list(); strings.Join(names, " ") != segmentName(8)+" "+segmentName(10) {
		t.Fatalf("files %v", names)
	}
	p.want = 1
	if err := p.trim(); err != nil || p.count() != 1 {
		t.Fatalf("%d files after trimming, %v", p.count(), err)
	}
	files.setSpace(0)
	p.want = 2
	if err := p.fill(); !errors.Is(err, ErrFull) {
		t.Fatalf("on a full disk: %v", err)
	}
	if ready, failed := p.stats(); ready != 1 || failed != 1 {
		t.Errorf("%d ready, %d failed", ready, failed)
	}
}

func TestSegmentNames(t *testing.T) {
	for name, want := range map[string]uint64{segmentName(0xabc): 0xabc, segmentName(1 << 63): 1 << 63} {
		if id, ok := parseSegmentName(name); !ok || id != want {
			t.Errorf("%s: %d, %v", name, id, ok)
		}
	}
	for _, name := range []string{"", ".seg", "1.seg", spillName(1), "000000000000000g.seg", "notes.txt"} {
		if _, ok := parseSegmentName(name); ok {
			t.Errorf("%q passes for a segment", name)
		}
	}
}
