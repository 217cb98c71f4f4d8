package auth

// anonymous lets anybody in as one configured user, whatever the response says. It is off unless an operator names it.
type anonymous struct{}

func (anonymous) offered(*Client) bool { return true }

// login goes by the user's password as PLAIN does, so that an anonymous user which was deleted or got another password lets nobody in.
func (anonymous) login(a *Authenticator, _ []byte, from *Client) (*User, error) {
	return a.verify(a.options.AnonymousUser, a.options.AnonymousPassword, from)
}
