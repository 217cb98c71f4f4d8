package interop

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

const (
	groupCount = 40
	groupSize  = 25
)

// Eight consumers of two clients compete for the messages of many groups, one of them is killed, and no message overtakes an earlier one of its
// group. With a prefetch of 1 that holds although some are given back; with a larger one it holds as long as none is.
func TestOrderInGroups(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ prefetch, nacks string }{
		"one at a time, some given back": {"1", "15"},
		"prefetched":                     {"10", "0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := dial(t)
			q := s.queue(amqp091.Table{"x-group-by": "header:order"})
			w := newGroupWork(t, q)
			victim := w.start(pika, c.prefetch, "1", c.nacks)
			for _, client := range scripted {
				w.start(client, c.prefetch, "3", c.nacks)
			}
			w.start(amqplib, c.prefetch, "1", c.nacks)
			s.fillGroups(q)
			w.watch(func(done int) {
				if done == groupCount*groupSize/3 {
					w.programs[victim].kill()
				}
			})
			w.wantOrder(victim)
			if n := s.ready(q); n != 0 {
				t.Errorf("%d messages are left", n)
			}
		})
	}
}

// fillGroups publishes the messages of all groups, those of one in their order and the groups all mixed.
func (s *session) fillGroups(queue string) {
	s.t.Helper()
	next := make([]int, groupCount)
	for left := groupCount * groupSize; left > 0; {
		group := rand.IntN(groupCount)
		if next[group] == groupSize {
			continue
		}
		next[group]++
		left--
		s.ok(s.ch.Publish("", queue, false, false, amqp091.Publishing{
			Headers: amqp091.Table{"order": strconv.Itoa(group)}, Body: fmt.Appendf(nil, "%d %d", group, next[group])}))
	}
}

// A groupWork is the programs that work on a queue with groups, and what they have printed.
type groupWork struct {
	t        *testing.T
	queue    string
	programs []*program
	lines    chan groupDelivery
	seen     []groupDelivery
}

// A groupDelivery is one delivery as a program saw it.
type groupDelivery struct {
	program       int
	at            int64
	consumer      int
	group, number int
	redelivered   int
	outcome       string
}

func newGroupWork(t *testing.T, queue string) *groupWork {
	return &groupWork{t: t, queue: queue, lines: make(chan groupDelivery, 1<<16)}
}

// start runs one more program, and returns its number when its consumers have started.
func (w *groupWork) start(client, prefetch, consumers, nacks string) int {
	w.t.Helper()
	p := start(w.t, client, "grouped", w.queue, prefetch, consumers, nacks)
	if line := p.next(); line != "ready" {
		w.t.Fatalf("%s printed %q", p.name, line)
	}
	number := len(w.programs)
	w.programs = append(w.programs, p)
	go func() {
		for line := range p.lines {
			d := groupDelivery{program: number}
			_, err := fmt.Sscanf(line, "%d %d %d %d %d %s", &d.at, &d.consumer, &d.group, &d.number, &d.redelivered, &d.outcome)
			if err != nil {
				d.outcome = line
			}
			w.lines <- d
		}
	}()
	return number
}

// watch reads what the programs print until all messages are acknowledged, and tells after each how many are.
func (w *groupWork) watch(progress func(done int)) {
	w.t.Helper()
	acked := map[[2]int]bool{}
	for len(acked) < groupCount*groupSize {
		d := receive(w.t, w.lines, fmt.Sprintf("a delivery after %d acknowledged messages", len(acked)))
		w.seen = append(w.seen, d)
		switch {
		case d.outcome == "ack" && !acked[[2]int{d.group, d.number}]:
			acked[[2]int{d.group, d.number}] = true
			progress(len(acked))
		case d.outcome != "ack" && d.outcome != "nack":
			w.t.Fatalf("%s printed %q", w.programs[d.program].name, d.outcome)
		}
	}
}

// wantOrder wants each message to be delivered after all earlier ones of its group were acknowledged, and never again after it was, unless it was
// the killed program that did.
func (w *groupWork) wantOrder(victim int) {
	w.t.Helper()
	slices.SortFunc(w.seen, func(a, b groupDelivery) int { return cmp.Compare(a.at, b.at) })
	type last struct{ number, program int } // acknowledged
	groups := make([]last, groupCount)
	workers := map[[2]int]bool{}
	for _, d := range w.seen {
		workers[[2]int{d.program, d.consumer}] = true
		g := &groups[d.group]
		switch {
		case d.number > g.number+1:
			w.t.Errorf("message %d of group %d was delivered when %d was the last that was acknowledged", d.number, d.group, g.number)
		case d.number <= g.number && (g.program != victim || d.redelivered == 0):
			w.t.Errorf("message %d of group %d was delivered when %d was acknowledged, redelivered %d", d.number, d.group, g.number, d.redelivered)
		}
		if d.outcome == "ack" {
			*g = last{d.number, d.program}
		}
	}
	if len(workers) != 8 {
		w.t.Errorf("%d consumers had work, want 8", len(workers))
	}
}
