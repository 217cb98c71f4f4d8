package auth

// OperatorName is what the operator is called in logs and events.
const OperatorName = "operator"

// Operator is whoever administers the broker from within, without an account: it has the tag administrator and may do everything. Who is one is for the caller to
// know.
func (a *Authenticator) Operator() *User { return &User{auth: a, name: OperatorName, operator: true} }

// unrestricted is the grant of operators.
var unrestricted = &grant{configure: pattern{everything: true}, write: pattern{everything: true}, read: pattern{everything: true}}

// LoopbackUsers are the users that may log in from a loopback address only.
func (a *Authenticator) LoopbackUsers() []string { return *a.loopback.Load() }

// SetLoopbackUsers changes them, for logins from then on. It does not outlive the process; the slice is kept.
func (a *Authenticator) SetLoopbackUsers(names []string) { a.loopback.Store(&names) }
