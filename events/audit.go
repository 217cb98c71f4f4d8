package events

import (
	"fmt"
	"log/slog"

	"leveret/amqp"
)

// AuditPrefix begins the keys of the events that acts make.
const AuditPrefix = "audit."

// Act is something that can't be undone: what was done, and by whom, from where and to what, as names and values in turn.
type Act struct {
	Action string // "queue.purged"
	Facts  []any
}

// Log writes the act into the log.
func (a Act) Log(log *slog.Logger) {
	log.Info("audit", append([]any{"action", a.Action}, a.Facts...)...)
}

// Emit tells whoever listens of the act.
func (a Act) Emit(b *Bus) {
	b.Emit(AuditPrefix+a.Action, func() amqp.Table {
		t := make(amqp.Table, 0, len(a.Facts)/2)
		for i := 0; i+1 < len(a.Facts); i += 2 {
			t = append(t, amqp.Field{Name: fmt.Sprint(a.Facts[i]), Value: factValue(a.Facts[i+1])})
		}
		return t
	})
}

// factValue makes a value one that a field table can hold.
func factValue(v any) any {
	switch v := v.(type) {
	case string, bool, int64:
		return v
	case int:
		return int64(v)
	}
	return fmt.Sprint(v)
}
