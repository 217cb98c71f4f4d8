// Package ctl is the client side of the HTTP API: it calls a broker, and shows what that answers as tables that fit a terminal. `broker ctl` and
// `broker rabbitmqctl` are made of it. It knows paths and JSON and nothing else of the broker, so it works against RabbitMQ too.
//
// A Client may be used by several goroutines. Calls block until the broker has answered or their context ends.
package ctl

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// Options tell where the broker is and who calls.
type Options struct {
	URL            string // of the HTTP listener, http://host:15672; a path in it stands before /api
	User, Password string
	Socket         string // of the broker's control socket, instead of the URL; whoever can open it needs no password
	CAFile         string // certificates to trust, besides those of the system
	Insecure       bool   // trust any certificate
	Reason         string // of what is closed, told to its clients and the log
}

// Client calls one broker's HTTP API.
type Client struct {
	base           string // ends in /api
	user, password string
	reason         string
	http           *http.Client
}

// New makes a client. It does not connect.
func New(o Options) (*Client, error) {
	c := &Client{user: o.User, password: o.Password, reason: o.Reason}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment}
	if o.Socket != "" {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", o.Socket)
		}
		transport.Proxy, o.URL = nil, "http://control"
	}
	// A URL without http:// in front parses as something else, and is refused with an example.
	at, err := url.Parse(o.URL)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
		return nil, &UsageError{fmt.Sprintf("%q is not the URL of an HTTP API, such as http://localhost:15672", o.URL)}
	}
	if at.User != nil {
		c.user = at.User.Username()
		c.password, _ = at.User.Password()
	}
	// People copy URLs with and without /api at the end.
	c.base = at.Scheme + "://" + at.Host + strings.TrimSuffix(strings.TrimSuffix(at.EscapedPath(), "/"), "/api") + "/api"
	if transport.TLSClientConfig, err = trust(o); err != nil {
		return nil, err
	}
	c.http = &http.Client{Transport: transport}
	return c, nil
}

// trust is whose certificates are believed.
func trust(o Options) (*tls.Config, error) {
	// Insecure is for a look at a broker with a certificate of its own; the flag says so.
	config := &tls.Config{InsecureSkipVerify: o.Insecure}
	if o.CAFile == "" {
		return config, nil
	}
	text, err := os.ReadFile(o.CAFile)
	if err != nil {
		return nil, &UsageError{"certificates: " + err.Error()}
	}
	if config.RootCAs, err = x509.SystemCertPool(); err != nil {
		config.RootCAs = x509.NewCertPool()
	}
	if !config.RootCAs.AppendCertsFromPEM(text) {
		return nil, &UsageError{o.CAFile + " holds no certificate"}
	}
	return config, nil
}

// Path puts a path below /api together; each part is escaped, so names may hold anything.
func Path(parts ...string) string {
	var b strings.Builder
	for _, part := range parts {
		b.WriteByte('/')
		if part == "." || part == ".." { // they would be taken for a way through folders
			part = strings.ReplaceAll(part, ".", "%2E")
		} else {
			part = url.PathEscape(part)
		}
		b.WriteString(part)
	}
	return b.String()
}

// Call sends a request; body is encoded as JSON unless it is nil or already bytes. It returns what was answered, and whether the broker says that something was made.
func (c *Client) Call(ctx context.Context, method, path string, body any) (answer []byte, created bool, err error) {
	content, err := encode(body)
	if err != nil {
		return nil, false, err
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, content)
	if err != nil {
		return nil, false, &UsageError{err.Error()}
	}
	if c.user != "" {
		request.SetBasicAuth(c.user, c.password)
	}
	request.Header.Set("Accept", "application/json, */*;q=0.1")
	request.Header.Set("User-Agent", "leveret-ctl")
	if c.reason != "" {
		request.Header.Set("X-Reason", c.reason)
	}
	if content != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, false, unreachable(ctx, err)
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	if err != nil {
		return nil, false, unreachable(ctx, err)
	}
	// Redirections were followed before; 1xx do not come here.
	if response.StatusCode >= http.StatusBadRequest {
		return nil, false, refusal(method, path, response.StatusCode, answer)
	}
	return answer, response.StatusCode == http.StatusCreated, nil
}

// encode makes JSON of a body. Bytes are JSON already, and nil is no body.
func encode(body any) (io.Reader, error) {
	switch body := body.(type) {
	case nil:
		return nil, nil
	case []byte:
		return bytes.NewReader(body), nil
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	return bytes.NewReader(text), nil
}

// Get asks for a path and decodes the answer; numbers stay as they are written.
func (c *Client) Get(ctx context.Context, path string, into any) error {
	answer, _, err := c.Call(ctx, http.MethodGet, path, nil)
	if err != nil || into == nil {
		return err
	}
	return Decode(answer, into)
}

// Decode reads an answer; numbers stay as they are written.
func Decode(answer []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(answer))
	d.UseNumber()
	if err := d.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("the broker's answer is no JSON: %w", err)
	}
	return nil
}

// Close gives back the connections that wait for further calls.
func (c *Client) Close() { c.http.CloseIdleConnections() }
