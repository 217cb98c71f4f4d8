package oauth

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// source reads a JWK set from where it is.
type source func() ([]byte, error)

const (
	// fetchTime bounds how long the provider may take to answer.
	fetchTime = 5 * time.Second
	// maxDocument is more than any set of keys takes.
	maxDocument = 1 << 20
)

// newSource chooses where the keys come from; nil is nowhere.
func newSource(o *Options) (source, error) {
	client, err := newClient(o.CAFile)
	switch {
	case err != nil:
		return nil, err
	case o.JWKSURL != "":
		return func() ([]byte, error) { return fetch(client, o.JWKSURL) }, nil
	case o.JWKSFile != "":
		return func() ([]byte, error) { return os.ReadFile(o.JWKSFile) }, nil
	case o.discovers():
		return func() ([]byte, error) { return discover(client, o.Issuer) }, nil
	}
	return nil, nil
}

// newClient makes what asks the provider. It follows no redirection: the address of the keys is an operator's word.
func newClient(caFile string) (*http.Client, error) {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}
	if caFile != "" {
		text, err := os.ReadFile(caFile)
		if err != nil {
			return nil, fmt.Errorf("certificates of the token provider: %w", err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("certificates of the token provider: %s has none", caFile)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	}
	return &http.Client{
		Transport: transport, Timeout: fetchTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// fetch gets a document of bounded size.
func fetch(client *http.Client, address string) ([]byte, error) {
	answer, err := client.Get(address)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", address, answer.Status)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxDocument+1))
	if err == nil && len(text) > maxDocument {
		err = fmt.Errorf("%s answers with more than %d bytes", address, maxDocument)
	}
	return text, err
}

// discover asks the issuer where its keys are, and gets them (OpenID Connect Discovery 1.0, section 4).
func discover(client *http.Client, issuer string) ([]byte, error) {
	address := strings.TrimSuffix(issuer, "/") + "/.well-known/openid-configuration"
	text, err := fetch(client, address)
	if err != nil {
		return nil, err
	}
	var about struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := json.Unmarshal(text, &about); err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	if about.Issuer != issuer || !Confidential(about.Keys) {
		return nil, fmt.Errorf("%s speaks for issuer %q with keys at %q", address, about.Issuer, about.Keys)
	}
	return fetch(client, about.Keys)
}

var errNoPublicKey = errors.New("no public key or certificate in PEM")

// parsePEM reads a public key, or that of a certificate.
func parsePEM(text []byte) (any, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errNoPublicKey
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if certificate, bad := x509.ParseCertificate(block.Bytes); bad == nil {
		key, err = certificate.PublicKey, nil
	} else if pkcs1, bad := x509.ParsePKCS1PublicKey(block.Bytes); bad == nil {
		key, err = pkcs1, nil
	}
	switch key.(type) {
	case *rsa.PublicKey, *ecdsa.PublicKey, ed25519.PublicKey:
		return key, nil
	}
	return nil, errors.Join(errNoPublicKey, err)
}
