package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"time"

	"leveret/auth"

	"github.com/pires/go-proxyproto"
)

// What stands between a socket and AMQP: the PROXY protocol's header of a proxy that is trusted, then TLS. Both are dealt with by the goroutine
// that becomes the connection's reader, each within a time of its own, so that a client which is slow about it keeps nobody waiting.

// preparing are the sockets on which neither is done yet, so that they can be closed when the server is. Guarded by Server.mu.
type preparing map[net.Conn]struct{}

// begin notes a socket, and reports whether the server takes clients.
func (s *Server) begin(nc net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.preparing[nc] = struct{}{}
	return true
}

// begun ends the time in which a socket belongs to no connection, and would be closed by a stop.
func (s *Server) begun(nc net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.preparing, nc)
}

// welcome makes a connection of an accepted socket, and runs it.
func (s *Server) welcome(nc net.Conn, l listener) {
	conn, err := s.prepare(nc, l)
	s.begun(nc)
	if err != nil {
		nc.Close()
		s.noteUnprepared(nc, err)
		return
	}
	c := s.newConnection(conn)
	if !s.add(c) {
		c.deadline.Stop()
		conn.Close()
		return
	}
	defer s.readers.Done()
	c.serve()
	s.remove(c)
}

// noteUnprepared logs why nothing became of a socket. A probe that says nothing is no news.
func (s *Server) noteUnprepared(nc net.Conn, err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
		s.log.Debug("connection closed before it sent anything", "peer", nc.RemoteAddr())
		return
	}
	s.log.Warn("connection refused", "peer", nc.RemoteAddr(), "error", err)
}

// prepare takes off what precedes AMQP.
func (s *Server) prepare(nc net.Conn, l listener) (net.Conn, error) {
	if s.options.ProxyProtocol {
		proxied, err := s.proxied(nc)
		if err != nil {
			return nil, fmt.Errorf("PROXY protocol: %w", err)
		}
		nc = proxied
	}
	if l.tls == nil {
		return nc, nil
	}
	secure := tls.Server(nc, l.tls)
	ctx, cancel := context.WithTimeout(context.Background(), s.options.TLSHandshakeTimeout)
	defer cancel()
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("TLS: %w", err)
	}
	return secure, nil
}

// proxied is the socket of a client that comes through a proxy: the proxy's, but with the addresses that the client connected from and to.
type proxied struct {
	*net.TCPConn
	remote, local net.Addr
	early         []byte // what came in one read with the header, and is the client's
}

// RemoteAddr is where the client connects from.
func (p *proxied) RemoteAddr() net.Addr { return p.remote }

// LocalAddr is what the client connected to.
func (p *proxied) LocalAddr() net.Addr { return p.local }

// Read returns what the client sent.
func (p *proxied) Read(b []byte) (int, error) {
	if len(p.early) > 0 {
		n := copy(b, p.early)
		p.early = p.early[n:]
		return n, nil
	}
	return p.TCPConn.Read(b)
}

// proxyHeaderRead is how much is read at once while a header is awaited. One of the first version has to fit.
const proxyHeaderRead = 512

// proxied reads the header that a trusted proxy must send. Whoever else connects is taken for what it is: a client that comes by itself, whose
// header would be no AMQP.
func (s *Server) proxied(nc net.Conn) (net.Conn, error) {
	tcp, ok := nc.(*net.TCPConn)
	if !ok || !s.trusted(nc.RemoteAddr()) {
		return nc, nil
	}
	if err := tcp.SetReadDeadline(time.Now().Add(s.options.HandshakeTimeout)); err != nil {
		return nil, err
	}
	p := &proxied{TCPConn: tcp}
	var err error
	if p.remote, p.local, p.early, err = readProxyHeader(tcp); err != nil {
		return nil, err
	}
	if p.remote == nil {
		p.remote, p.local = nc.RemoteAddr(), nc.LocalAddr()
	}
	return p, tcp.SetReadDeadline(time.Time{})
}

// readProxyHeader returns the two ends that a header names, or none if the proxy connects for itself, to see whether the broker is there, or
// for somebody who has no address of TCP. What was read beyond the header belongs to the client.
func readProxyHeader(from io.Reader) (remote, local net.Addr, early []byte, err error) {
	in := bufio.NewReaderSize(from, proxyHeaderRead)
	header, err := proxyproto.Read(in)
	if err != nil {
		return nil, nil, nil, err
	}
	early, _ = in.Peek(in.Buffered())
	if source, destination, ok := header.TCPAddrs(); ok && header.Command.IsProxy() {
		return source, destination, early, nil
	}
	return nil, nil, early, nil
}

// trusted reports whether an address is one of those whose header counts.
func (s *Server) trusted(a net.Addr) bool {
	address := addressOf(a).Unmap()
	return slices.ContainsFunc(s.options.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(address) })
}

// addressOf is the IP address of a socket's end, the zero address if it has none.
func addressOf(a net.Addr) netip.Addr {
	if tcp, ok := a.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr()
	}
	return netip.Addr{}
}

// secured is a connection over TLS, whoever made it so: the server, or the web server in front of it.
type secured interface{ ConnectionState() tls.ConnectionState }

// tlsState returns what TLS agreed on, nil for a plain connection.
func tlsState(nc net.Conn) *tls.ConnectionState {
	if s, ok := nc.(secured); ok {
		if state := s.ConnectionState(); state.HandshakeComplete {
			return &state
		}
	}
	return nil
}

// client is what logins go by: who is at the other end, as far as the broker can tell.
func (c *connection) loginClient() auth.Client {
	client := auth.Client{Protocol: auth.AMQP, Address: addressOf(c.out.Conn.RemoteAddr())}
	if c.tls != nil {
		client.Certificate = verifiedCertificate(c.tls)
	}
	return client
}

// verifiedCertificate is what the client showed, if that was checked: with verify_none it is not.
func verifiedCertificate(state *tls.ConnectionState) *x509.Certificate {
	if len(state.VerifiedChains) == 0 || len(state.PeerCertificates) == 0 {
		return nil
	}
	return state.PeerCertificates[0]
}
