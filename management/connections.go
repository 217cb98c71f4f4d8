package management

import (
	"net"
	"net/http"
	"slices"
	"strconv"

	"leveret/server"
)

var connectionRoutes = []route{
	{path: "/connections", group: "Connections", operations: []operation{
		{http.MethodGet, managementTag, (*call).listConnections, "the open connections: the user's own, or all for monitoring", "", false},
	}},
	{path: "/connections/{connection}", group: "Connections", operations: []operation{
		{http.MethodGet, managementTag, (*call).getConnection, "one connection", "", false},
		{http.MethodDelete, managementTag, (*call).closeConnection, "close a connection; the header X-Reason says why", "", false},
	}},
	{path: "/connections/{connection}/channels", group: "Connections", operations: []operation{
		{http.MethodGet, managementTag, (*call).connectionChannels, "the channels of a connection", "", false},
	}},
	{path: "/connections/{connection}/sessions", group: "Connections", operations: []operation{
		{http.MethodGet, managementTag, (*call).sessions, "AMQP 1.0 sessions: there are none", "", false},
	}},
	{path: "/connections/username/{user}", group: "Connections", first: true, operations: []operation{
		{http.MethodGet, managementTag, (*call).userConnections, "a user's connections", "", false},
		{http.MethodDelete, managementTag, (*call).closeUserConnections, "close a user's connections", "", false},
	}},
	{path: "/vhosts/{vhost}/connections", group: "Connections", operations: []operation{
		{http.MethodGet, vhostViewer, (*call).listConnections, "the open connections in a virtual host", "", false},
	}},
}

// connections are those that the user may see.
func (c *call) connections() []server.ConnectionStatus {
	list := c.api.server.OpenConnections()
	if c.vhost != nil {
		list = slices.DeleteFunc(list, func(s server.ConnectionStatus) bool { return s.VHost != c.vhost.Name() })
	}
	// Tags monitoring and administrator.
	if c.seesAll() {
		return list
	}
	return slices.DeleteFunc(list, func(s server.ConnectionStatus) bool { return s.User != c.user.Name() })
}

// listConnections lists open connections; client_properties stand there as clients sent them.
func (c *call) listConnections() (reply, error) {
	w, err := windowsOf(c)
	if err != nil {
		return reply{}, err
	}
	return listing[server.ConnectionStatus]{
		items: c.connections(),
		id:    func(s server.ConnectionStatus) identity { return identity{s.VHost, s.Name} },
		show:  func(s server.ConnectionStatus) object { return c.api.connection(&s, w.data, nil) },
		// RabbitMQ has pages for the list of all connections and none for a virtual host's.
		paged: c.vhost == nil,
	}.reply(c)
}

// ownConnection is the connection that the path names, if the user may see it.
func (c *call) ownConnection() (server.ConnectionStatus, error) {
	s, ok := c.api.server.Connection(c.path("connection"))
	switch {
	case !ok:
		return s, notFound()
	// Unlike virtual hosts, connections of others are not denied to be there: RabbitMQ says 401.
	case !c.seesAll() && s.User != c.user.Name():
		return s, refused("User not authorised to access object")
	}
	return s, nil
}

// getConnection shows one connection by its name, which is that of its two addresses. What is about TLS is "" there for a plain one, and
// null in lists: two forms in RabbitMQ, and typed clients know both.
func (c *call) getConnection() (reply, error) {
	w, err := windowsOf(c)
	if err != nil {
		return reply{}, err
	}
	s, err := c.ownConnection()
	if err != nil {
		return reply{}, err
	}
	return ok(c.api.connection(&s, w.data, ""))
}

// octetCounters are the names of what goes over a connection.
var octetCounters = counters{"recv_oct", "send_oct"}

// connectionKey is the key of a connection's samples.
// Names can come again when a port does; numbers of connections never do, so that a new connection has no old samples.
type connectionKey uint64

// octets are the values of octetCounters.
func octets(s *server.ConnectionStatus) []uint64 { return []uint64{s.Received.Bytes, s.Sent.Bytes} }

// connectionFields is how many fields a connection has.
// A list of ten thousand would grow each object several times otherwise.
const connectionFields = 36

// connection shows a connection. Without TLS, what is about TLS shows as plain.
func (a *API) connection(s *server.ConnectionStatus, w *window, plain any) object {
	host, port := addressParts(s.Local)
	peerHost, peerPort := addressParts(s.Peer)
	o := append(make(object, 0, connectionFields), object{
		{"name", s.Name}, {"node", a.options.Node}, {"vhost", s.VHost}, {"user", s.User}, {"user_who_performed_action", s.User},
		{"type", "network"}, {"protocol", "AMQP 0-9-1"}, {"state", s.State}, {"host", host}, {"port", port}, {"peer_host", peerHost},
		{"peer_port", peerPort}, {"auth_mechanism", s.Mechanism}, {"timeout", int64(s.Heartbeat.Seconds())}, {"frame_max", s.FrameMax},
		{"channel_max", s.ChannelMax}, {"client_properties", s.Client}, {"connected_at", s.Connected.UnixMilli()}, {"channels", s.Channels},
		{"recv_cnt", s.Received.Calls}, {"send_cnt", s.Sent.Calls}, {"send_pend", s.Pending}, {"ssl", s.TLS != nil},
	}...)
	// What the client calls itself; RabbitMQ shows it a second time, where tools look for it.
	if v, ok := s.Client.Get("connection_name"); ok {
		o.add("user_provided_name", plainValue(v))
	}
	o = octetCounters.addTo(o, octets(s), a.rates.past(connectionKey(s.ID), w), 0, w)
	return appendTLS(o, s.TLS, plain)
}

// appendTLS adds what is known of a connection's TLS and the client's certificate.
func appendTLS(o object, st *server.TLSStatus, plain any) object {
	names := []string{
		// All of them always: typed clients miss what is left out.
		"ssl_protocol", "ssl_key_exchange", "ssl_cipher", "ssl_hash",
		"peer_cert_subject", "peer_cert_issuer", "peer_cert_validity", "peer_cert_serial_number",
	}
	values := make([]any, len(names))
	for i := range values {
		values[i] = plain
	}
	if st != nil {
		values[0], values[1], values[2], values[3] = st.Protocol, st.KeyExchange, st.Cipher, st.Hash
		values[4], values[5], values[6], values[7] = st.PeerSubject, st.PeerIssuer, st.PeerValidity, st.PeerSerialNumber
	}
	for i, name := range names {
		o.add(name, values[i])
	}
	return o
}

// addressParts are an address's host and port; of sockets without ports, the path and 0.
func addressParts(a net.Addr) (host string, port int) {
	switch a := a.(type) {
	case nil:
		return "", 0
	// The way around net.SplitHostPort matters: ten thousand connections in a list are twenty thousand addresses.
	case *net.TCPAddr: // of nearly all
		if a.Zone == "" && a.IP != nil {
			return a.IP.String(), a.Port
		}
	}
	host, text, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String(), 0
	}
	port, _ = strconv.Atoi(text) // a name in place of a port is 0
	return host, port
}

// defaultReason is what a client is told whose connection an operator closes without a word.
const defaultReason = "Closed via management plugin"

// reason is what the client is told in connection.close.
// It goes into the log and the audit line too.
func (c *call) reason() string {
	if reason := c.request.Header.Get("X-Reason"); reason != "" {
		return reason
	}
	return defaultReason
}

// closeConnection closes a connection as RabbitMQ's does: the client gets connection.close with 320 and the reason.
func (c *call) closeConnection() (reply, error) {
	s, err := c.ownConnection()
	if err != nil {
		return reply{}, err
	}
	// Monitoring users see all connections, and close their own alone.
	if s.User != c.user.Name() && !c.isAdministrator() {
		return reply{}, refused("User not authorised to access object")
	}
	c.close(&s)
	return noContent()
}

// close closes a connection, and notes that only if it was still there.
func (c *call) close(s *server.ConnectionStatus) {
	// By its number: the name may be another client's by now.
	if c.api.server.CloseConnection(s.ID, c.reason()) {
		c.audit("connection.closed", "vhost", s.VHost, "name", s.Name, "of", s.User, "reason", c.reason())
	}
}

// ofUser are the connections of the user that the path names, if the caller may see them.
func (c *call) ofUser() []server.ConnectionStatus {
	name := c.path("user")
	return slices.DeleteFunc(c.connections(), func(s server.ConnectionStatus) bool { return s.User != name })
}

// userConnections lists a user's connections with a few fields each, as RabbitMQ's tracking of connections has no more.
func (c *call) userConnections() (reply, error) {
	return listing[server.ConnectionStatus]{
		items: c.ofUser(),
		id:    func(s server.ConnectionStatus) identity { return identity{s.VHost, s.Name} },
		show: func(s server.ConnectionStatus) object {
			return object{{"name", s.Name}, {"vhost", s.VHost}, {"user", s.User}, {"node", c.api.options.Node}}
		},
	}.reply(c)
}

// closeUserConnections closes those that the caller may close. That it may close none is no error.
func (c *call) closeUserConnections() (reply, error) {
	for _, s := range c.ofUser() {
		if s.User == c.user.Name() || c.isAdministrator() {
			c.close(&s)
		}
	}
	return noContent()
}

// sessions would be those of AMQP 1.0, which is not spoken here.
func (c *call) sessions() (reply, error) {
	if _, err := c.ownConnection(); err != nil {
		return reply{}, err
	}
	return reply{}, badRequest("connection does not use AMQP 1.0")
}
