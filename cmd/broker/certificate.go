package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync/atomic"

	"leveret/config"
)

// certificates is the TLS configuration of the listeners, which may be read anew from its files while it is in use: handshakes that begin
// afterwards see the new ones, open connections keep theirs.
type certificates struct {
	files   config.TLS
	current atomic.Pointer[tls.Config]
}

func newCertificates(files config.TLS) (*certificates, error) {
	c := &certificates{files: files}
	return c, c.reload()
}

// reload reads the files. When it fails, what was there stays in use.
func (c *certificates) reload() error {
	pair, err := tls.LoadX509KeyPair(c.files.CertFile, c.files.KeyFile)
	if err != nil {
		return fmt.Errorf("TLS certificate: %w", err)
	}
	next := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if c.files.VerifyPeer {
		if next.ClientCAs, err = readAuthorities(c.files.CAFile); err != nil {
			return err
		}
		next.ClientAuth = tls.VerifyClientCertIfGiven // what verify_peer alone means in RabbitMQ
	}
	if c.files.RequirePeerCert {
		next.ClientAuth = tls.RequireAndVerifyClientCert
	}
	c.current.Store(next)
	return nil
}

// readAuthorities reads one file of any number of certificates. A file without any would let nobody in, so it is an error.
func readAuthorities(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("TLS authorities: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("TLS authorities: no certificate in %s", file)
	}
	return pool, nil
}

// config returns what listeners are given: it asks for the current configuration at each handshake.
func (c *certificates) config() *tls.Config {
	// The standard library chooses ciphers and curves: its set is safe, and is kept so.
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.current.Load(), nil },
	}
}
