package auth

import (
	"bytes"

	"leveret/amqp"
)

// password is the kind of mechanism that carries a name and a password, and differs from its siblings in how it writes them.
type password func(response []byte) (name, secret string, err error)

func (password) offered(*Client) bool { return true }

func (parse password) login(a *Authenticator, response []byte, from *Client) (*User, error) {
	name, secret, err := parse(response)
	if err != nil {
		return nil, err
	}
	return a.verify(name, secret, from)
}

// parsePlain takes RFC 4616's message apart: an empty authorization identity, the name and the password, with a zero byte before each of
// the two. The authorization identity must be empty, as nobody may act as somebody else.
func parsePlain(response []byte) (name, secret string, err error) {
	parts := bytes.Split(response, []byte{0})
	if len(parts) != 3 || len(parts[0]) != 0 {
		return "", "", amqp.InvalidResponse("PLAIN")
	}
	return string(parts[1]), string(parts[2]), nil
}

// parseAMQPlain takes the name and the password out of a field table that comes without its length.
func parseAMQPlain(response []byte) (name, secret string, err error) {
	size := len(response)
	table := append([]byte{byte(size >> 24), byte(size >> 16), byte(size >> 8), byte(size)}, response...)
	fields, _, err := amqp.DecodeTable(table)
	if err != nil {
		return "", "", amqp.InvalidResponse("AMQPLAIN")
	}
	name, okName := text(fields, "LOGIN")
	secret, okSecret := text(fields, "PASSWORD")
	if !okName || !okSecret {
		return "", "", amqp.InvalidResponse("AMQPLAIN")
	}
	return name, secret, nil
}

// text returns a field that is a long string or bytes.
func text(fields amqp.Table, name string) (string, bool) {
	value, _ := fields.Get(name)
	switch value := value.(type) {
	case string:
		return value, true
	case []byte:
		return string(value), true
	}
	return "", false
}
