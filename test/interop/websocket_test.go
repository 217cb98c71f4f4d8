package interop

import "testing"

// A client that is made for browsers speaks AMQP over WebSocket on the HTTP address.
func TestWebSocketClient(t *testing.T) {
	t.Parallel()
	b := ownBroker(t, "--http-addr", "127.0.0.1:0")
	for _, path := range []string{"/ws/amqp", "/"} {
		b.program(t, browser, "websocket", "ws://"+b.http+path).finish(
			"confirmed 1",
			"got 1048576 true application/octet-stream 7",
			"channel 1 closed: NOT_FOUND - no queue 'nowhere' in vhost '/' (404)",
			"refused",
		)
	}
}
