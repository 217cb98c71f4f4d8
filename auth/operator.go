package auth

// operatorName is who is at work when nobody has logged in: whoever administers the broker's machine.
const operatorName = "rabbitmqctl"

// administratorTag is the tag that an operator has.
const administratorTag = "administrator"

// operatorTags are all that an operator has.
var operatorTags = []string{administratorTag, impersonatorTag}

// impersonatorTag is the tag of those who may hand on what others have published under their names.
const impersonatorTag = "impersonator"

// Operator is a user that needs no account: somebody whom the machine itself vouches for, by a socket that only the broker's owner may open. It is an
// administrator with all rights everywhere, and may move messages that carry the name of whoever published them.
func (a *Authenticator) Operator() *User { return &User{auth: a, name: operatorName, operator: true} }

// everywhere is the row of permissions that an operator has in each virtual host.
var everywhere = func() *grant {
	g, err := compileGrant(operatorName, "", AllPermissions(), nil)
	if err != nil {
		panic("BUG: the expressions that allow everything are no expressions")
	}
	return g
}()
