package management

import (
	"net/http"
	"net/url"

	"leveret/auth"
	"leveret/vhost"
)

// call is one request on its way through a handler. It belongs to the goroutine of the request.
type call struct {
	api     *API
	writer  http.ResponseWriter
	request *http.Request
	query   url.Values
	user    *auth.User   // nil where nobody has to log in
	vhost   *vhost.VHost // that the path names, nil if it names none or there is none
}

// path is the part of the path that a route names, decoded.
func (c *call) path(name string) string {
	decoded, err := url.PathUnescape(c.request.PathValue(name))
	if err != nil {
		return "" // net/http has refused such a path before
	}
	return decoded
}

// exchange is the exchange that the path names; the default exchange has a name there, and none elsewhere.
func (c *call) exchange(name string) string {
	// An empty part of a path means nothing, so RabbitMQ gave the exchange without a name one for paths.
	if x := c.path(name); x != defaultExchange {
		return x
	}
	return ""
}

// defaultExchange is how paths call the exchange whose name is empty.
const defaultExchange = "amq.default"

// asked tells whether a parameter of the query is set to true.
func (c *call) asked(name string) bool { return c.query.Get(name) == "true" }

// rights are the user's in the virtual host of the path, whatever it may do elsewhere. Nobody has none: every check refuses.
func (c *call) rights() vhost.Rights {
	r, _ := c.user.Rights(c.vhost.Name())
	return r
}

// reply is what a handler answers with.
type reply struct {
	status   int
	body     any    // JSON, nil for none
	text     []byte // instead of body: anything else
	kind     string // content type of text
	location string
	headers  [][2]string
}

// ok is the answer with something to show.
func ok(body any) (reply, error) { return reply{status: http.StatusOK, body: body}, nil }

// noContent is the answer when there is nothing to tell: 204, without a body and a content type.
func noContent() (reply, error) { return reply{status: http.StatusNoContent}, nil }

// put is the answer to a PUT: whether the object is new.
func put(created bool, err error) (reply, error) {
	switch {
	case err != nil:
		return reply{}, err
	case created:
		return reply{status: http.StatusCreated}, nil
	}
	return noContent()
}

// done is the answer to whatever has nothing to tell.
func done(err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	return noContent()
}
