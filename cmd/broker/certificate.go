package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"leveret/config"
)

// certificates is the TLS configuration of listeners, which may be read anew from its files while it is in use: handshakes that begin
// afterwards see the new ones, open connections keep theirs.
type certificates struct {
	files    config.TLS
	current  atomic.Pointer[tls.Config]
	reading  sync.Mutex // held by whoever reads the files; guards what follows
	seen     []stamp    // of the files, when they were last read
	versions [2]uint16  // oldest and newest
	ciphers  []uint16
	protocol []string // that TLS names, for web servers; AMQP has none
}

// newCertificates reads the files for the first time. Settings that are left out as unsafe are logged.
func newCertificates(files config.TLS, protocol []string, log *slog.Logger) (*certificates, error) {
	c := &certificates{files: files, protocol: protocol}
	oldest, newest, old := versionRange(files.Versions)
	ciphers, unknown, err := cipherIDs(files.Ciphers)
	if err != nil {
		return nil, err
	}
	if unsafe := slices.Concat(old, unknown); len(unsafe) > 0 {
		log.Warn("TLS versions and ciphers that are not safe, or not known, are not offered", "names", unsafe)
	}
	c.versions, c.ciphers = [2]uint16{oldest, newest}, ciphers
	return c, c.reload()
}

// reload reads the files. When it fails, what was there stays in use.
func (c *certificates) reload() error {
	c.reading.Lock()
	defer c.reading.Unlock()
	c.seen = c.stamps() // before they are read, so that a change meanwhile is not missed
	next := &tls.Config{MinVersion: c.versions[0], MaxVersion: c.versions[1], CipherSuites: c.ciphers, NextProtos: c.protocol}
	main := config.Certificate{CertFile: c.files.CertFile, KeyFile: c.files.KeyFile}
	for _, pair := range append([]config.Certificate{main}, c.files.Certificates...) {
		// A certificate whose key is of another is an error here, and the pair that was there stays: renewals replace two files, one after the other.
		certificate, err := tls.LoadX509KeyPair(pair.CertFile, pair.KeyFile)
		if err != nil {
			return fmt.Errorf("TLS certificate: %w", err)
		}
		next.Certificates = append(next.Certificates, certificate) // a client that names no host, or none of theirs, is shown the first
	}
	if c.files.VerifyPeer {
		var err error
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
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.current.Load(), nil },
	}
}

// stamp tells whether a file is still the one that was read. Renewals replace files, or what a link leads to.
type stamp struct {
	modified time.Time
	size     int64
}

// stamps are those of all files. One that can't be read has the zero stamp, and so counts as changed when it is back.
func (c *certificates) stamps() []stamp {
	names := []string{c.files.CertFile, c.files.KeyFile, c.files.CAFile}
	for _, further := range c.files.Certificates {
		names = append(names, further.CertFile, further.KeyFile)
	}
	stamps := make([]stamp, len(names))
	for i, name := range names {
		if info, err := os.Stat(name); err == nil {
			stamps[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return stamps
}

// changed reports whether a file is another than when they were last read, in vain or not.
func (c *certificates) changed() bool {
	c.reading.Lock()
	defer c.reading.Unlock()
	return !slices.Equal(c.stamps(), c.seen)
}
