package events_test

import (
	"log/slog"
	"strings"
	"testing"

	"leveret/amqp"
	"leveret/events"
)

// An act is a line of the log, and an event with the same facts as a table's fields.
func TestAct(t *testing.T) {
	b, l := events.New(), &listener{prefix: events.AuditPrefix}
	b.Listen(l)
	act := events.Act{Action: "queue.purged", Facts: []any{"user", "guest", "messages", 3, "all", true, "channel", uint16(7), "names", []string{"a", "b"}}}
	var log strings.Builder
	act.Log(slog.New(slog.NewTextHandler(&log, nil)))
	if want := `level=INFO msg=audit action=queue.purged user=guest messages=3 all=true channel=7 names="[a b]"`; !strings.Contains(log.String(), want) {
		t.Errorf("%s, want %s", log.String(), want)
	}
	act.Emit(b)
	b.Close()
	if len(l.taken) != 1 || l.taken[0].Key != "audit.queue.purged" {
		t.Fatalf("events %q", l.keys())
	}
	for name, want := range map[string]any{"user": "guest", "messages": int64(3), "all": true, "channel": "7", "names": "[a b]"} {
		if got, _ := l.taken[0].Properties.Get(name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	encoded := amqp.AppendTable(nil, l.taken[0].Properties)
	if len(encoded) == 0 {
		t.Error("the facts are no table")
	}
	act.Emit(nil) // nobody listens
}
