package interop

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The clients that run programs. The amqp091-go ones are functions of this package, which the test binary runs in a process of
// their own, so that they can be killed like the others.
const (
	amqp091Go = "amqp091-go"
	pika      = "pika"
	amqplib   = "amqplib"
	browser   = "amqp-client" // speaks over WebSocket; it runs programs of its own
)

// The clients of other languages, which run the tour, and Celery, which runs its own program.
const (
	java   = "java"
	bunny  = "bunny"
	php    = "php"
	celery = "celery"
)

// javaClasses are the Java client and what it logs with, as the distribution installs them.
const javaClasses = "/usr/share/java/amqp-client.jar:/usr/share/java/slf4j-api.jar:/usr/share/java/slf4j-nop.jar"

// clients are all clients, in the order of the tables.
var clients = []string{amqp091Go, pika, amqplib}

// programVariable names the program that the test binary is to run instead of the tests.
const programVariable = "LEVERET_INTEROP_PROGRAM"

// scripted are the clients whose programs are scripts. The tests of the queues' features run those alone: amqp091-go drives them itself.
var scripted = []string{pika, amqplib}

// eachClient runs a subtest a client, side by side.
func eachClient(t *testing.T, run func(t *testing.T, client string)) { eachOf(t, clients, run) }

// eachScripted runs a subtest a client with scripts, side by side.
func eachScripted(t *testing.T, run func(t *testing.T, client string)) { eachOf(t, scripted, run) }

func eachOf(t *testing.T, clients []string, run func(t *testing.T, client string)) {
	t.Parallel()
	for _, client := range clients {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			run(t, client)
		})
	}
}

// eachPair runs a subtest for every pair of clients that talk to each other, side by side.
func eachPair(t *testing.T, run func(t *testing.T, one, other string)) {
	eachClient(t, func(t *testing.T, one string) {
		for _, other := range clients {
			t.Run(other, func(t *testing.T) {
				t.Parallel()
				run(t, one, other)
			})
		}
	})
}

// A program is a running client program. It is killed at the end of its test if it still runs.
type program struct {
	t      *testing.T
	name   string // client and program, for messages
	cmd    *exec.Cmd
	lines  chan string // its output, closed at its end
	stderr bytes.Buffer
}

// start runs a client's program against the shared broker. After the URL it gets the arguments.
func start(t *testing.T, client, name string, args ...string) *program {
	t.Helper()
	return shared.program(t, client, name, args...)
}

// program runs a client's program against this broker, as long as it lives.
func (b *broker) program(t *testing.T, client, name string, args ...string) *program {
	t.Helper()
	p := &program{t: t, name: client + " " + name, lines: make(chan string, 1<<16)}
	args = append([]string{b.url()}, args...)
	switch client {
	case amqp091Go:
		p.cmd = exec.Command(os.Args[0], args...)
		p.cmd.Env = append(os.Environ(), programVariable+"="+name)
	case pika, celery:
		p.cmd = exec.Command("/usr/bin/python3", append([]string{"-B", filepath.Join("testdata", client, name+".py")}, args...)...)
	case amqplib, browser:
		p.cmd = exec.Command("node", append([]string{filepath.Join("testdata", client, name+".js")}, args...)...)
	case java:
		p.cmd = exec.Command("java", append([]string{"-cp", javaClasses, filepath.Join("testdata", client, name+".java")}, args...)...)
	case bunny:
		p.cmd = exec.Command("ruby", append([]string{filepath.Join("testdata", client, name+".rb")}, args...)...)
	case php:
		p.cmd = exec.Command("php", append([]string{filepath.Join("testdata", client, name+".php")}, args...)...)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("%s: %v (test/interop/setup.sh installs the clients)", p.name, err)
	}
	go func() {
		defer close(p.lines)
		for scanner := bufio.NewScanner(stdout); scanner.Scan(); {
			p.lines <- scanner.Text()
		}
	}()
	t.Cleanup(p.kill)
	return p
}

// run runs a program to its end and wants exactly these lines of it.
func run(t *testing.T, client, name string, args []string, want ...string) {
	t.Helper()
	start(t, client, name, args...).finish(want...)
}

// finish waits for the program's good end and wants exactly these further lines of it.
func (p *program) finish(want ...string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var got []string
	for line, ok := p.line(ctx); ok; line, ok = p.line(ctx) {
		got = append(got, line)
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Fatalf("%s: %v after the lines %q\n%s", p.name, err, got, p.stderr.String())
	}
	if !slices.Equal(got, want) {
		p.t.Errorf("%s printed\n\t%s\nwant\n\t%s", p.name, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// line returns the next line, false at the program's end.
func (p *program) line(ctx context.Context) (string, bool) {
	p.t.Helper()
	select {
	case line, ok := <-p.lines:
		return line, ok
	case <-ctx.Done():
		p.kill()
		p.t.Fatalf("%s printed nothing more within %v\n%s", p.name, patience, p.stderr.String())
		return "", false
	}
}

// next returns the next line of a program that must not have ended.
func (p *program) next() string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	line, ok := p.line(ctx)
	if !ok {
		p.cmd.Wait()
		p.t.Fatalf("%s ended: %v\n%s", p.name, p.cmd.ProcessState, p.stderr.String())
	}
	return line
}

// kill ends the program with SIGKILL, so that it says goodbye to nobody.
func (p *program) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}
