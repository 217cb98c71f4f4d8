package management

import (
	"leveret/events"
	"leveret/server"
)

// audit notes something that can't be undone: what was done, by whom, from where, and to what, as names and values. It is a line of the log, and an
// event for whoever listens.
func (c *call) audit(action string, about ...any) {
	// Operations that need no login have no user, such as a login itself.
	user := ""
	if c.user != nil {
		user = c.user.Name()
	}
	act := events.Act{Action: action, Facts: append([]any{"user", user, "peer", c.peer()}, about...)}
	act.Log(c.api.log)
	act.Emit(c.api.events)
}

// peer is where the caller is, behind a proxy on this machine too; "@" over the socket of the broker's owner.
func (c *call) peer() string {
	if c.request.Context().Value(trusted{}) != nil {
		return c.request.RemoteAddr
	}
	return server.ClientAddress(c.request).String()
}
