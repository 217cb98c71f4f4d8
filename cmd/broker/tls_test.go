package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"leveret/config"
)

// named makes files of a certificate for one host.
func named(t *testing.T, host string) (certFile, keyFile string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return file(t, host+".pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))),
		file(t, host+".key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
}

// shake makes one handshake and returns what it came to.
func shake(t *testing.T, c *certificates, client *tls.Config) (tls.ConnectionState, error) {
	t.Helper()
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	served := make(chan struct{})
	go func() {
		defer close(served)
		if tls.Server(theirs, c.config()).Handshake() != nil {
			theirs.Close()
		}
	}()
	client.InsecureSkipVerify = true
	conn := tls.Client(ours, client)
	err := conn.Handshake()
	ours.Close()
	<-served
	return conn.ConnectionState(), err
}

func TestCertificateByName(t *testing.T) {
	first, firstKey := named(t, "first.example")
	second, secondKey := named(t, "second.example")
	c, err := newCertificates(config.TLS{
		CertFile: first, KeyFile: firstKey, Certificates: []config.Certificate{{Name: "2", CertFile: second, KeyFile: secondKey}},
	}, nil, quiet)
	if err != nil {
		t.Fatal(err)
	}
	for asked, shown := range map[string]string{
		"first.example": "first.example", "second.example": "second.example", "third.example": "first.example", "": "first.example",
	} {
		state, err := shake(t, c, &tls.Config{ServerName: asked})
		if err != nil || state.PeerCertificates[0].Subject.CommonName != shown {
			t.Errorf("asked for %q: %v, %v", asked, state.PeerCertificates[0].Subject, err)
		}
	}
}

func TestVersionsAndCiphers(t *testing.T) {
	cert, key := named(t, "host")
	tests := []struct {
		name              string
		versions, ciphers []string
		client            *tls.Config
		want              string // version and cipher, empty: none
	}{
		{"newest", nil, nil, &tls.Config{}, "TLS 1.3"},
		{"old client", nil, nil, &tls.Config{MaxVersion: tls.VersionTLS12}, "TLS 1.2"},
		{"older client", nil, nil, &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, ""},
		{"1.2 alone", []string{"tlsv1.2"}, nil, &tls.Config{}, "TLS 1.2"},
		{"1.3 alone", []string{"tlsv1.3"}, nil, &tls.Config{MaxVersion: tls.VersionTLS12}, ""},
		{"both", []string{"tlsv1.3", "tlsv1.2"}, nil, &tls.Config{MaxVersion: tls.VersionTLS12}, "TLS 1.2"},
		{"unsafe", []string{"tlsv1", "tlsv1.1"}, nil, &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, ""},
		{"IANA's name", nil, []string{"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"}, &tls.Config{MaxVersion: tls.VersionTLS12},
			"TLS 1.2 TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"},
		{"OpenSSL's name", nil, []string{"ECDHE-ECDSA-CHACHA20-POLY1305", "AES128-SHA"}, &tls.Config{MaxVersion: tls.VersionTLS12},
			"TLS 1.2 TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"},
		{"not the client's", nil, []string{"ECDHE-ECDSA-CHACHA20-POLY1305"},
			&tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := newCertificates(config.TLS{CertFile: cert, KeyFile: key, Versions: tt.versions, Ciphers: tt.ciphers}, nil, quiet)
			if err != nil {
				t.Fatal(err)
			}
			state, err := shake(t, c, tt.client)
			got := tls.VersionName(state.Version) + " " + tls.CipherSuiteName(state.CipherSuite)
			if (err == nil) != (tt.want != "") || err == nil && !strings.HasPrefix(got, tt.want) {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
}

// Every suite that is safe can be named in OpenSSL's way, as in a rabbitmq.conf.
func TestOpenSSLNames(t *testing.T) {
	for name, want := range map[string]string{
		"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256":       "ECDHE-RSA-AES128-GCM-SHA256",
		"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA":        "ECDHE-ECDSA-AES128-SHA",
		"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-RSA-CHACHA20-POLY1305",
		"TLS_AES_128_GCM_SHA256":                      "TLS_AES_128_GCM_SHA256",
	} {
		if got := openSSLName(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	ids, unknown, err := cipherIDs([]string{"DHE-RSA-AES256-SHA", "ECDHE-RSA-AES128-GCM-SHA256"})
	if err != nil || len(ids) != 1 || !slices.Equal(unknown, []string{"DHE-RSA-AES256-SHA"}) {
		t.Errorf("got %v, unknown %v, %v", ids, unknown, err)
	}
}

// Files that change are read without being told; a renewal that is caught half way leaves the old ones in use until it is whole.
func TestRenewalIsSeen(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	write := func(path, text string, age time.Duration) {
		t.Helper()
		whole := path + ".new" // so that who watches sees one change and no half of a file
		if err := os.WriteFile(whole, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(whole, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(whole, path); err != nil {
			t.Fatal(err)
		}
	}
	cert, key := certificate(t, 1)
	write(certFile, cert, time.Hour)
	write(keyFile, key, time.Hour)
	log := newJournal()
	l, err := newTLSListeners(config.Config{
		AMQPSAddrs: []string{":0"}, HTTPSAddr: ":0", TLS: config.TLS{CertFile: certFile, KeyFile: keyFile},
	}, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil || l.metrics != nil {
		t.Fatalf("%+v, %v", l, err)
	}
	l.watching.Go(func() { l.watch(time.Millisecond) })
	serial := func() string { return fmt.Sprint(l.http.current.Load().Certificates[0].Leaf.SerialNumber) }
	cert, key = certificate(t, 2)
	write(certFile, cert, 2*time.Minute)
	log.await(t, "changed certificate files are not taken", 2) // AMQP's and HTTP's
	if got := serial(); got != "1" {
		t.Errorf("half a renewal is in use: serial number %s", got)
	}
	write(keyFile, key, time.Minute)
	log.await(t, "certificates reloaded", 2)
	if got := serial(); got != "2" {
		t.Errorf("serial number %s after the renewal", got)
	}
	l.end()
}
