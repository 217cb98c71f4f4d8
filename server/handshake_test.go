package server_test

import (
	"bytes"
	"io"
	"testing"
	"time"
)

// Whoever speaks another protocol gets the eight octets of the header, all of them, however much it has sent, and then the end.
func TestStrangersGetTheHeader(t *testing.T) {
	r := start(t, testOptions())
	for name, hello := range map[string][]byte{
		"HTTP":             []byte("GET / HTTP/1.1\r\nHost: broker\r\nUser-Agent: probe\r\n\r\n"),
		"TLS":              append([]byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), make([]byte, 506)...),
		"a lot of nothing": make([]byte, 64<<10),
		"AMQP 1.0":         []byte("AMQP\x00\x01\x00\x00"),
	} {
		t.Run(name, func(t *testing.T) {
			c := r.dial()
			c.conn.SetDeadline(time.Now().Add(patience))
			c.write(string(hello))
			got, err := io.ReadAll(c.conn)
			if err != nil && !ended(err) || !bytes.Equal(got, protocolHeader) {
				t.Errorf("got %q (%v), want %q", got, err, protocolHeader)
			}
		})
	}
}
