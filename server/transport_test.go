package server_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"leveret/server"

	"github.com/pires/go-proxyproto"
)

// startProxied runs a server that trusts proxies at an address.
func startProxied(t *testing.T, trusted string, set func(o *server.Options)) *rig {
	t.Helper()
	o := testOptions()
	o.ProxyProtocol, o.TrustedProxies = true, []netip.Prefix{netip.MustParsePrefix(trusted)}
	set(&o)
	return start(t, o)
}

// header is what a proxy sends for a client that connects from an address to port 5672 of 192.0.2.1.
func header(version byte, from string) []byte {
	source := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(from))
	b, err := proxyproto.HeaderProxyFromAddrs(version, source, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 5672}).Format()
	if err != nil {
		panic(err)
	}
	return b
}

func TestProxyProtocol(t *testing.T) {
	local, err := (&proxyproto.Header{Version: 2, Command: proxyproto.LOCAL}).Format()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, trusted string
		before        string
		user          string // who is let in: guest needs a loopback address
		fails         bool
	}{
		{"version 1", "127.0.0.0/8", string(header(1, "10.0.0.9:1234")), "impersonator", false},
		{"version 2", "127.0.0.0/8", string(header(2, "10.0.0.9:1234")), "impersonator", false},
		{"guest from afar", "127.0.0.0/8", string(header(2, "10.0.0.9:1234")), "guest", true},
		{"guest from loopback", "127.0.0.0/8", string(header(1, "127.0.0.9:1234")), "guest", false},
		{"the proxy itself", "127.0.0.0/8", string(local), "guest", false},
		{"none from a proxy", "127.0.0.0/8", "", "guest", true},
		{"none from a client", "10.0.0.0/8", "", "guest", false},
		{"a client's own", "10.0.0.0/8", string(header(1, "127.0.0.9:1234")), "guest", true},
		{"nonsense", "127.0.0.0/8", "PROXY TCP4 1 2 3 4\r\n", "guest", true},
		{"no TCP", "127.0.0.0/8", "PROXY UNKNOWN\r\n", "guest", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := startProxied(t, tt.trusted, func(*server.Options) {})
			c := r.dial()
			c.out = append(c.out, tt.before...) // goes out with the protocol header, in one piece
			err := c.opening(opening{user: tt.user})
			if (err != nil) != tt.fails {
				t.Errorf("opened: %v", err)
			}
			c.conn.Close()
		})
	}
}

// The address that the proxy tells is in the connection's name, and the proxy's own is not.
func TestProxiedName(t *testing.T) {
	r := startProxied(t, "127.0.0.0/8", func(*server.Options) {})
	c := r.dial()
	c.out = append(c.out, header(1, "10.0.0.9:1234")...)
	if err := c.opening(opening{user: "impersonator"}); err != nil {
		t.Fatal(err)
	}
	if got := r.ConnectionNames(); len(got) != 1 || got[0] != "10.0.0.9:1234 -> 192.0.2.1:5672" {
		t.Errorf("named %q", got)
	}
	c.declare("q")
	fill(c, "q", 10, 100)
	c.goodbye()
}

// Behind a proxy that passes TLS through, the client's name is still the proxied one, and publishing goes the short way on plain sockets.
func TestProxyProtocolBeforeTLS(t *testing.T) {
	r := startProxied(t, "127.0.0.0/8", func(o *server.Options) { o.TLSAddresses, o.TLS = []string{"127.0.0.1:0"}, certified(t) })
	_, secure := r.Addresses()
	nc, err := net.Dial("tcp", secure[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nc.Write(header(2, "127.0.0.77:1")); err != nil {
		t.Fatal(err)
	}
	c := newClient(t, tls.Client(nc, &tls.Config{InsecureSkipVerify: true}))
	c.mustOpen()
	c.declare("q")
	fill(c, "q", 10, 100)
	c.goodbye()
}

// Clients that are slow about what comes before AMQP are ended in time, and hold up nobody.
func TestSlowPreparation(t *testing.T) {
	r := startProxied(t, "127.0.0.0/8", func(o *server.Options) {
		o.TLSAddresses, o.TLS = []string{"127.0.0.1:0"}, certified(t)
		o.HandshakeTimeout, o.TLSHandshakeTimeout = 200*time.Millisecond, 200*time.Millisecond
	})
	plain, secure := r.Addresses()
	for _, tt := range []struct{ name, address, sends string }{
		{"nothing for a header", plain[0], ""},
		{"half a header", plain[0], "PROXY TCP4 10.0.0"},
		{"half a header of version 2", plain[0], string(header(2, "10.0.0.9:1234")[:14])},
		{"header alone", secure[0], string(header(1, "10.0.0.9:1234"))},
		{"half a hello", secure[0], string(header(1, "10.0.0.9:1234")) + "\x16\x03\x01\x02\x00"},
		{"no hello", secure[0], string(header(1, "10.0.0.9:1234")) + "AMQP\x00\x00\x09\x01"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			nc, err := net.Dial("tcp", tt.address)
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			if _, err := io.WriteString(nc, tt.sends); err != nil {
				t.Fatal(err)
			}
			nc.SetReadDeadline(time.Now().Add(patience))
			if b, err := io.ReadAll(nc); err != nil && !strings.Contains(err.Error(), "reset") {
				t.Errorf("got %d octets and %v, want the end", len(b), err)
			}
		})
	}
}

// A server that closes does not wait for clients that have not got as far as AMQP.
func TestCloseWhilePreparing(t *testing.T) {
	r := startProxied(t, "127.0.0.0/8", func(o *server.Options) { o.HandshakeTimeout = time.Hour })
	plain, _ := r.Addresses()
	for range 3 {
		nc, err := net.Dial("tcp", plain[0])
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
	}
	eventually(t, "accepted", func() bool { return r.Preparing() == 3 })
	// start's clean-up closes the server and is not patient enough for an hour.
}

func TestTLSStatus(t *testing.T) {
	r := startTLS(t)
	for version, want := range map[uint16]string{
		tls.VersionTLS13: "tlsv1.3 any aes_128_gcm aead", tls.VersionTLS12: "tlsv1.2 ecdhe_ecdsa aes_128_gcm aead",
	} {
		c := r.dialTLS(version, func(nc net.Conn) net.Conn { return nc })
		var got string
		for _, st := range r.TLSStatuses() {
			got = fmt.Sprint(st.Protocol, " ", st.KeyExchange, " ", st.Cipher, " ", st.Hash)
		}
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
		c.goodbye()
		eventually(t, "connection gone", func() bool { return len(r.TLSStatuses()) == 0 })
	}
	c := r.open()
	if len(r.TLSStatuses()) != 0 {
		t.Error("a plain connection has TLS")
	}
	c.goodbye()
}

func TestCipherParts(t *testing.T) {
	for suite, want := range map[string]string{
		"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384":         "ecdhe_rsa aes_256_gcm aead",
		"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": "ecdhe_ecdsa chacha20_poly1305 aead",
		"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA":            "ecdhe_rsa aes_128_cbc sha",
		"TLS_CHACHA20_POLY1305_SHA256":                  "any chacha20_poly1305 aead",
		"0x1234":                                        "any 0x1234 ",
	} {
		exchange, cipher, hash := server.CipherParts(suite)
		if got := exchange + " " + cipher + " " + hash; got != want {
			t.Errorf("%s: %s, want %s", suite, got, want)
		}
	}
}

// FuzzProxyHeader holds that whatever comes before AMQP, nobody gets further with a header that is none, and nobody takes the server down.
func FuzzProxyHeader(f *testing.F) {
	f.Add(header(1, "10.0.0.9:1234"))
	f.Add(header(2, "[2001:db8::1]:1234"))
	f.Add([]byte("PROXY UNKNOWN\r\n"))
	f.Add([]byte("\r\n\r\n\x00\r\nQUIT\n\x21\x11\xff\xff"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		remote, early, err := server.ReadProxyHeader(sent)
		if err != nil {
			return
		}
		if remote != nil && remote.Network() != "tcp" {
			t.Errorf("address %s of %q", remote, sent)
		}
		if !strings.HasSuffix(string(sent), string(early)) {
			t.Errorf("%q is left of %q", early, sent)
		}
	})
}
