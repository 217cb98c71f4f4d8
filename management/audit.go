package management

// audit writes a line about something that can't be undone: what was done, by whom, from where, and to what.
func (c *call) audit(action string, about ...any) {
	user := ""
	if c.user != nil {
		user = c.user.Name()
	}
	args := append([]any{"action", action, "user", user, "peer", c.request.RemoteAddr}, about...)
	c.api.log.Info("audit", args...)
}
