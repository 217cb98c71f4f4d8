package server_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"leveret/amqp"
	"leveret/server"

	"github.com/coder/websocket"
)

// webRig is a server behind a web server.
type webRig struct {
	*rig
	web *httptest.Server
}

func startWeb(t *testing.T, origins ...string) *webRig {
	t.Helper()
	r := start(t, testOptions())
	web := httptest.NewServer(r.WebSocket(origins, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "page") })))
	t.Cleanup(web.Close)
	return &webRig{r, web}
}

// dial opens a WebSocket as a client in a browser or elsewhere does.
func (r *webRig) dial(path string, options *websocket.DialOptions) (*client, error) {
	r.t.Helper()
	options.HTTPClient = r.web.Client()
	ws, answer, err := websocket.Dial(r.t.Context(), r.web.URL+path, options)
	if err != nil {
		return nil, err
	}
	if got := answer.Header.Get("Sec-WebSocket-Protocol"); got != strings.Join(options.Subprotocols, "") {
		r.t.Errorf("subprotocol %q", got)
	}
	nc := websocket.NetConn(context.Background(), ws, websocket.MessageBinary)
	r.t.Cleanup(func() { ws.CloseNow() })
	return newClient(r.t, withoutDeadlines{nc}), nil
}

// withoutDeadlines: a deadline that passes would end the client library's connection.
type withoutDeadlines struct{ net.Conn }

func (withoutDeadlines) SetDeadline(time.Time) error      { return nil }
func (withoutDeadlines) SetReadDeadline(time.Time) error  { return nil }
func (withoutDeadlines) SetWriteDeadline(time.Time) error { return nil }

func TestWebSocket(t *testing.T) {
	r := startWeb(t)
	for _, path := range []string{"/ws/amqp", "/"} {
		for _, protocols := range [][]string{{"amqp"}, nil} {
			c, err := r.dial(path, &websocket.DialOptions{Subprotocols: protocols})
			if err != nil {
				t.Fatal(err)
			}
			c.mustOpen()
			c.declare("q")
			fill(c, "q", 20, 100_000) // larger than any buffer on the way
			c.call(1, &amqp.BasicConsume{Queue: "q", NoAck: true}, amqp.MethodBasicConsumeOk)
			for range 20 {
				if _, err := c.method(amqp.MethodBasicDeliver); err != nil {
					t.Fatal(err)
				}
				if body, err := c.content(); err != nil || len(body) != 100_000 {
					t.Fatalf("%d octets, %v", len(body), err)
				}
			}
			c.goodbye()
			eventually(t, "connection gone", func() bool { return r.Stats().Connections == 0 })
		}
	}
}

// A client that goes without a word is noticed, and one that is told to go hears why.
func TestWebSocketEnds(t *testing.T) {
	r := startWeb(t)
	c, err := r.dial("/", &websocket.DialOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.mustOpen()
	c.conn.Close()
	eventually(t, "connection gone", func() bool { return r.Stats().Connections == 0 })

	if c, err = r.dial("/", &websocket.DialOptions{}); err != nil {
		t.Fatal(err)
	}
	c.mustOpen()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		r.stop()
	}()
	if m := c.expect(amqp.MethodConnectionClose).(*amqp.ConnectionClose); m.ReplyCode != amqp.CodeConnectionForced {
		t.Errorf("told %d %s", m.ReplyCode, m.ReplyText)
	}
	c.send(0, &amqp.ConnectionCloseOk{})
	<-closed
}

// AMQP is spoken in binary messages; a text is no AMQP.
func TestWebSocketText(t *testing.T) {
	r := startWeb(t)
	ws, _, err := websocket.Dial(t.Context(), r.web.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	if err := ws.Write(t.Context(), websocket.MessageText, protocolHeader); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ws.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusUnsupportedData {
		t.Errorf("got %v", err)
	}
}

// Only pages that the operator knows may connect; programs, which send no origin, always may. What is no WebSocket is left to others.
func TestWebSocketOrigins(t *testing.T) {
	r := startWeb(t, "*.example.com")
	for origin, allowed := range map[string]bool{
		"": true, r.web.URL: true, "https://app.example.com": true, "https://example.org": false, "null": false,
	} {
		options := &websocket.DialOptions{HTTPHeader: http.Header{}}
		if origin != "" {
			options.HTTPHeader.Set("Origin", origin)
		}
		c, err := r.dial("/", options)
		if (err == nil) != allowed {
			t.Errorf("origin %q: %v", origin, err)
		}
		if err == nil {
			c.conn.Close()
		}
	}
	for path, upgrade := range map[string]string{"/": "", "/api/overview": "websocket", "/ws/amqp": "h2c"} {
		request, err := http.NewRequest(http.MethodGet, r.web.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Upgrade", upgrade)
		answer, err := r.web.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if string(body) != "page" {
			t.Errorf("%s with upgrade %q: %s", path, upgrade, body)
		}
	}
}

func TestClientAddress(t *testing.T) {
	for _, tt := range []struct {
		peer, want string
		forwarded  []string
	}{
		{"127.0.0.1:9", "127.0.0.1:9", nil},
		{"10.0.0.1:9", "10.0.0.1:9", nil},
		{"127.0.0.1:9", "10.1.1.1:9", []string{"10.1.1.1"}},
		{"[::1]:9", "[2001:db8::1]:9", []string{"127.0.0.1, 10.1.1.1", "127.0.0.1, 2001:db8::1"}},
		{"10.0.0.1:9", "10.0.0.1:9", []string{"127.0.0.1"}}, // its own word
		{"127.0.0.1:9", ":9", []string{"unknown"}},
		{"@", ":0", nil},
	} {
		r := &http.Request{RemoteAddr: tt.peer, Header: http.Header{"X-Forwarded-For": tt.forwarded}}
		if got := server.ClientAddress(r).String(); got != tt.want {
			t.Errorf("%s, forwarded %q: %s, want %s", tt.peer, tt.forwarded, got, tt.want)
		}
	}
}

// Whoever comes over WebSocket from afar is a stranger as on any socket.
func TestWebSocketFromAfar(t *testing.T) {
	r := startWeb(t)
	c, err := r.dial("/", &websocket.DialOptions{HTTPHeader: http.Header{"X-Forwarded-For": {"10.1.1.1"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.opening(opening{}); err == nil {
		t.Error("guest is let in")
	}
}
