package perf

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// target is where to connect, and as whom.
type target struct {
	address        string // host:port
	host           string // for the certificate
	tls            bool
	user, password string
	vhost          string
}

// parseURI reads an AMQP URI. What it leaves out is guest, guest, the usual port, and the virtual host "/".
func parseURI(uri string) (target, error) {
	u, err := url.Parse(uri)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) {
			err = inner.Err // the outer one repeats the URI, password included
		}
		return target{}, fmt.Errorf("URI: %w", err)
	}
	t := target{host: u.Hostname(), user: "guest", password: "guest", vhost: "/"}
	port := "5672"
	switch u.Scheme {
	case "amqp":
	case "amqps":
		t.tls, port = true, "5671"
	default:
		return target{}, fmt.Errorf("URI: the scheme is %q, not amqp or amqps", u.Scheme)
	}
	if t.host == "" {
		t.host = "localhost"
	}
	if u.Port() != "" {
		port = u.Port()
	}
	t.address = net.JoinHostPort(t.host, port)
	if u.User != nil {
		t.user = u.User.Username()
		t.password, _ = u.User.Password()
	}
	if path := strings.TrimPrefix(u.EscapedPath(), "/"); path != "" {
		if t.vhost, err = url.PathUnescape(path); err != nil {
			return target{}, fmt.Errorf("URI: virtual host: %w", err)
		}
	}
	return t, nil
}
