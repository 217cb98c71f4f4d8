package store_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"leveret/store"
)

// killedFolder tells a child process of the test to write into a folder until it is killed.
const killedFolder = "LEVERET_KILLED_FOLDER"

// TestKilledWriter is the child's side: it publishes to three queues, settles the first, and prints what was confirmed.
// Without the variable it writes a few rounds into a folder of its own.
func TestKilledWriter(t *testing.T) {
	dir, rounds, out := os.Getenv(killedFolder), 1_000_000, io.Writer(os.Stdout)
	if dir == "" {
		dir, rounds, out = t.TempDir(), 3, io.Discard
	}
	o := store.DefaultOptions()
	o.SegmentSize, o.MinFree = 256<<10, 0
	s, err := store.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, s)
	next := map[uint64]uint64{}
	s.Queues(func(q store.QueueState) { next[q.ID] = q.Next - 1 })
	moved := make(chan struct{}, 1)
	s.OnDurable(func() {
		select {
		case moved <- struct{}{}:
		default:
		}
	})
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	var b store.Batch
	settled := uint64(0)
	for range rounds {
		for range 1 + random.IntN(40) {
			b.Publish(signed(random), 0)
			b.To(1 + random.Uint64N(3))
		}
		lsn := s.Append(&b, func() {
			for i := range b.Pairs() {
				p := &b.Pairs()[i]
				next[p.Queue]++
				p.Seq = next[p.Queue]
			}
		})
		for s.Durable() < lsn {
			<-moved
		}
		settled = max(settled, next[1]-min(next[1], random.Uint64N(30)))
		fmt.Fprintf(out, "confirmed %d %d %d %d\n", settled, next[1], next[2], next[3]) // first: what is said may be gone
		if settled > 0 {
			s.Settle(1, []store.Range{{First: 1, Last: settled}})
		}
	}
}

// signed is a body that carries its own checksum.
func signed(random *rand.Rand) []byte {
	b := make([]byte, 8+random.IntN(3000))
	for i := range b[4:] {
		b[4+i] = byte(random.Uint32())
	}
	binary.LittleEndian.PutUint32(b, crc32.ChecksumIEEE(b[4:]))
	return b
}

// A process that writes is killed again and again, in the same folder. What it said was confirmed is there, in order, with its
// body, for every queue. LEVERET_KILLS sets the number of rounds.
func TestKillNine(t *testing.T) {
	rounds := 8
	if n, err := strconv.Atoi(os.Getenv("LEVERET_KILLS")); err == nil {
		rounds = n
	}
	dir := t.TempDir()
	settled := uint64(0) // by any of the lives
	for round := range rounds {
		last, confirmed := runAndKill(t, dir, time.Duration(20+round*17%200)*time.Millisecond)
		settled = max(settled, last)
		s := open(t, dir, func(o *store.Options) { o.SegmentSize = 256 << 10 })
		for _, d := range s.Report().Damage {
			if !d.Torn {
				t.Fatalf("round %d: %v", round, d)
			}
		}
		for queue := uint64(1); queue <= 3; queue++ {
			checkConfirmed(t, s, queue, settled*(1-min(1, queue-1)), confirmed[queue])
		}
		shut(t, s)
	}
}

// runAndKill runs the writer for a while after it began to confirm, and returns what it said last.
func runAndKill(t *testing.T, dir string, after time.Duration) (settled uint64, confirmed [4]uint64) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestKilledWriter$", "-test.timeout=2m")
	child.Env = append(os.Environ(), killedFolder+"="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	child.Stderr = &stderr
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(time.Minute, func() { child.Process.Kill() })
	lines := bufio.NewReader(out)
	for said := false; ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		if !strings.HasPrefix(line, "confirmed ") {
			t.Log(line)
			continue
		}
		if _, err := fmt.Sscanf(line, "confirmed %d %d %d %d", &settled, &confirmed[1], &confirmed[2], &confirmed[3]); err != nil {
			t.Fatal(line, err)
		}
		if !said {
			said = true
			kill.Reset(after)
		}
	}
	_, _ = io.Copy(io.Discard, out)
	_ = child.Wait() // killed
	if confirmed == [4]uint64{} {
		t.Fatalf("the writer confirmed nothing: %s", &stderr)
	}
	return settled, confirmed
}

// checkConfirmed wants every message above settled up to confirmed, and sound bodies.
func checkConfirmed(t *testing.T, s store.Store, queue, settled, confirmed uint64) {
	t.Helper()
	want := settled + 1
	for _, m := range readAll(t, s, queue) {
		if crc32.ChecksumIEEE(m.Body[4:]) != binary.LittleEndian.Uint32(m.Body) {
			t.Fatalf("queue %d: message %d has a damaged body", queue, m.Seq)
		}
		if m.Seq > settled && m.Seq != want {
			t.Fatalf("queue %d: message %d is missing, %d is there", queue, want, m.Seq)
		}
		want = max(want, m.Seq+1)
	}
	if want <= confirmed {
		t.Fatalf("queue %d ends before %d, %d were confirmed", queue, want, confirmed)
	}
}

// The newest file cut short costs what was cut off; what stands before it is whole, and the store goes on.
func TestTornTailOfRealFiles(t *testing.T) {
	for cut := 1; cut <= 200; cut += 33 {
		dir := t.TempDir()
		settled, _ := runAndKill(t, dir, 20*time.Millisecond)
		names := segmentFiles(t, dir)
		newest, found := names[0], int64(0)
		for _, name := range names {
			if data, err := os.ReadFile(name); err == nil && bytes.HasPrefix(data, []byte("LVRVLOG1")) {
				if end := int64(len(bytes.TrimRight(data, "\x00"))); end > 64 {
					newest, found = name, end
				}
			}
		}
		if err := os.Truncate(newest, found-int64(cut)); err != nil {
			t.Fatal(err)
		}
		s := open(t, dir, nil)
		for queue := uint64(1); queue <= 3; queue++ {
			checkConfirmed(t, s, queue, settled*(1-min(1, queue-1)), 0)
		}
		publish(t, s, 9, 1, body(1, 10))
		shut(t, s)
		s = open(t, dir, nil)
		wantQueue(t, s, 9, 10, store.Range{First: 1, Last: 1})
		shut(t, s)
	}
}
