package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// image is what a crash leaves: the folder of the log, the root file, and what had been confirmed until then.
type image struct {
	files   *faultFS
	root    []byte
	durable LSN
}

// crashRig runs a store on a faultFS and takes an image at its Nth step.
type crashRig struct {
	t      *testing.T
	dir    string
	files  *faultFS
	random *rand.Rand // what the power cut loses; nil for a kill
	at     int        // the step

	mu    sync.Mutex // of the steps
	steps int
	image *image
	root  sync.Mutex // held while the root file is written
	s     *Disk
}

// step counts; at the crash point it takes the image.
func (r *crashRig) step(string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.steps++; r.steps != r.at || r.image != nil {
		return
	}
	durable := LSN(0)
	if r.s != nil {
		durable = r.s.Durable()
	}
	r.root.Lock()
	root, err := os.ReadFile(filepath.Join(r.dir, rootName))
	r.root.Unlock()
	if err != nil {
		r.t.Error(err)
	}
	r.image = &image{files: r.files.afterPowerCut(r.random), root: root, durable: durable}
}

// hook is the store's: a root file that is being written is not copied.
func (r *crashRig) hook(step string) error {
	switch step {
	case "committing":
		r.step(step)
		r.root.Lock()
	case "committed":
		r.root.Unlock()
		r.step(step)
	default:
		r.step(step)
	}
	return nil
}

func crashOptions(files *faultFS, threshold float64) Options {
	return Options{SegmentSize: 64 << 10, BatchSize: 16 << 10, RelocateThreshold: threshold, files: files, shrinkFrom: 64 << 10}
}

// reopen opens a store on an image in a folder of its own.
func (m *image) reopen(t *testing.T, dir string, o Options) (*Disk, error) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, rootName), m.root, 0o600); err != nil {
		t.Fatal(err)
	}
	o.files = m.files
	return Open(dir, o)
}

// sent is one message of the workload.
type sent struct {
	queue, seq uint64
	body       []byte
	lsn        LSN
	group      int  // of an atomic batch, 0: none
	settled    bool // or may be
	groupOff   int  // settled by this atomic batch
	notes      []givenNote
}

// givenNote is a note and the first batch behind it: once that is durable, the note is.
type givenNote struct {
	data   string
	behind LSN
}

// workload is a broker's day in short: batches for several queues, fan-out, atomic batches with settlements, acks in and out of
// order, one queue that is never acked and one that is dropped.
type workload struct {
	random   *rand.Rand
	s        *Disk
	sent     []*sent
	next     map[uint64]uint64
	live     map[uint64][]*sent
	groups   int
	groupLSN map[int]LSN
	fresh    []*sent // with notes behind which there is no batch yet
}

func newWorkload(s *Disk, seed uint64) *workload {
	return &workload{
		random: rand.New(rand.NewPCG(seed, 1)), s: s,
		next: map[uint64]uint64{}, live: map[uint64][]*sent{}, groupLSN: map[int]LSN{},
	}
}

func (w *workload) body(queue uint64) []byte {
	size := w.random.IntN(400)
	if w.random.IntN(60) == 0 {
		size = w.random.IntN(100_000)
	}
	b := binary.LittleEndian.AppendUint64(nil, w.random.Uint64())
	return append(b, bytes.Repeat([]byte{byte(queue)}, size)...)
}

// round appends one batch and settles some of what is live.
func (w *workload) round() {
	var b Batch
	group := 0
	if w.random.IntN(5) == 0 {
		w.groups++
		b.Atomic, group = true, w.groups
		w.settleSome(&b, group)
	}
	var fresh []*sent
	for range 1 + w.random.IntN(12) {
		queue := 1 + w.random.Uint64N(4)
		body := w.body(queue)
		b.Publish(body, uint32(queue))
		queues := []uint64{queue}
		if w.random.IntN(6) == 0 {
			queues = []uint64{1, 2, 3, 4}
		}
		for _, q := range queues {
			b.To(q)
			fresh = append(fresh, &sent{queue: q, body: body, group: group})
		}
	}
	led := w.random.IntN(2) == 0
	b.Led = led
	lsn := w.s.Append(&b, func() {
		for i := range b.Pairs() {
			w.next[fresh[i].queue]++
			fresh[i].seq = w.next[fresh[i].queue]
			if w.random.IntN(10) == 0 { // a transient message took a number between
				w.next[fresh[i].queue]++
				fresh[i].seq++
			}
			b.Pairs()[i].Seq = fresh[i].seq
		}
	})
	if led {
		w.s.Lead()
	}
	w.groupLSN[group] = lsn
	for _, m := range w.fresh {
		for i := range m.notes {
			if m.notes[i].behind == 0 {
				m.notes[i].behind = lsn
			}
		}
	}
	w.fresh = w.fresh[:0]
	for _, m := range fresh {
		m.lsn = lsn
		w.sent = append(w.sent, m)
		w.live[m.queue] = append(w.live[m.queue], m)
	}
	w.settleSome(nil, 0)
	w.annotateSome()
}

// annotateSome gives notes to messages of one queue, to some more than once.
func (w *workload) annotateSome() {
	queue := 1 + w.random.Uint64N(4)
	live := w.live[queue]
	if len(live) == 0 || w.random.IntN(3) > 0 {
		return
	}
	var notes []Note
	for range 1 + w.random.IntN(30) {
		m := live[w.random.IntN(len(live))]
		data := fmt.Sprintf("note %d%s", len(m.notes), bytes.Repeat([]byte("x"), w.random.IntN(20)))
		m.notes = append(m.notes, givenNote{data: data})
		w.fresh = append(w.fresh, m)
		notes = append(notes, Note{Seq: m.seq, Data: []byte(data)})
	}
	w.s.Annotate(queue, notes)
}

// checkNotes says whether each message has its last note, or one behind which nothing was confirmed.
func (w *workload) checkNotes(s *Disk, durable LSN) error {
	found := map[uint64]map[uint64]string{}
	for _, q := range s.recovered {
		found[q.ID] = map[uint64]string{}
		for _, n := range q.Notes {
			found[q.ID][n.Seq] = string(n.Data)
			if !s.index.live(q.ID, n.Seq, false) {
				return fmt.Errorf("queue %d has a note for message %d, which is gone", q.ID, n.Seq)
			}
		}
	}
	for _, m := range w.sent {
		if !s.index.live(m.queue, m.seq, false) {
			continue
		}
		note, there := found[m.queue][m.seq]
		has, safe := -1, -1
		for i, n := range m.notes {
			if there && n.data == note {
				has = i
			}
			if n.behind != 0 && n.behind <= durable {
				safe = i
			}
		}
		if has < safe || there && has < 0 {
			return fmt.Errorf("queue %d message %d has note %q, number %d; %d was confirmed", m.queue, m.seq, note, has, safe)
		}
	}
	return nil
}

// settleSome acks from the heads, and now and then from the middle.
func (w *workload) settleSome(b *Batch, group int) {
	queue := 1 + w.random.Uint64N(3)
	live := w.live[queue]
	n := w.random.IntN(8)
	if len(live) < n+3 || n == 0 {
		return
	}
	at := 0
	if w.random.IntN(4) == 0 {
		at = w.random.IntN(len(live) - n)
	}
	ranges := []Range{{live[at].seq, live[at+n-1].seq}}
	for _, m := range live[at : at+n] {
		m.settled, m.groupOff = true, group
	}
	if b != nil {
		b.Settle(queue, ranges)
	} else {
		w.s.Settle(queue, ranges)
	}
	w.live[queue] = append(append([]*sent{}, live[:at]...), live[at+n:]...)
}

// check compares a recovered store with what was confirmed.
func (w *workload) check(s *Disk, durable LSN) error {
	found := map[uint64]map[uint64][]byte{}
	for q := uint64(1); q <= 4; q++ {
		messages, err := readQueue(s, q)
		if err != nil {
			return err
		}
		found[q] = map[uint64][]byte{}
		for _, m := range messages {
			found[q][m.Seq] = m.Body
		}
	}
	groups := map[int][2]int{}
	count := 0
	for _, m := range w.sent {
		body, there := found[m.queue][m.seq]
		if there {
			count++
		}
		switch {
		case there && !bytes.Equal(body, m.body):
			return fmt.Errorf("queue %d message %d has another body", m.queue, m.seq)
		case !there && m.lsn <= durable && !m.settled:
			return fmt.Errorf("queue %d message %d was confirmed (%d of %d) and is lost", m.queue, m.seq, m.lsn, durable)
		case !there && m.lsn <= durable && m.groupOff != 0 && w.groupLSN[m.groupOff] == 0:
			return fmt.Errorf("queue %d message %d was settled by a batch that never was", m.queue, m.seq)
		case there && m.groupOff != 0 && w.groupLSN[m.groupOff] <= durable:
			return fmt.Errorf("queue %d message %d was settled by a confirmed atomic batch and is back", m.queue, m.seq)
		}
		if m.group != 0 && !m.settled {
			g := groups[m.group]
			if there {
				g[0]++
			} else {
				g[1]++
			}
			groups[m.group] = g
		}
		delete(found[m.queue], m.seq)
	}
	for id, g := range groups {
		if g[0] > 0 && g[1] > 0 {
			return fmt.Errorf("of atomic batch %d there are %d messages, %d are not", id, g[0], g[1])
		}
	}
	for q, rest := range found {
		if len(rest) > 0 {
			return fmt.Errorf("queue %d holds %d messages that nobody sent", q, len(rest))
		}
	}
	return w.checkNotes(s, durable)
}

func readQueue(s *Disk, queue uint64) (messages []Message, err error) {
	from := uint64(1)
	for {
		w, err := s.Read(queue, []Range{{from, 1 << 40}}, 32<<10)
		if err != nil {
			return nil, err
		}
		if len(w.Lost) > 0 {
			return nil, fmt.Errorf("queue %d lost %v", queue, w.Lost)
		}
		messages = append(messages, w.Messages...)
		if from = w.Next; from > 1<<40 {
			return messages, nil
		}
	}
}

func closeStore(t *testing.T, s *Disk) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
}

// crash runs a workload, crashes at a step, recovers, checks, goes on, crashes again while recovering, and checks once more. It
// reports the number of steps that the first life had, and the first thing that was wrong.
func crash(t *testing.T, files *faultFS, seed uint64, at int, kill bool) (steps int, err error) {
	random := rand.New(rand.NewPCG(seed, uint64(at)))
	threshold := []float64{0, 0.25, 1}[random.IntN(3)]
	rig := &crashRig{t: t, dir: t.TempDir(), files: files, at: at}
	if !kill {
		rig.random = random
	}
	o := crashOptions(files, threshold)
	s, err := Open(rig.dir, o)
	if err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	o.hook = rig.hook
	files.observe = func(op, _ string) { rig.step(op) }
	s, err = Open(rig.dir, o)
	if err != nil {
		t.Fatal(err)
	}
	rig.mu.Lock()
	rig.s = s
	rig.mu.Unlock()
	w := newWorkload(s, seed)
	for range 150 {
		w.round()
	}
	closeStore(t, s)
	rig.mu.Lock()
	steps = rig.steps
	rig.mu.Unlock()
	if rig.image == nil {
		return steps, nil
	}
	return steps, recoverTwice(t, rig.image, w, threshold, random)
}

// recoverTwice opens an image, checks, crashes again somewhere on the way or behind it, and opens that.
func recoverTwice(t *testing.T, m *image, w *workload, threshold float64, random *rand.Rand) error {
	rig := &crashRig{t: t, dir: t.TempDir(), files: m.files, at: 1 + random.IntN(40)}
	if random.IntN(2) == 0 {
		rig.random = random
	}
	o := crashOptions(nil, threshold)
	o.hook = rig.hook
	m.files.observe = func(op, _ string) { rig.step(op) }
	s, err := m.reopen(t, rig.dir, o)
	if err != nil {
		return fmt.Errorf("first recovery: %w", err)
	}
	err = w.check(s, m.durable)
	for _, d := range s.Report().Damage {
		if !d.Torn && err == nil {
			err = fmt.Errorf("false alarm: %v", d)
		}
	}
	closeStore(t, s)
	if err != nil {
		return fmt.Errorf("first recovery: %w", err)
	}
	if rig.image == nil {
		rig.at = rig.steps + 1
		rig.step("closed")
	}
	s, err = rig.image.reopen(t, t.TempDir(), crashOptions(nil, threshold))
	if err != nil {
		return fmt.Errorf("second recovery: %w", err)
	}
	defer closeStore(t, s)
	if err := w.check(s, m.durable); err != nil {
		return fmt.Errorf("second recovery: %w", err)
	}
	return nil
}

// A dozen steps of each run are tried; with LEVERET_CRASH=all every one, of more runs.
func TestCrashAtEveryStep(t *testing.T) {
	runs, points := uint64(3), 12
	if os.Getenv("LEVERET_CRASH") == "all" {
		runs, points = 12, 1<<30
	}
	for _, kill := range []bool{true, false} {
		for seed := range runs {
			steps, _ := crash(t, newFaultFS(), seed, 1<<30, kill)
			for at := 1 + int(seed)*3; at < steps; at += 1 + steps/points {
				t.Run(fmt.Sprintf("kill=%v seed=%d step=%d", kill, seed, at), func(t *testing.T) {
					if _, err := crash(t, newFaultFS(), seed, at, kill); err != nil {
						t.Fatal(err)
					}
				})
			}
		}
	}
}

// A store that does not sync must not pass, or the test above proves nothing.
func TestCrashTestSeesMissingSyncs(t *testing.T) {
	for at := 200; at < 3000; at += 100 {
		files := newFaultFS()
		files.lying = true
		if _, err := crash(t, files, 1, at, false); err != nil {
			t.Logf("step %d: %v", at, err)
			return
		}
	}
	t.Fatal("lost sectors went unnoticed")
}
