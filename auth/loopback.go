package auth

// LoopbackUsers are the users that may log in from a loopback address only.
func (a *Authenticator) LoopbackUsers() []string { return *a.loopback.Load() }

// SetLoopbackUsers changes them, for logins from then on. It does not outlive the process; the slice is kept.
func (a *Authenticator) SetLoopbackUsers(names []string) { a.loopback.Store(&names) }
