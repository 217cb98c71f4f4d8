package management

import (
	"fmt"

	"leveret/amqp"
)

// auditPrefix begins the names of the events that an act makes.
const auditPrefix = "audit."

// audit notes something that can't be undone: what was done, by whom, from where, and to what, as names and values. It is a line of the log, and an
// event for whoever listens.
func (c *call) audit(action string, about ...any) {
	user := ""
	if c.user != nil {
		user = c.user.Name()
	}
	facts := append([]any{"user", user, "peer", c.request.RemoteAddr}, about...)
	c.api.log.Info("audit", append([]any{"action", action}, facts...)...)
	c.api.events.Emit(auditPrefix+action, func() amqp.Table {
		t := make(amqp.Table, 0, len(facts)/2)
		for i := 0; i+1 < len(facts); i += 2 {
			t = append(t, amqp.Field{Name: fmt.Sprint(facts[i]), Value: eventValue(facts[i+1])})
		}
		return t
	})
}

// eventValue makes a value one that a field table can hold.
func eventValue(v any) any {
	switch v := v.(type) {
	case string, bool, int64:
		return v
	case int:
		return int64(v)
	}
	return fmt.Sprint(v)
}
