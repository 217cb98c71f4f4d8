package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"leveret/config"
)

// definitionsServer has definitions and ways to go wrong. It serves by TLS and wants a certificate that signs itself.
func definitionsServer(t *testing.T, clients *x509.CertPool) (s *httptest.Server, ca string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/good", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, someDefinitions) })
	mux.HandleFunc("/bad", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "x") })
	mux.Handle("/moved", http.RedirectHandler("/good", http.StatusFound))
	mux.Handle("/lost", http.RedirectHandler("http://192.0.2.1/good", http.StatusFound))
	mux.Handle("/round", http.RedirectHandler("/round", http.StatusFound))
	s = httptest.NewUnstartedServer(mux)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	if clients != nil {
		s.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients}
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s, file(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
}

func TestDefinitionsFromURL(t *testing.T) {
	s, ca := definitionsServer(t, nil)
	for _, path := range []string{"/good", "/moved"} {
		boot(t, "", func(c *config.Config) {
			c.DefinitionsFrom, c.DefinitionsURL, c.DefinitionsTLS.CAFile = config.HTTPSBackend, s.URL+path, ca
		}, func(n *node) {
			if !slices.Equal(n.userNames(), []string{"u"}) || !slices.Equal(n.vhosts(), []string{"v"}) || !n.server.VHost("v").HasQueue("q") {
				t.Errorf("%s: users %q, virtual hosts %q", path, n.userNames(), n.vhosts())
			}
		})
	}
}

// Who can't be reached, or is not whom the settings mean, ends the start.
func TestDefinitionsFromURLFail(t *testing.T) {
	s, ca := definitionsServer(t, nil)
	for _, tt := range []struct{ name, path, ca, want string }{
		{"not there", "/none", ca, "404"},
		{"no definitions", "/bad", ca, "failed_to_parse_json"},
		{"moved to where anybody answers", "/lost", ca, "not followed"},
		{"moved without end", "/round", ca, "not followed"},
		{"unknown authority", "/good", "", "certificate"},
		{"no file of authorities", "/good", "none", "TLS authorities"},
	} {
		c := config.Default()
		c.DataDir, c.DefinitionsFrom, c.DefinitionsURL, c.DefinitionsTLS.CAFile = "", config.HTTPSBackend, s.URL+tt.path, tt.ca
		_, err := newNode(c, slog.New(slog.DiscardHandler), new(slog.LevelVar))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// A server may want to see who asks.
func TestDefinitionsFromURLShowCertificate(t *testing.T) {
	cert, key := certificate(t, 1)
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM([]byte(cert))
	s, ca := definitionsServer(t, clients)
	c := config.Default()
	c.DefinitionsFrom, c.DefinitionsURL, c.DefinitionsTLS.CAFile = config.HTTPSBackend, s.URL+"/good", ca
	if _, err := fetchDefinitions(c); err == nil {
		t.Error("the server takes a client without a certificate, or its refusal is passed over")
	}
	c.DefinitionsTLS.CertFile, c.DefinitionsTLS.KeyFile = file(t, "cert.pem", cert), file(t, "key.pem", key)
	if text, err := fetchDefinitions(c); err != nil || string(text) != someDefinitions {
		t.Errorf("got %q, %v", text, err)
	}
}

// The password for the server of the definitions is told to nobody else.
func TestDefinitionsPasswordIsNotLogged(t *testing.T) {
	s, ca := definitionsServer(t, nil)
	for _, path := range []string{"/good", "/none", "/bad"} {
		var log strings.Builder
		c := config.Default()
		c.DataDir, c.DefinitionsFrom, c.DefinitionsTLS.CAFile = "", config.HTTPSBackend, ca
		c.DefinitionsURL = strings.Replace(s.URL, "https://", "https://me:secret@", 1) + path
		n, err := newNode(c, slog.New(slog.NewTextHandler(&log, nil)), new(slog.LevelVar))
		if err == nil {
			err = n.stop()
		}
		if said := fmt.Sprint(log.String(), err); !strings.Contains(said, "me:xxxxx@") || strings.Contains(said, "secret") {
			t.Errorf("%s: %s", path, said)
		}
	}
}
