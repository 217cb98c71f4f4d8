package store

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

func notesText(notes []Note) string {
	var words []string
	for _, n := range notes {
		words = append(words, fmt.Sprintf("%d=%s", n.Seq, n.Data))
	}
	return strings.Join(words, " ")
}

// noted is what recovery tells of a queue's notes.
func (l *life) noted(queue uint64) (text string) {
	l.Queues(func(q QueueState) {
		if q.ID == queue {
			text = notesText(q.Notes)
		}
	})
	return text
}

func TestLatestNotes(t *testing.T) {
	var packed []byte
	for _, n := range []Note{{3, []byte("a")}, {1, []byte("b")}, {3, nil}, {9, []byte("c")}, {2, []byte("d")}, {1, []byte("e")}} {
		packed = packNote(packed, n.Seq, n.Data)
	}
	keep := func(seq uint64) bool { return seq != 2 }
	const want = "1=e 3= 9=c"
	if got := notesText(latestNotes(packed, keep)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := notesText(latestNotes(repackNotes(packed, keep), keep)); got != want {
		t.Errorf("packed again: %q, want %q", got, want)
	}
	for n := range packed { // what is cut off costs the last note and nothing else
		latestNotes(packed[:n], keep)
	}
}

// The same message annotated a thousand times keeps one note in memory, about.
func TestNotesOfAChunkAreDroppedWhenReplaced(t *testing.T) {
	x := newIndex()
	seg := &segment{id: 1, size: 1 << 20}
	for seq := uint64(1); seq <= 3; seq++ {
		x.publish(seg, entry{offset: int64(100 * seq), size: 50, body: 30}, []Pair{{Queue: 1, Seq: seq}})
	}
	for i := range 1000 {
		x.annotate(1, []Note{{Seq: 2, Data: fmt.Appendf(nil, "%d", i)}, {Seq: 3, Data: []byte("x")}, {Seq: 4, Data: []byte("nobody")}})
	}
	c := x.lanes[1].chunks[0]
	if len(c.notes) > 200 || x.noteBytes != len(c.notes) {
		t.Errorf("%d bytes of notes, counted %d", len(c.notes), x.noteBytes)
	}
	if got := notesText(latestNotes(c.notes, c.aliveAt)); got != "1=999 2=x" {
		t.Errorf("kept %q", got)
	}
	x.settle(1, []Range{{1, 3}}, false)
	if x.noteBytes != 0 {
		t.Errorf("%d bytes of notes without a message", x.noteBytes)
	}
}

func TestNotesThatAreTooLongAreABug(t *testing.T) {
	for _, s := range []interface{ Annotate(uint64, []Note) }{NewMemory(), &Disk{}} {
		func() {
			defer func() {
				if cause := recover(); cause == nil || !strings.HasPrefix(fmt.Sprint(cause), "BUG") {
					t.Errorf("%T took it: %v", s, cause)
				}
			}()
			s.Annotate(1, []Note{{Seq: 1, Data: make([]byte, MaxNote+1)}})
		}()
	}
}

// Notes outlive crashes, checkpoints and the move of their message into the root file, and go with it.
func TestNotesFollowTheirMessage(t *testing.T) {
	l := begin(t, t.TempDir(), newFaultFS(), nil)
	l.confirmed(l.send(1, 5, 100))
	l.Annotate(1, []Note{{1, []byte("a")}, {2, []byte("b")}, {5, []byte("c")}, {6, []byte("not yet there")}})
	l.Annotate(7, []Note{{1, []byte("no such queue")}})
	l.confirmed(l.send(1, 5, 100))
	if l = l.kill(); l.noted(1) != "1=a 2=b 5=c" {
		t.Fatalf("after a crash: %s", l.noted(1))
	}
	for range 30 { // so that what there is gets saved and moves
		l.confirmed(l.send(2, 20, 500))
	}
	l.Settle(2, []Range{{1, 600}})
	l.until("what is left has moved", func() bool { return bodiesIn(t, l.Disk) == 10 })
	l.Annotate(1, []Note{{2, []byte("B")}, {3, []byte("d")}})
	l.Settle(1, []Range{{1, 1}})
	l.confirmed(l.send(2, 1, 1))
	if l = l.kill(); l.noted(1) != "2=B 3=d 5=c" {
		t.Fatalf("after a move: %s", l.noted(1))
	}
	if again := l.noted(1); again != "" {
		t.Errorf("told twice: %s", again)
	}
	l.Settle(1, []Range{{1, 10}})
	l.applied()
	l.end()
	s, err := Open(l.dir, crashOptions(l.files, 0.25))
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, s)
	if n := countKeys(t, s, bucketNotes); n != 0 {
		t.Errorf("%d keys of notes are left", n)
	}
}

func countKeys(t *testing.T, s *Disk, bucket []byte) (n int) {
	t.Helper()
	if err := s.root.view(func(tx *bbolt.Tx) error { n = tx.Bucket(bucket).Stats().KeyN; return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}

// A checkpoint that could not be written leaves the notes for the next one, and newer ones stay the last.
func TestNotesOfAFailedCheckpoint(t *testing.T) {
	x := newIndex()
	seg := &segment{id: 1, size: 1 << 20}
	x.publish(seg, entry{offset: 100, size: 50, body: 30}, []Pair{{Queue: 1, Seq: 1}})
	x.annotate(1, []Note{{1, []byte("old")}})
	for range 2 { // not yet saved, then saved
		todo := x.save([]*segment{seg})
		p, _ := x.nextStep(&todo)
		if len(p.notes) != 1 || x.noteBytes != 0 {
			t.Fatalf("step %+v", p)
		}
		x.annotate(1, []Note{{1, []byte("new")}})
		x.undo(p, todo.changes)
		c := x.lanes[1].chunks[0]
		if got := notesText(latestNotes(c.notes, c.aliveAt)); got != "0=new" || x.noteBytes != len(c.notes) {
			t.Fatalf("kept %q, counted %d", got, x.noteBytes)
		}
		todo = x.save([]*segment{seg})
		if p, _ = x.nextStep(&todo); len(p.notes) != 1 {
			t.Fatalf("next step %+v", p)
		}
		x.annotate(1, []Note{{1, []byte("later")}})
	}
}

// A damaged note costs the notes of its chunk, is reported, and keeps nothing from being used.
func TestDamagedNotes(t *testing.T) {
	dir := t.TempDir()
	l := begin(t, dir, newFaultFS(), nil)
	l.confirmed(l.send(1, 5, 100))
	l.Annotate(1, []Note{{1, []byte("a")}})
	l.end()
	r, err := openRoot(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	err = r.write(func(tx *bbolt.Tx) error {
		k, v := tx.Bucket(bucketNotes).Cursor().First()
		return tx.Bucket(bucketNotes).Put(k, append(bytes.Clone(v), 1))
	})
	if err := errors.Join(err, r.closeFile()); err != nil {
		t.Fatal(err)
	}
	l = begin(t, dir, l.files, nil)
	defer l.end()
	if got := l.noted(1); got != "" || !slices.ContainsFunc(l.Report().Damage, func(d Damage) bool { return !d.Torn }) {
		t.Errorf("notes %q, damage %v", got, l.Report().Damage)
	}
	l.has(1, Range{1, 5})
}

// A root file from before there were notes is opened, and looked at.
func TestRootFileWithoutNotes(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	r, err := openRoot(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(r.write(func(tx *bbolt.Tx) error { return tx.DeleteBucket(bucketNotes) }), r.closeFile(), Check(dir, &bytes.Buffer{}))
	if err != nil {
		t.Fatal(err)
	}
	if s, err = Open(dir, DefaultOptions()); err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, s)
	if err := s.root.view(func(tx *bbolt.Tx) error { _ = tx.Bucket(bucketNotes).Stats(); return nil }); err != nil {
		t.Fatal(err)
	}
}
