package server

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/coder/websocket"
)

// webSocketProtocol is the subprotocol that clients may ask for: AMQP, byte by byte, in binary messages of any size.
const webSocketProtocol = "amqp"

// webSocketPaths are where WebSockets are taken; what else comes there is somebody else's.
var webSocketPaths = []string{"/", "/ws/amqp"}

// WebSocket returns a handler that takes AMQP over WebSocket, and leaves all other requests to next. Pages of other hosts than the one that is
// asked may connect only from origins, as [path.Match] understands them. A page could log in as a user who may come from this
// machine alone, if it is looked at on this machine, so it has to be one that the operator knows.
func (s *Server) WebSocket(origins []string, next http.Handler) http.Handler {
	options := &websocket.AcceptOptions{Subprotocols: []string{webSocketProtocol}, OriginPatterns: origins}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(webSocketPaths, r.URL.Path) || !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
			next.ServeHTTP(w, r)
			return
		}
		ws, err := websocket.Accept(w, r, options)
		if err != nil {
			s.log.Warn("WebSocket refused", "peer", r.RemoteAddr, "error", err) // Accept has answered
			return
		}
		s.serveWebSocket(ws, r)
	})
}

// serveWebSocket runs a connection until either side ends it. The server sees a pipe, whose deadlines end a wait and not the socket.
func (s *Server) serveWebSocket(ws *websocket.Conn, r *http.Request) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	if !s.ServeConn(&webSocketConn{Conn: ours, remote: ClientAddress(r), local: localAddress(r), tls: r.TLS}) {
		ws.Close(websocket.StatusTryAgainLater, "the broker stops")
		return
	}
	ctx, cancel := context.WithCancel(context.Background()) // the request's own has ended with the upgrade
	outward := make(chan struct{})
	go func() {
		defer close(outward)
		fromBroker(ctx, ws, theirs)
	}()
	toBroker(ctx, ws, theirs)
	theirs.Close()
	cancel()
	<-outward
	ws.CloseNow()
}

// toBroker passes on what the client sends, until it sends no more.
func toBroker(ctx context.Context, ws *websocket.Conn, to net.Conn) {
	ws.SetReadLimit(-1) // nothing of a message is kept but what is passed on
	for {
		kind, message, err := ws.Reader(ctx)
		if err != nil {
			return
		}
		if kind != websocket.MessageBinary {
			ws.Close(websocket.StatusUnsupportedData, "AMQP is spoken in binary messages")
			return
		}
		if _, err := io.Copy(to, message); err != nil {
			return
		}
	}
}

// webSocketWrite is the largest message that the broker sends.
const webSocketWrite = 32 << 10

// fromBroker passes on what the server sends, until it closes the connection.
func fromBroker(ctx context.Context, ws *websocket.Conn, from net.Conn) {
	buffer := make([]byte, webSocketWrite)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if err := ws.Write(ctx, websocket.MessageBinary, buffer[:n]); err != nil {
				from.Close()
				return
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				ws.Close(websocket.StatusNormalClosure, "")
			}
			return
		}
	}
}

// webSocketConn is the server's end of the pipe, with the addresses and the TLS of the request.
type webSocketConn struct {
	net.Conn
	remote, local net.Addr
	tls           *tls.ConnectionState
}

// RemoteAddr is where the client connects from.
func (c *webSocketConn) RemoteAddr() net.Addr { return c.remote }

// LocalAddr is what it connected to.
func (c *webSocketConn) LocalAddr() net.Addr { return c.local }

// ConnectionState is the TLS of the web server, the zero value if it has none.
func (c *webSocketConn) ConnectionState() tls.ConnectionState {
	if c.tls == nil {
		return tls.ConnectionState{}
	}
	return *c.tls
}

// ClientAddress is where an HTTP request comes from. A proxy on this machine must not lend everybody its loopback address, so behind one it is
// what the proxy says. Anywhere else the header is the client's own word, and not listened to.
func ClientAddress(r *http.Request) *net.TCPAddr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return &net.TCPAddr{}
	}
	if forwarded := r.Header.Values("X-Forwarded-For"); len(forwarded) > 0 && peer.Addr().Unmap().IsLoopback() {
		last := forwarded[len(forwarded)-1]
		last = strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
		address, _ := netip.ParseAddr(last) // what is none is nobody, who has no rights of a neighbour
		return net.TCPAddrFromAddrPort(netip.AddrPortFrom(address, peer.Port()))
	}
	return net.TCPAddrFromAddrPort(peer)
}

// localAddress is where the client of a WebSocket connected to; net/http knows.
func localAddress(r *http.Request) net.Addr {
	if address, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		return address
	}
	return &net.TCPAddr{}
}
