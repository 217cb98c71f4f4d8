package management

import (
	"context"
	"net/netip"
)

type trustedKey struct{}

// Trusted marks a request's context: whoever sent the request is the operator, and is not asked for a password. It is for a listener that nobody else can reach,
// such as a socket that only the broker's own user may open.
func Trusted(ctx context.Context) context.Context { return context.WithValue(ctx, trustedKey{}, true) }

// trusted reports whether the caller is the operator.
func (c *call) trusted() bool { return c.request.Context().Value(trustedKey{}) != nil }

// peer is where the caller is. The operator is on this machine.
func (c *call) peer() netip.Addr {
	if c.trusted() {
		return netip.IPv6Loopback()
	}
	return remoteAddress(c.request)
}
