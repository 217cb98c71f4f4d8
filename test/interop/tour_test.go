package interop

import (
	"os/exec"
	"strings"
	"testing"
)

// Clients of other languages do what a service does in a day, each on a broker of its own, and all see the same.
func TestTour(t *testing.T) {
	for client, program := range map[string]string{java: "Tour", bunny: "tour", php: "tour"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			queue := "tour-" + client
			ownBroker(t).program(t, client, program, queue).finish(
				"returned 312 NO_ROUTE",
				"confirmed 1000",
				"consumed 1000 in order, with {flag=true, list=[1, 2, 3], none=null, number=1099511627776, real=1.5, table={k=7}, text=é, when=1700000000}",
				"406 PRECONDITION_FAILED - inequivalent arg 'durable' for queue '"+queue+"' in vhost '/': received 'false' but current is 'true'",
				"committed 1",
				"called cba",
			)
		})
	}
}

// A Celery worker gets its tasks, answers over reply queues, tries again, and obeys remote control.
func TestCelery(t *testing.T) {
	t.Parallel()
	ownBroker(t).program(t, celery, "work").finish(
		"one 5",
		"many 39800",
		"chain 6",
		"retried 2",
		"later 2",
		"failed broken",
		"ping ['pong']",
	)
}

// The tools of the C client declare, publish, get, consume and delete.
func TestCommandLineToolsOfC(t *testing.T) {
	t.Parallel()
	b := ownBroker(t)
	for _, step := range []struct{ command, in, want string }{
		{"amqp-declare-queue -d -q tools", "", "tools\n"},
		{"amqp-publish -r tools -p -b first", "", ""},
		{"amqp-publish -r tools", "second", ""},
		{"amqp-get -q tools", "", "first"},
		{"amqp-consume -q tools -c 1 cat", "", "second"},
		{"amqp-delete-queue -q tools", "", "0\n"},
	} {
		args := strings.Fields(step.command)
		cmd := exec.Command(args[0], append([]string{"--url=" + b.url()}, args[1:]...)...)
		cmd.Stdin = strings.NewReader(step.in)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if out, err := cmd.Output(); err != nil || string(out) != step.want {
			t.Errorf("%s: %q, %v, want %q\n%s", step.command, out, err, step.want, &stderr)
		}
	}
}
