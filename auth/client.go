package auth

import (
	"crypto/x509"
	"net/netip"
)

// The protocols that logins are counted by, under RabbitMQ's names for them.
const (
	AMQP = "amqp091"
	HTTP = "http"
)

// Client is what the broker itself knows of somebody who logs in, whatever they say. The zero value is a stranger.
type Client struct {
	// Protocol is what the client speaks, for the counters: [AMQP], which is also meant by the empty text, or [HTTP].
	Protocol string
	// Address is where it connects from; behind a trusted proxy, where it connects to the proxy from. The zero address is no loopback.
	Address netip.Addr
	// Certificate is what the client showed and the broker verified when the TLS connection was made; nil without one. A certificate that
	// nobody checked must not be given here, as EXTERNAL believes it.
	Certificate *x509.Certificate
}

// protocol is the counters' name for what the client speaks.
func (c *Client) protocol() string {
	if c.Protocol == "" {
		return AMQP
	}
	return c.Protocol
}
