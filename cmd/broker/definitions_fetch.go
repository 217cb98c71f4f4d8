package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"leveret/auth/oauth"
	"leveret/config"
)

const (
	// fetchDefinitionsTime bounds how long a start waits for definitions from a URL.
	fetchDefinitionsTime = time.Minute
	// maxDefinitions is more than the definitions of a hundred thousand queues take.
	maxDefinitions = 256 << 20
)

// fetchDefinitions gets definitions from a URL. They make users, so who answers is always verified.
func fetchDefinitions(c config.Config) ([]byte, error) {
	transport, err := definitionsTransport(c.DefinitionsTLS)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: transport, Timeout: fetchDefinitionsTime, CheckRedirect: keepConfidential}
	answer, err := client.Get(c.DefinitionsURL)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	// Nothing but 200: a 204 or a page of a login would be definitions of nothing.
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", withoutPassword(c.DefinitionsURL), answer.Status)
	}
	// One octet more than may be, to tell what is too long from what just fits.
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxDefinitions+1))
	if err == nil && len(text) > maxDefinitions {
		err = fmt.Errorf("%s answers with more than %d bytes", withoutPassword(c.DefinitionsURL), maxDefinitions)
	}
	return text, err
}

// withoutPassword is a URL as it may be logged: the server of the definitions may want a user and a password, which stand in it.
func withoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the URL of the definitions"
	}
	return u.Redacted()
}

// keepConfidential follows a few redirections, and none to where others could answer.
func keepConfidential(next *http.Request, before []*http.Request) error {
	if to := next.URL.String(); len(before) > 5 || !oauth.Confidential(to) {
		return fmt.Errorf("a redirection to %s is not followed", to)
	}
	return nil
}

// definitionsTransport verifies the server by the given authority or the system's, and shows a certificate if there is one to show.
func definitionsTransport(t config.TLS) (*http.Transport, error) {
	options := new(tls.Config)
	if t.CAFile != "" {
		authorities, err := readAuthorities(t.CAFile)
		if err != nil {
			return nil, err
		}
		options.RootCAs = authorities
	}
	// Servers inside of a company may want to know who asks.
	if t.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, err
		}
		options.Certificates = []tls.Certificate{pair}
	}
	// One request in the life of a broker.
	return &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: options, DisableKeepAlives: true}, nil
}
