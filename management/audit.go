package management

import "leveret/events"

// audit notes something that can't be undone: what was done, by whom, from where, and to what, as names and values. It is a line of the log, and an
// event for whoever listens.
func (c *call) audit(action string, about ...any) {
	user := ""
	if c.user != nil {
		user = c.user.Name()
	}
	act := events.Act{Action: action, Facts: append([]any{"user", user, "peer", c.request.RemoteAddr}, about...)}
	act.Log(c.api.log)
	act.Emit(c.api.events)
}
