package shovel

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/rabbitmq/amqp091-go"
)

const (
	connectTime = 30 * time.Second // to get from a name to an open connection
	closeTime   = 2 * time.Second  // for a broker to answer connection.close
	heartbeat   = 10 * time.Second // between brokers; a dead one is noticed after two
)

// endpoint is one open connection of a shovel.
type endpoint struct {
	*amqp091.Connection
	uri string   // without credentials
	raw net.Conn // below it
}

// connect tries the addresses in random order, so that many shovels spread over the brokers of a cluster.
func connect(ctx context.Context, b Broker, uris []string, name string) (*endpoint, error) {
	if len(uris) == 0 { // a parameter of an older version may have an empty list
		return nil, errors.New("no URI is given")
	}
	var errs []error
	for _, i := range rand.Perm(len(uris)) {
		e, err := dial(ctx, b, uris[i], name)
		if err == nil {
			return e, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", withoutCredentials(uris[i]), err))
	}
	return nil, errors.Join(errs...)
}

// dial opens one connection. A URI that names no host means this broker, in which nobody has to log in who does not want to be somebody in particular.
func dial(ctx context.Context, b Broker, uri, name string) (*endpoint, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return nil, errors.New("not a URI") // the error would show the password
	}
	e := &endpoint{uri: withoutCredentials(uri)}
	config := amqp091.Config{Heartbeat: heartbeat, Locale: "en_US", Properties: amqp091.Table{"product": "Leveret", "connection_name": name}}
	release := func() bool { return true }
	watch := func(nc net.Conn) net.Conn {
		e.raw = nc
		release = context.AfterFunc(ctx, func() { nc.Close() })
		return nc
	}
	if u.Host == "" {
		e.Connection, err = openLocal(b, u, config, watch)
	} else {
		config.Dial = func(network, address string) (net.Conn, error) {
			nc, err := (&net.Dialer{Timeout: connectTime}).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return watch(nc), nc.SetDeadline(time.Now().Add(connectTime)) // taken away when the connection is open
		}
		e.Connection, err = amqp091.DialConfig(uri, config)
	}
	release()
	if err != nil && e.raw != nil {
		e.raw.Close()
	}
	return e, err
}

// openLocal opens a connection to this broker.
func openLocal(b Broker, u *url.URL, config amqp091.Config, watch func(net.Conn) net.Conn) (*amqp091.Connection, error) {
	var err error
	if config.Vhost, err = vhostOf(u); err != nil {
		return nil, err
	}
	config.SASL = []amqp091.Authentication{&amqp091.ExternalAuth{}}
	if u.User != nil {
		password, _ := u.User.Password()
		config.SASL = []amqp091.Authentication{&amqp091.PlainAuth{Username: u.User.Username(), Password: password}}
	}
	nc, err := b.Connect(u.User == nil)
	if err != nil {
		return nil, err
	}
	return amqp091.Open(watch(nc), config)
}

// vhostOf is the virtual host that a URI names; the one called "/" if it names none.
func vhostOf(u *url.URL) (string, error) {
	path := strings.TrimPrefix(u.EscapedPath(), "/")
	if path == "" {
		return "/", nil
	}
	return url.PathUnescape(path)
}

// withoutCredentials is a URI as it may be shown.
func withoutCredentials(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host + u.EscapedPath() // the query may hold a key's password
}

// LocalVHosts are the virtual hosts of this broker that a shovel's value opens without anybody's password. Whoever sets such a parameter should
// have access to them.
func LocalVHosts(value any) []string {
	object, _ := value.(map[string]any)
	v := values(object)
	var list []string
	for _, uri := range append(v.uris("src-uri"), v.uris("dest-uri")...) {
		u, err := url.Parse(uri)
		if err != nil || u.Host != "" || u.User != nil {
			continue
		}
		if name, err := vhostOf(u); err == nil {
			list = append(list, name)
		}
	}
	return list
}

// close ends the connection; the other side gets a moment to say that it has heard.
func (e *endpoint) close() {
	e.CloseDeadline(time.Now().Add(closeTime)) //nolint:errcheck // it is closed in any case
	e.raw.Close()
}
