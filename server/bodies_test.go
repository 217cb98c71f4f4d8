package server_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"testing"
	"time"

	"leveret/amqp"
	"leveret/frame"
)

// Bodies of all sizes come as they went, cut by the receiver's frame-max, through plain sockets and TLS.
func TestBodiesOfAllSizes(t *testing.T) {
	o := testOptions()
	o.TLSAddresses, o.TLS = []string{"127.0.0.1:0"}, certified(t)
	r := start(t, o)
	_, secure := r.Addresses()
	nc, err := tls.Dial("tcp", secure[0], &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	overTLS := newClient(t, nc)
	for name, c := range map[string]*client{"plain": r.dial(), "TLS": overTLS} {
		t.Run(name, func(t *testing.T) {
			const frameMax = 4096
			if err := c.opening(opening{frameMax: frameMax}); err != nil {
				t.Fatal(err)
			}
			c.declare(name)
			c.call(1, &amqp.BasicConsume{Queue: name, ConsumerTag: "t", NoAck: true}, amqp.MethodBasicConsumeOk)
			for _, size := range []int{0, 1, frameMax - frame.Overhead, frameMax - frame.Overhead + 1, 16 << 10, 40_000, 1<<20 + 1, 9 << 20} {
				body := make([]byte, size)
				rand.Read(body)
				c.add(1, &amqp.BasicPublish{RoutingKey: []byte(name)})
				c.out = frame.AppendContentHeader(c.out, 1, amqp.ClassBasic, uint64(size), []byte{0, 0})
				c.out = frame.AppendBody(c.out, 1, body, frameMax)
				written := make(chan error, 1)
				go func() { written <- c.flush() }()
				c.expect(amqp.MethodBasicDeliver)
				expectBody(t, c, body, frameMax)
				if err := <-written; err != nil {
					t.Fatal(err)
				}
			}
			c.goodbye()
		})
	}
}

// expectBody reads a body that must be cut into frames as large as allowed.
func expectBody(t *testing.T, c *client, want []byte, frameMax int) {
	t.Helper()
	f, err := c.next()
	if err != nil || f.Type != frame.TypeHeader {
		t.Fatalf("got %s (%v), want a header", frame.Dump(f), err)
	}
	for len(want) > 0 {
		f, err := c.next()
		if err != nil {
			t.Fatal(err)
		}
		n := min(len(want), frameMax-frame.Overhead)
		if f.Type != frame.TypeBody || !bytes.Equal(f.Payload, want[:n]) {
			t.Fatalf("frame of type %d with %d octets, want %d; %d octets to come", f.Type, len(f.Payload), n, len(want))
		}
		want = want[n:]
	}
}

// certified is a TLS configuration with a certificate that it signed itself.
func certified(t *testing.T) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}}}
}
