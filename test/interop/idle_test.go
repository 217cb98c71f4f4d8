package interop

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"leveret/amqp"
	"leveret/frame"
)

// A footing watches the memory of a broker that a test has for itself.
type footing struct {
	t    *testing.T
	b    *broker
	base int // KiB before the load
}

// slack is what the process may grow by apart from its load, in KiB: the collector's, mostly.
const slack = 24 << 10

func standOn(t *testing.T) *footing {
	t.Helper()
	b := ownBroker(t)
	startWire(t, b).conn.Close() // what the first connection makes once is not the load's
	return &footing{t: t, b: b, base: b.status(t, "VmRSS")}
}

// wantAtMost wants the growth by now to be within that many octets for each of the objects. It returns the growth in KiB.
func (f *footing) wantAtMost(octets, objects int, what string) int {
	f.t.Helper()
	growth := f.b.status(f.t, "VmRSS") - f.base
	f.t.Logf("%d %ss: %d KiB more, %d octets each", objects, what, growth, growth*1024/objects)
	if limit := octets*objects/1024 + slack; growth > limit {
		f.t.Errorf("%d %ss take %d KiB, want at most %d", objects, what, growth, limit)
	}
	return growth
}

// wantBack wants at least half of a growth to be given back within seconds.
func (f *footing) wantBack(growth int) {
	f.t.Helper()
	poll(f.t, func() error {
		if kept := f.b.status(f.t, "VmRSS") - f.base; kept > max(growth/2, slack) {
			return fmt.Errorf("%d KiB of %d are still there", kept, growth)
		}
		return nil
	})
}

// wantIdle wants the process to take less than a tenth of a core over a second, soon.
func (f *footing) wantIdle() {
	f.t.Helper()
	if f.b.cmd == nil {
		return
	}
	const ticks = 100 // of processor time a second
	poll(f.t, func() error {
		before := f.processorTicks()
		<-time.After(time.Second)
		if used := f.processorTicks() - before; used > ticks/10 {
			return fmt.Errorf("the idle broker took %d %% of a core", used)
		}
		return nil
	})
}

// processorTicks is the processor time of the broker so far, in 1/100 s [proc(5), stat fields 14 and 15].
func (f *footing) processorTicks() int {
	f.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", f.b.cmd.Process.Pid))
	if err != nil {
		f.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest) // from field 3 on
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err1 != nil || err2 != nil {
		f.t.Fatalf("stat of the broker: %q", text)
	}
	return user + system
}

// connect opens a connection that takes its part in heartbeats no more than it must.
func (f *footing) connect() *wire {
	f.t.Helper()
	w := startWire(f.t, f.b)
	tune := offer()
	w.send(0, &tune)
	call[*amqp.ConnectionOpenOk](w, 0, &amqp.ConnectionOpen{VirtualHost: "/"})
	return w
}

func TestIdleConnections(t *testing.T) {
	t.Parallel()
	const connections = 5000
	f := standOn(t)
	closers := make([]func() error, connections)
	for i := range closers {
		closers[i] = f.connect().conn.Close
	}
	f.b.awaitGauge(t, "rabbitmq_connections", connections)
	f.wantIdle()
	growth := f.wantAtMost(50_000, connections, "connection")
	for _, closeOne := range closers {
		closeOne()
	}
	f.b.awaitGauge(t, "rabbitmq_connections", 0)
	f.wantBack(growth)
}

func TestIdleChannels(t *testing.T) {
	t.Parallel()
	const connections, channels = 10, 2000
	f := standOn(t)
	var wires []*wire
	for range connections {
		w := f.connect()
		wires = append(wires, w)
		var opens []byte
		for channel := range uint16(channels) {
			opens = frame.AppendMethod(opens, channel+1, &amqp.ChannelOpen{})
		}
		w.write(opens)
		for range channels { // in whatever order
			if answer := w.next(); answer.Type != frame.TypeMethod || answer.MethodID() != amqp.MethodChannelOpenOk {
				t.Fatalf("got %s, want channel.open-ok", frame.Dump(answer))
			}
		}
	}
	f.b.awaitGauge(t, "rabbitmq_channels", connections*channels)
	growth := f.wantAtMost(5_000, connections*channels, "channel")
	for _, w := range wires {
		w.conn.Close()
	}
	f.b.awaitGauge(t, "rabbitmq_channels", 0)
	f.wantBack(growth)
}

func TestEmptyQueues(t *testing.T) {
	t.Parallel()
	const queues, batch = 50_000, 1000
	f := standOn(t)
	owner := f.connect()
	owner.open(1)
	prefix := freshName(t)
	for first := 0; first < queues; first += batch {
		var declares []amqp.Method
		for n := range batch {
			declares = append(declares, &amqp.QueueDeclare{Queue: fmt.Sprintf("%s.%d", prefix, first+n), Exclusive: true, NoWait: true})
		}
		owner.send(1, declares...)
		owner.count(1, fmt.Sprintf("%s.%d", prefix, first+batch-1))
	}
	f.b.awaitGauge(t, "rabbitmq_queues", queues)
	growth := f.wantAtMost(5_000, queues, "queue")
	f.wantIdle()
	owner.conn.Close()
	f.b.awaitGauge(t, "rabbitmq_queues", 0)
	f.wantBack(growth)
}
