package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

// killed is the image of a killed store with messages in several segments, the older of which are in a checkpoint.
func killed(t *testing.T) (m image, count int) {
	t.Helper()
	var rig crashRig
	rig.t, rig.dir, rig.files = t, t.TempDir(), newFaultFS()
	o := crashOptions(rig.files, 0)
	o.hook = rig.hook
	s, err := Open(rig.dir, o)
	if err != nil {
		t.Fatal(err)
	}
	l := &life{Disk: s, t: t, dir: rig.dir, files: rig.files, next: map[uint64]uint64{}}
	for range 60 {
		l.confirmed(l.send(1, 10, 500))
		count += 10
	}
	l.until("a checkpoint was made", func() bool { return l.Stats().Checkpoints > 0 })
	l.confirmed(l.send(1, 10, 500))
	count += 10
	rig.mu.Lock()
	rig.at = rig.steps + 1
	rig.mu.Unlock()
	rig.step("kill")
	l.end()
	return *rig.image, count
}

// clone copies an image, so that it can be damaged.
func (m image) clone() image {
	return image{files: m.files.afterPowerCut(nil), root: slices.Clone(m.root)}
}

// count opens an image and counts what is there, what is reported lost, and what recovery reported.
func (m image) count(t *testing.T) (there, lost, damage int, err error) {
	t.Helper()
	s, err := m.reopen(t, t.TempDir(), crashOptions(nil, 0))
	if err != nil {
		return 0, 0, 0, err
	}
	defer func() {
		if err := s.Close(context.Background()); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Error(err)
		}
	}()
	want := make([]byte, 500)
	for from := uint64(1); from < 1<<40; {
		w, err := s.Read(1, []Range{{from, 1 << 40}}, 64<<10)
		if err != nil {
			return there, lost, damage, err
		}
		for _, message := range w.Messages {
			if !bytes.Equal(message.Body, want) {
				t.Fatalf("message %d has another body", message.Seq)
			}
		}
		there += len(w.Messages)
		for _, r := range w.Lost {
			lost += int(r.Last - r.First + 1)
		}
		from = w.Next
	}
	return there, lost, len(s.Report().Damage), nil
}

// A flipped bit in what was synced costs one message at most, and never in silence.
func TestBitFlipInTheLog(t *testing.T) {
	m, count := killed(t)
	if there, _, damage, err := m.clone().count(t); there != count || damage != 0 || err != nil {
		t.Fatalf("undamaged: %d of %d messages, damage %d, %v", there, count, damage, err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	names := slices.Sorted(maps.Keys(m.files.names))
	hits := 0
	for range 300 {
		broken := m.clone()
		name := names[random.IntN(len(names))]
		data := broken.files.names[name].data
		at := random.IntN(len(data))
		if random.IntN(4) == 0 { // headers, and the first record
			at = random.IntN(200)
		}
		data[at] ^= 1 << random.IntN(8)
		there, lost, damage, err := broken.count(t)
		if err != nil {
			t.Fatalf("%s at %d: %v", name, at, err)
		}
		if there < count-1 {
			t.Fatalf("%s at %d: %d of %d messages", name, at, there, count)
		}
		if there < count && lost+damage == 0 {
			t.Fatalf("%s at %d: a message is gone and nobody says so", name, at)
		}
		hits += count - there
	}
	if hits == 0 {
		t.Fatal("no flip hit anything")
	}
}

// A flipped bit in the root file is found by its checksum, or by bbolt's, or hits what is not used.
func TestBitFlipInTheRootFile(t *testing.T) {
	m, count := killed(t)
	random := rand.New(rand.NewPCG(3, 4))
	found := 0
	for range 200 {
		broken := m.clone()
		at := random.IntN(len(broken.root))
		broken.root[at] ^= 1 << random.IntN(8)
		there, lost, damage, err := broken.count(t)
		if err != nil {
			found++
			continue
		}
		if there < count && lost+damage == 0 || there+lost > count {
			t.Fatalf("flip at %d: %d of %d messages, %d reported lost, damage %d", at, there, count, lost, damage)
		}
	}
	t.Logf("%d of 200 flips kept the store from opening", found)
}

func TestMissingAndCutFiles(t *testing.T) {
	m, count := killed(t)
	for _, name := range slices.Sorted(maps.Keys(m.files.names)) {
		broken := m.clone()
		delete(broken.files.names, name)
		there, _, _, err := broken.clone().count(t)
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatalf("without %s: %v", name, err)
		}
		if err == nil && there != count && name != newest(m) {
			t.Fatalf("without %s: opened with %d of %d messages", name, there, count)
		}
		broken = m.clone()
		f := broken.files.names[name]
		f.data = f.data[:len(f.data)/3]
		there, lost, damage, err := broken.count(t)
		if err != nil {
			t.Fatalf("cut %s: %v", name, err)
		}
		if there < count && damage+lost == 0 && name != newest(m) {
			t.Fatalf("cut %s: %d of %d messages and no damage reported", name, there, count)
		}
	}
}

// newest is the segment that was written last.
func newest(m image) (name string) {
	pos := uint64(0)
	for n, f := range m.files.names {
		if h, err := parseSegmentHeader(f.data); err == nil && segmentName(h.id) == n && h.pos >= pos {
			name, pos = n, h.pos
		}
	}
	return name
}

func TestOtherVersionIsRefused(t *testing.T) {
	m, _ := killed(t)
	f := m.files.names[newest(m)]
	f.data[8] = formatVersion + 1
	binary.LittleEndian.PutUint32(f.data[60:], crc32.Checksum(f.data[:60], castagnoli))
	if _, _, _, err := m.count(t); !errors.Is(err, ErrVersion) {
		t.Fatalf("opened a segment of another version: %v", err)
	}
}

func TestUnknownFilesStay(t *testing.T) {
	m, count := killed(t)
	f, err := m.files.create("notes.txt", 10)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.write([][]byte{[]byte("keep me")}, 0); err != nil {
		t.Fatal(err)
	}
	if there, _, _, err := m.count(t); err != nil || there != count {
		t.Fatal(there, err)
	}
	names, err := m.files.list()
	if err != nil || !strings.Contains(strings.Join(names, " "), "notes.txt") {
		t.Fatalf("files %v, %v", names, err)
	}
}

// An operator may accept that a segment is gone; the queue goes on without its messages, and the next start is not told again.
func TestAcceptedLoss(t *testing.T) {
	m, count := killed(t)
	gone := ""
	for _, name := range slices.Sorted(maps.Keys(m.files.names)) {
		broken := m.clone()
		delete(broken.files.names, name)
		if _, _, _, err := broken.count(t); errors.Is(err, ErrCorrupt) {
			gone = name
			break
		}
	}
	if gone == "" {
		t.Fatal("no segment is needed")
	}
	delete(m.files.names, gone)
	dir := t.TempDir()
	o := crashOptions(nil, 0)
	o.AcceptDataLoss = true
	s, err := m.reopen(t, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Report().Damage); n == 0 {
		t.Error("nothing was reported")
	}
	messages, err := readQueue(s, 1)
	if err != nil || len(messages) == 0 || len(messages) == count {
		t.Fatalf("%d of %d messages, %v", len(messages), count, err)
	}
	closeStore(t, s)
	o.AcceptDataLoss, o.files = false, m.files
	if s, err = Open(dir, o); err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, s)
	again, err := readQueue(s, 1)
	if err != nil || len(again) != len(messages) || len(s.Report().Damage) != 0 {
		t.Fatalf("%d of %d messages at the next start, damage %v, %v", len(again), len(messages), s.Report().Damage, err)
	}
}

// A chunk whose summary can't be read keeps the store from opening, unless its loss is accepted; its neighbours stay.
func TestAcceptedLossOfTheIndex(t *testing.T) {
	m, count := killed(t)
	dir := t.TempDir()
	breakChunk(t, dir, m.root)
	o := crashOptions(m.files, 0)
	if _, err := Open(dir, o); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("opened with a damaged index: %v", err)
	}
	o.AcceptDataLoss = true
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := readQueue(s, 1)
	if err != nil || len(messages) == 0 || len(messages) == count {
		t.Fatalf("%d of %d messages, %v", len(messages), count, err)
	}
	closeStore(t, s)
	o.AcceptDataLoss = false
	if s, err = Open(dir, o); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
}

// breakChunk writes a root file and damages one value in it.
func breakChunk(t *testing.T, dir string, root []byte) {
	t.Helper()
	path := filepath.Join(dir, rootName)
	if err := os.WriteFile(path, root, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Update(func(tx *bbolt.Tx) error {
		k, v := tx.Bucket(bucketChunks).Cursor().First()
		broken := slices.Clone(v)
		broken[0] ^= 1
		return tx.Bucket(bucketChunks).Put(slices.Clone(k), broken)
	})
	if err != nil {
		t.Fatal(err)
	}
}
