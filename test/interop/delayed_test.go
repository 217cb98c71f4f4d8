package interop

import (
	"strconv"
	"testing"
	"time"
)

// lateness is how much later than due something may come on a machine that has much else to do.
const lateness = 30 * time.Second

// early is how much earlier: the broker counts in milliseconds and reads its clock once in each.
const early = 2 * time.Millisecond

// A delayedJob is one that a client's program has sent, to be delivered after a time.
type delayedJob struct {
	t            *testing.T
	b            *broker
	client       string
	args         []string
	delay        time.Duration
	before, sent time.Time // when the program was started, and when the job was confirmed
	early        bool      // it may have been due before a crash, and have come once
}

// sendDelayed has a client's program send a job with a delay, and one without.
func sendDelayed(t *testing.T, b *broker, client, exchange, queue string, delay time.Duration) *delayedJob {
	t.Helper()
	j := &delayedJob{t: t, b: b, client: client, delay: delay, before: time.Now()}
	j.args = []string{exchange, queue, strconv.FormatInt(delay.Milliseconds(), 10)}
	b.program(t, client, "delayed", append(j.args, "send")...).finish("confirmed")
	j.sent = time.Now()
	return j
}

// receive has a program of the same client receive both, and wants the delayed one at its time.
func (j *delayedJob) receive(now string) {
	j.t.Helper()
	p := j.b.program(j.t, j.client, "delayed", append(j.args, "receive")...)
	if line := p.next(); line != "ready" {
		j.t.Fatalf("%s printed %q", p.name, line)
	}
	ready := time.Now()
	if line := p.next(); line != now {
		j.t.Errorf("first came %q, want %q", line, now)
	}
	if line, want := p.next(), "later -"+j.args[2]; line != want+" 0" && !(j.early && line == want+" 1") {
		j.t.Errorf("then came %q, want %q", line, want)
	}
	came := time.Now()
	if took := came.Sub(j.before); took < j.delay-early {
		j.t.Errorf("the job came %v after its sender began, before its time", took)
	}
	due := j.sent.Add(j.delay)
	if ready.After(due) {
		due = ready
	}
	if late := came.Sub(due); late > lateness {
		j.t.Errorf("the job came %v late", late)
	}
	p.finish()
}

func TestDelayedJob(t *testing.T) {
	eachScripted(t, func(t *testing.T, client string) {
		exchange, queue := freshName(t), freshQueue(t)
		sendDelayed(t, shared, client, exchange, queue, 1500*time.Millisecond).receive("now 0 0")
		s := dial(t)
		s.ok(s.ch.ExchangeDelete(exchange, false, false))
	})
}

// A job that was confirmed arrives at its time although the broker was killed meanwhile, and the time that it was down counts.
func TestDelayedJobSurvivesACrash(t *testing.T) {
	eachScripted(t, func(t *testing.T, client string) {
		l := newLives(t)
		if l == nil {
			return
		}
		const delay = 4 * time.Second
		j := sendDelayed(t, l.broker, client, "reminders", "due", delay)
		l.kill()
		j.early = time.Since(j.before) > delay
		l.start()
		j.b = l.broker
		j.receive("now 0 1")
	})
}
