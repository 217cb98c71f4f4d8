package management

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"leveret/auth"
	"leveret/server"
	"leveret/vhost"
)

// challenge is what browsers and libraries ask for a password by.
// It stands in a WWW-Authenticate header, and only where no login came at all: after a wrong password a browser would ask
// again and again for another, and the page of the API could not say what was wrong.
const challenge = `Basic realm="RabbitMQ Management"`

// Tags of users that give access to the API. Each but the first gives what management gives, and more.
const (
	tagManagement    = "management"
	tagPolicymaker   = "policymaker"
	tagMonitoring    = "monitoring"
	tagAdministrator = "administrator"
)

// authorize finds out who calls and whether that user may call the operation at all.
func (c *call) authorize(op *operation) error {
	if op.level == anybody {
		return nil
	}
	user, err := c.login()
	if err != nil {
		return err
	}
	c.user = user // the one place where a call gets its rights from
	switch {
	case !c.hasAny(tagManagement, tagPolicymaker, tagMonitoring, tagAdministrator):
		return refused("Not management user")
	case op.level == administrator && !c.hasAny(tagAdministrator):
		return refused("Not administrator user")
	case op.level == monitor && !c.seesAll():
		return refused("Not monitor user")
	case op.level == policymaker && !c.hasAny(tagPolicymaker, tagAdministrator):
		return refused("User not authorised to access object")
	}
	return nil
}

// hasAny tells whether the user has one of the tags at this moment.
func (c *call) hasAny(tags ...string) bool { return slices.ContainsFunc(tags, c.user.HasTag) }

// seesAll tells whether the user sees what belongs to others.
func (c *call) seesAll() bool { return c.hasAny(tagMonitoring, tagAdministrator) }

// isAdministrator tells whether the user may do everything.
func (c *call) isAdministrator() bool { return c.user.HasTag(tagAdministrator) }

// trusted is the context's key of requests that need no password.
type trusted struct{}

// Trusted marks the context of requests that come from somebody whom the system vouches for: over a socket that only the broker's owner may
// open. They may do everything.
func Trusted(ctx context.Context) context.Context { return context.WithValue(ctx, trusted{}, true) }

// login finds out who calls: by the password or the token that came with the request, unless none is needed.
func (c *call) login() (*auth.User, error) {
	if c.request.Context().Value(trusted{}) != nil {
		return c.api.users.Operator(), nil
	}
	header := c.request.Header.Get("Authorization")
	if header == "" {
		return nil, &failure{status: http.StatusUnauthorized, challenge: true}
	}
	scheme, token, _ := strings.Cut(header, " ")
	switch {
	case strings.EqualFold(scheme, "Bearer") && c.api.users.TakesTokens():
		return c.api.check("", strings.TrimSpace(token), remoteAddress(c.request))
	case !strings.EqualFold(scheme, "Basic"):
		return nil, notAuthorized("Not_Authorized")
	}
	name, password, ok := c.request.BasicAuth()
	if !ok {
		// Base64 that can't be decoded, or no colon in it: the request is malformed, which is not the same as a wrong password.
		return nil, &failure{status: http.StatusBadRequest}
	}
	return c.api.check(name, password, remoteAddress(c.request))
}

// check finds the user of a name and a password, or a token in its place.
func (a *API) check(name, password string, peer netip.Addr) (*auth.User, error) {
	user, err := a.users.Login(name, password, auth.Client{Protocol: auth.HTTP, Address: peer})
	if err == nil {
		return user, nil
	}
	var refusal *auth.Refusal
	if errors.As(err, &refusal) {
		// A client that tries the same again and again would fill the log; the users' side tells which refusals are repetitions.
		if !refusal.Repeated {
			a.log.Warn("HTTP login refused", "error", refusal.Error(), "peer", peer)
		}
		if refusal.LoopbackOnly {
			return nil, notAuthorized("User can only log in via localhost")
		}
	}
	return nil, notAuthorized("Not_Authorized")
}

// notAuthorized is the answer to a login that failed; its spelling is not that of a right that is lacking.
func notAuthorized(reason string) *failure {
	return failed(http.StatusUnauthorized, "not_authorized", reason)
}

// remoteAddress is where the caller is, behind a proxy on this machine too. Whom the system vouches for is on this machine.
func remoteAddress(r *http.Request) netip.Addr {
	if r.Context().Value(trusted{}) != nil {
		return netip.IPv6Loopback()
	}
	return server.ClientAddress(r).AddrPort().Addr()
}

// enterVHost finds the virtual host that the path names, if the user may see it.
func (c *call) enterVHost(op *operation) error {
	name := c.path("vhost")
	if name == "" {
		return nil
	}
	c.vhost = c.api.server.VHost(name)
	// Administrators' operations look for the virtual host themselves: PUT /vhosts/{vhost} is about one that need not be there.
	if op.level != vhostUser && op.level != vhostViewer && op.level != policymaker {
		return nil
	}
	if c.vhost == nil {
		// Writes say what they lack; reads answer like for any other path that leads nowhere.
		if c.request.Method == http.MethodPut || c.request.Method == http.MethodPost {
			return missing("vhost_not_found")
		}
		return notFound()
	}
	if c.sees(name) || op.level == vhostViewer && c.seesAll() {
		return nil
	}
	// To somebody without rights in it a virtual host looks as if it were not there, so that names can't be guessed.
	return missing("Not Found")
}

// sees tells whether the user sees the queues, exchanges, bindings and policies of a virtual host.
func (c *call) sees(name string) bool {
	if c.isAdministrator() {
		return true
	}
	// A row of permissions is enough, also one whose expressions match nothing: it is what lets a user open the virtual host.
	_, ok := c.user.Rights(name)
	return ok
}

// visible are the virtual hosts whose objects the user sees.
func (c *call) visible() []*vhost.VHost {
	return slices.DeleteFunc(c.api.vhosts(), func(v *vhost.VHost) bool { return !c.sees(v.Name()) })
}
