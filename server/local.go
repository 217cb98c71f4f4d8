package server

import (
	"net"

	"leveret/amqp"
)

// local is the server's end of a connection that the broker has to itself.
type local struct {
	net.Conn
	trusted bool   // whoever is at the other end needs no password
	number  uint16 // tells it from others, in place of a port
}

// RemoteAddr is this machine: who is in the broker is on it.
func (l *local) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(l.number)}
}

// LocalAddr is this machine too. No socket has port 0, so no other connection has the same name.
func (l *local) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// Connect makes a connection to the broker from within itself, and returns the client's end, on which AMQP is spoken as on a socket. One that is
// trusted is offered the SASL mechanism EXTERNAL alone, and is the operator; any other logs in as clients do. The error says that
// the server takes no clients. Any goroutine may call it.
func (s *Server) Connect(trusted bool) (net.Conn, error) {
	ours, theirs := net.Pipe()
	if !s.ServeConn(&local{Conn: ours, trusted: trusted, number: uint16(s.locals.Add(1))}) {
		theirs.Close()
		return nil, amqp.NodeStopping()
	}
	return theirs, nil
}

// trustedLocal reports whether the broker itself is the client, with all rights.
func (c *connection) trustedLocal() bool {
	l, ok := c.out.Conn.(*local)
	return ok && l.trusted
}

// mechanisms are the SASL mechanisms that the client may choose from, with a space between them.
func (c *connection) mechanisms() string {
	if c.trustedLocal() {
		return "EXTERNAL"
	}
	return c.server.users.Mechanisms(c.loginClient())
}

// OnParameters has f called after runtime parameters of some virtual host have changed or gone. It must not wait. To be called before Serve.
func (s *Server) OnParameters(f func()) {
	s.onParameters = append(s.onParameters, f)
}

// parametersChanged tells whoever asked for it, in the goroutine that made the change and after it is in force.
func (s *Server) parametersChanged() {
	for _, f := range s.onParameters {
		f()
	}
}
