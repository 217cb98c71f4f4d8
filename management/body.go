package management

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// body reads what the client sent as an object. Nothing at all, and null, count as an empty one.
func (c *call) body() (object, error) {
	raw, err := c.rawBody()
	if err != nil {
		return nil, err
	}
	o, ok := parseObject(raw)
	if !ok {
		return nil, badRequest("not_json")
	}
	return o, nil
}

// bodyTime is how long a client may take to send a body.
// It bounds how long somebody who is logged in can hold a connection with half a request; definitions files of tens of megabytes
// have to come through a slow line in it.
const bodyTime = 2 * time.Minute

// strangersBody is the largest body, and strangersTime how long it may take, of a request that anybody may make: a name and a password.
const (
	strangersBody = 16 << 10
	strangersTime = 10 * time.Second
)

// rawBody reads the request's body, as far as the limit allows. Who has not logged in has the smaller ones: what it sends is in memory until it has
// come whole.
func (c *call) rawBody() ([]byte, error) {
	// The server around the API sets no time limit for bodies of its own, as that would bound the answers too.
	limit, patience := c.api.options.BodyLimit, bodyTime
	if c.user == nil {
		limit, patience = strangersBody, strangersTime
	}
	connection := http.NewResponseController(c.writer)
	connection.SetReadDeadline(time.Now().Add(patience)) // not to be had in some tests, which need none
	raw, err := io.ReadAll(http.MaxBytesReader(c.writer, c.request.Body, limit))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return nil, badRequest("Exceeded HTTP request body size limit")
	}
	if err != nil {
		return nil, badRequest("the body could not be read")
	}
	connection.SetReadDeadline(time.Time{}) // or the call would be taken for given up when that time comes
	return raw, nil
}

// parseObject reads one JSON object with nothing behind it.
func parseObject(raw []byte) (object, bool) {
	// An empty body is what many clients send with PUT of a queue: all fields have defaults.
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, true
	}
	if !json.Valid(raw) {
		return nil, false // looked at whole, so that what follows can't fail
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, err := parseValue(d)
	o, ok := v.(object)
	return o, err == nil && ok
}

// maxDepth bounds how deep arrays and objects may stand in each other, as they are read by recursion.
const maxDepth = 64

// errDepth is returned for a value that is nested deeper.
var errDepth = errors.New("nested too deeply")

// parseValue reads a value with the order of its fields, and duplicates, as they came.
func parseValue(d *json.Decoder) (any, error) { return parseNested(d, maxDepth) }

// parseNested reads a value that may be depth levels deep.
func parseNested(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	if depth == 0 {
		return nil, errDepth
	}
	switch token {
	case json.Delim('{'):
		return parseFields(d, depth)
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := parseNested(d, depth-1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	}
	return token, nil
}

// parseFields reads the fields of an object whose brace was read.
func parseFields(d *json.Decoder, depth int) (any, error) {
	o := object{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := parseNested(d, depth-1)
		if err != nil {
			return nil, err
		}
		o.add(name.(string), v)
	}
	_, err := d.Token()
	return o, err
}

// require checks that fields are there. What is missing is told all at once, in RabbitMQ's notation.
func (o object) require(names ...string) error {
	var missing []string
	for _, name := range names {
		if _, ok := o.get(name); !ok {
			missing = append(missing, "{key_missing,"+name+"}")
		}
	}
	if len(missing) == 0 {
		return nil
	}
	separator := ","
	if len(strings.Join(missing, separator)) > termWidth {
		separator = ",\n "
	}
	return badRequest("[" + strings.Join(missing, separator) + "]")
}

// termWidth is from where on RabbitMQ breaks a list into lines.
const termWidth = 78

// boolean reads a field that is true or false, or the same as a text; absent, it is what fallback says.
func (o object) boolean(name string, fallback bool) (bool, error) {
	v, ok := o.get(name)
	if !ok {
		return fallback, nil
	}
	switch v {
	// Older clients of RabbitMQ send texts, and it takes them.
	case true, "true":
		return true, nil
	case false, "false":
		return false, nil
	}
	return false, invalid("not_boolean", v)
}

// text reads a field that is a string; absent, it is what fallback says.
func (o object) text(name, fallback string) (string, error) {
	v, ok := o.get(name)
	if !ok {
		return fallback, nil
	}
	s, ok := v.(string)
	if !ok {
		return "", invalid("not_string", v)
	}
	return s, nil
}

// integer reads a field that is a whole number, or the same as a text; absent, it is what fallback says.
func (o object) integer(name string, fallback int64) (int64, error) {
	v, ok := o.get(name)
	if !ok {
		return fallback, nil
	}
	number, isNumber := v.(json.Number)
	if text, ok := v.(string); ok {
		number, isNumber = json.Number(text), true
	}
	n, err := number.Int64()
	if !isNumber || err != nil {
		return 0, invalid("not_integer", v)
	}
	return n, nil
}
