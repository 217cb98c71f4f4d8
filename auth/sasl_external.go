package auth

import "fmt"

// external is the mechanism of clients that have proved who they are before: by a certificate, when the TLS connection was made. The response
// is not looked at, since it could only claim something else.
type external struct{}

// offered: without a certificate that was verified there is nothing to go by.
func (external) offered(from *Client) bool { return from.Certificate != nil }

func (external) login(a *Authenticator, _ []byte, from *Client) (*User, error) {
	name, err := a.options.CertificateName.of(from.Certificate)
	if err != nil {
		return nil, &Refusal{Reason: fmt.Sprintf("of the certificate %q can't be told: %v", DistinguishedName(from.Certificate.RawSubject), err)}
	}
	if a.options.TokensOnly {
		return nil, &Refusal{User: name, Reason: "gave no token"}
	}
	if a.directory.Load().entries[name] == nil {
		return nil, &Refusal{User: name, Reason: "does not exist"}
	}
	return &User{auth: a, name: name}, nil
}
