package main

import (
	"crypto/tls"
	"log/slog"
	"os"
	"strings"
	"testing"

	"leveret/config"
)

// quiet is a log that nobody reads.
var quiet = slog.New(slog.DiscardHandler)

func TestCertificateErrors(t *testing.T) {
	cert, key := certificate(t, 1)
	_, otherKey := certificate(t, 2)
	certFile, keyFile := file(t, "cert.pem", cert), file(t, "key.pem", key)
	tests := []struct {
		name  string
		files config.TLS
		want  string
	}{
		{"good", config.TLS{CertFile: certFile, KeyFile: keyFile}, ""},
		{"no file", config.TLS{CertFile: certFile + "x", KeyFile: keyFile}, "no such file"},
		{"another's key", config.TLS{CertFile: certFile, KeyFile: file(t, "other.pem", otherKey)}, "private key does not match"},
		{"further ones", config.TLS{CertFile: certFile, KeyFile: keyFile, Certificates: []config.Certificate{{CertFile: certFile, KeyFile: keyFile}}}, ""},
		{"no further file", config.TLS{CertFile: certFile, KeyFile: keyFile, Certificates: []config.Certificate{{CertFile: certFile, KeyFile: "x"}}}, "no such file"},
		{"no safe cipher", config.TLS{CertFile: certFile, KeyFile: keyFile, Ciphers: []string{"RC4-SHA"}}, "none of RC4-SHA is safe"},
		{"no authorities", config.TLS{CertFile: certFile, KeyFile: keyFile, VerifyPeer: true, CAFile: certFile + "x"}, "TLS authorities"},
		{"empty authorities", config.TLS{CertFile: certFile, KeyFile: keyFile, VerifyPeer: true, CAFile: file(t, "ca.pem", "")}, "no certificate in"},
	}
	for _, tt := range tests {
		_, err := newCertificates(tt.files, nil, quiet)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestClientVerificationModes(t *testing.T) {
	cert, key := certificate(t, 1)
	files := config.TLS{CertFile: file(t, "cert.pem", cert), KeyFile: file(t, "key.pem", key)}
	files.CAFile = files.CertFile
	for _, tt := range []struct {
		verify, require bool
		want            tls.ClientAuthType
	}{
		{false, false, tls.NoClientCert}, {true, false, tls.VerifyClientCertIfGiven}, {true, true, tls.RequireAndVerifyClientCert},
	} {
		files.VerifyPeer, files.RequirePeerCert = tt.verify, tt.require
		c, err := newCertificates(files, nil, quiet)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.config().GetConfigForClient(nil)
		if err != nil || got.ClientAuth != tt.want || got.MinVersion != tls.VersionTLS12 || (got.ClientCAs != nil) != tt.verify {
			t.Errorf("verify %v, require %v: %v, %v", tt.verify, tt.require, got.ClientAuth, err)
		}
	}
}

// TestFailedReloadKeepsTheOld replaces one file only, as a renewal that is caught half way does.
func TestFailedReloadKeepsTheOld(t *testing.T) {
	cert, key := certificate(t, 1)
	files := config.TLS{CertFile: file(t, "cert.pem", cert), KeyFile: file(t, "key.pem", key)}
	c, err := newCertificates(files, nil, quiet)
	if err != nil {
		t.Fatal(err)
	}
	before := c.current.Load()
	newer, newerKey := certificate(t, 2)
	if err := os.WriteFile(files.CertFile, []byte(newer), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.reload(); err == nil || c.current.Load() != before {
		t.Errorf("half a renewal is taken: %v", err)
	}
	if err := os.WriteFile(files.KeyFile, []byte(newerKey), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.reload(); err != nil || c.current.Load() == before {
		t.Errorf("the whole renewal is not taken: %v", err)
	}
}
