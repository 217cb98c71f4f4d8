package auth

import (
	"slices"
	"strings"

	"leveret/amqp"
)

// mechanism is a SASL mechanism that needs one response and no challenge. To add one, implement this in a file of its own and name it in
// the list below.
type mechanism interface {
	// offered reports whether the mechanism can work for a client at all.
	offered(from *Client) bool
	// login returns the user that the response proves the client to be. A response of the wrong shape is an [*amqp.Error] 502, one that
	// proves nothing a [*Refusal].
	login(a *Authenticator, response []byte, from *Client) (*User, error)
}

var mechanisms = map[string]mechanism{
	"PLAIN":     password(parsePlain),
	"AMQPLAIN":  password(parseAMQPlain),
	"EXTERNAL":  external{},
	"ANONYMOUS": anonymous{},
}

// KnownMechanisms are the names of all SASL mechanisms that can be enabled, in alphabetical order.
func KnownMechanisms() []string {
	var names []string
	for name := range mechanisms {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Mechanisms is the list for connection.start, with a space between the names: those that are enabled and can work for this client.
func (a *Authenticator) Mechanisms(from Client) string {
	var offered []string
	for _, name := range a.options.Mechanisms {
		if mechanisms[name].offered(&from) {
			offered = append(offered, name)
		}
	}
	return strings.Join(offered, " ")
}

// mechanism finds one by the name that a client chose, which may be none that it was offered.
func (a *Authenticator) mechanism(name string, from *Client) (mechanism, error) {
	m := mechanisms[name]
	if m == nil {
		return nil, amqp.UnknownMechanism(name)
	}
	if !slices.Contains(a.options.Mechanisms, name) || !m.offered(from) {
		return nil, amqp.InvalidMechanism(name)
	}
	return m, nil
}
