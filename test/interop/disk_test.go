package interop

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"
	"golang.org/x/sys/unix"
)

// smallDiskSize is room for the segments that the log has at a start, the root file, and a few more of what is published.
const smallDiskSize = 256 << 20

// smallDisk mounts a file system of its own with little space and returns its folder. A shell in a mount namespace holds it, which needs
// no rights beyond a user namespace; others reach it through /proc. Empty where the system has no such namespaces to give.
func smallDisk(t *testing.T) string {
	dir := t.TempDir()
	holder := exec.Command("sh", "-c", fmt.Sprintf("mount -t tmpfs -o size=%d tmpfs %s && echo mounted && read end", smallDiskSize, dir))
	holder.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	end, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Logf("no user namespace: %v", err)
		return ""
	}
	t.Cleanup(func() {
		end.Close()
		holder.Wait() //nolint:errcheck // the shell ends when its input does
	})
	if lines := bufio.NewScanner(out); !lines.Scan() || lines.Text() != "mounted" {
		t.Log("no mount in a user namespace")
		return ""
	}
	return fmt.Sprintf("/proc/%d/root%s", holder.Process.Pid, dir)
}

// freeOf is the space left where a folder is.
func freeOf(t *testing.T, dir string) int64 {
	t.Helper()
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	return int64(st.Bavail) * st.Bsize
}

// diskConfig is a configuration file with a limit of free space.
func diskConfig(t *testing.T, limit int64) string {
	t.Helper()
	config := filepath.Join(t.TempDir(), "disk.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, "disk_free_limit.absolute = %d\n", limit), 0o600); err != nil {
		t.Fatal(err)
	}
	return config
}

// filler publishes messages of a megabyte with confirms until it is told that the broker holds publishers, and counts what was confirmed.
type filler struct {
	*session
	blocked   chan amqp091.Blocking
	ended     chan int // how many were confirmed
	queue     string
	unblocked chan struct{} // closed when the filler may stop
}

// fill starts to publish, and returns when the broker has said that it is full.
func fill(t *testing.T, l *lives, queue string) *filler {
	f := &filler{session: l.dial(), queue: queue, ended: make(chan int, 1), unblocked: make(chan struct{})}
	f.durable(queue)
	f.ok(f.ch.Confirm(false))
	f.blocked = f.conn.NotifyBlocked(make(chan amqp091.Blocking, 100))
	go f.run()
	if state := receive(t, f.blocked, "connection.blocked"); !state.Active || state.Reason == "" {
		t.Errorf("the publisher was told %+v", state)
	}
	return f
}

func (f *filler) run() {
	confirmed := 0
	body := strings.Repeat("x", 1<<20)
	defer func() { f.ended <- confirmed }()
	for n := 0; ; n++ {
		c, err := f.ch.PublishWithDeferredConfirm("", f.queue, false, false, amqp091.Publishing{
			DeliveryMode: amqp091.Persistent, Body: fmt.Append(nil, n, "|", body),
		})
		if err != nil || !c.Wait() {
			return
		}
		confirmed++
		select {
		case <-f.unblocked:
			return
		default:
		}
	}
}

// A disk that fills up holds publishers, which are told; who consumes makes room, and the publishers go on by themselves. Whatever was
// confirmed is there. Where no small disk can be had, the limit of free space stands in for its end.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t)
	var flags []string
	if dir != "" {
		flags = []string{"--data-dir", dir + "/data", "--config", diskConfig(t, 20<<20)}
	} else {
		flags = []string{"--config", diskConfig(t, freeOf(t, t.TempDir())-smallDiskSize)}
	}
	l := newLives(t, flags...)
	if l == nil {
		return
	}
	f := fill(t, l, "flood")
	reader := l.dial()
	deliveries := reader.consume("flood", 10)
	drained := 0
	for blocked := true; blocked; {
		select {
		case state := <-f.blocked:
			blocked = state.Active
		default:
			d := receive(t, deliveries.deliveries, "a message of the full disk")
			if want := fmt.Sprint(drained, "|x"); !strings.HasPrefix(string(d.Body), want) {
				t.Fatalf("message %d is %.20q", drained, d.Body)
			}
			reader.ok(d.Ack(false))
			drained++
		}
	}
	close(f.unblocked)
	confirmed := receive(t, f.ended, "the publisher's end")
	for ; drained < confirmed; drained++ {
		reader.ok(receive(t, deliveries.deliveries, "a confirmed message").Ack(false))
	}
}

// With not a byte left the broker holds its publishers and lives on; killed then, it starts again and has what it confirmed.
func TestDiskWithoutAByteLeft(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t)
	if dir == "" {
		return // the log's own tests have a disk that says it is full at every step
	}
	l := newLives(t, "--data-dir", dir+"/data", "--config", diskConfig(t, 1))
	if l == nil {
		return
	}
	f := fill(t, l, "flood")
	ballast, err := os.Create(filepath.Join(dir, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	defer ballast.Close()
	for block := make([]byte, 1<<20); len(block) > 0; {
		if _, err := ballast.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}
	if left := freeOf(t, dir); left > 4096 {
		t.Fatalf("%d bytes are left", left)
	}
	s := l.dial()
	s.ready("flood") // it answers
	l.kill()
	confirmed := receive(t, f.ended, "the publisher's end")
	if confirmed == 0 {
		t.Fatal("nothing was confirmed")
	}
	if err := os.Remove(ballast.Name()); err != nil { // an operator makes room
		t.Fatal(err)
	}
	l.start()
	s = l.dial()
	deliveries := s.consume("flood", 10)
	for n := range confirmed {
		d := receive(t, deliveries.deliveries, "a confirmed message")
		if !strings.HasPrefix(string(d.Body), fmt.Sprint(n, "|x")) {
			t.Fatalf("message %d is %.20q", n, d.Body)
		}
		s.ok(d.Ack(false))
	}
}

// A disk that refuses to take what was accepted ends the broker, which says why: nothing that it would confirm could be kept.
func TestDiskThatRefuses(t *testing.T) {
	t.Parallel()
	l := newLives(t)
	if l == nil {
		return
	}
	s := l.dial()
	s.durable("kept")
	s.ok(s.ch.Confirm(false))
	s.keep("", "kept", "before")
	// No file may grow or be written behind its first 64 KiB any more.
	limit := &unix.Rlimit{Cur: 64 << 10, Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(l.cmd.Process.Pid, unix.RLIMIT_FSIZE, limit, nil); err != nil {
		t.Fatal(err)
	}
	c, err := s.ch.PublishWithDeferredConfirm("", "kept", false, false, amqp091.Publishing{
		DeliveryMode: amqp091.Persistent, Body: make([]byte, 200<<10),
	})
	s.ok(err)
	select {
	case <-l.exited:
	case <-time.After(patience):
		t.Fatal("the broker goes on")
	}
	select {
	case <-c.Done():
		if c.Acked() {
			t.Error("what could not be kept was confirmed")
		}
	default:
	}
	if l.exitErr == nil || l.cmd.ProcessState.ExitCode() < 1 {
		t.Errorf("the broker ended with %v", l.exitErr)
	}
	if log := string(l.log()); !strings.Contains(log, "the broker stops, nothing can be kept any more") || strings.Contains(log, "goroutine ") {
		t.Errorf("the log says\n%s", log)
	}
	l.start()
	l.dial().wantGot("kept", "before!") // nobody knows whether it was delivered
}
