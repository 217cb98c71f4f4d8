package management_test

import (
	"net/http"
	"strings"
	"testing"

	"leveret/events"
)

// listener keeps the names of the acts that it hears of, with who did them.
type listener chan string

func (l listener) Wants(key string) bool { return strings.HasPrefix(key, "audit.") }

func (l listener) Take(e events.Event) {
	user, _ := e.Properties.Get("user")
	name, _ := e.Properties.Get("name")
	l <- e.Key + " by " + user.(string) + " of " + name.(string)
}

// TestAudit: what can't be undone is told in the log and as an event; what can is not.
func TestAudit(t *testing.T) {
	bus, heard := events.New(), make(listener, 10)
	bus.Listen(heard)
	defer bus.Close()
	r := start(t)
	r.withEvents(bus)
	r.must(http.StatusCreated, "PUT", "/api/queues/%2F/q", "{}")
	r.must(http.StatusNoContent, "DELETE", "/api/queues/%2F/q/contents", "")
	r.must(http.StatusNoContent, "DELETE", "/api/queues/%2F/q", "")
	r.must(http.StatusNotFound, "DELETE", "/api/queues/%2F/q", "")
	for _, want := range []string{"audit.queue.purged by guest of q", "audit.queue.deleted by guest of q"} {
		if got := <-heard; got != want {
			t.Errorf("event %q, want %q", got, want)
		}
		action := strings.TrimPrefix(strings.Fields(want)[0], "audit.")
		if line := "msg=audit action=" + action + " user=guest peer=127.0.0.1:"; !strings.Contains(r.logged(), line) {
			t.Errorf("the log has no %q:\n%s", line, r.logged())
		}
	}
	if n := strings.Count(r.logged(), "msg=audit"); n != 2 {
		t.Errorf("%d lines of audit, want 2:\n%s", n, r.logged())
	}
}
