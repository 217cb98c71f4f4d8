package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// journal is a log that tests can wait for.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{} // closed at the next write
}

func newJournal() *journal { return &journal{more: make(chan struct{})} }

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	close(j.more)
	j.more = make(chan struct{})
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// patience is how long a test waits for what must come.
const patience = time.Minute

// await waits until the log has a text n times.
func (j *journal) await(t *testing.T, text string, n int) {
	t.Helper()
	limit := time.After(patience)
	for {
		j.mu.Lock()
		found, more := strings.Count(j.text.String(), text), j.more
		j.mu.Unlock()
		if found >= n {
			return
		}
		select {
		case <-more:
		case <-limit:
			t.Fatalf("%q is not logged %d times:\n%s", text, n, j)
		}
	}
}

// running is a broker that a test runs by its command line.
type running struct {
	addresses
	log  *journal
	code chan int
}

// startBroker runs `broker serve` on free ports until the test ends.
func startBroker(t *testing.T, args ...string) *running {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready.json")
	r := &running{log: newJournal(), code: make(chan int, 1)}
	args = append([]string{"serve", "--amqp-addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0", "--metrics-addr", "127.0.0.1:0",
		"--data-dir", t.TempDir(), "--ready-file", ready}, args...)
	go func() { r.code <- execute(newRootCommand(), args, strings.NewReader(""), io.Discard, r.log) }()
	t.Cleanup(func() { r.terminate(t) })
	r.log.await(t, "ready", 1)
	text, err := os.ReadFile(ready)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &r.addresses); err != nil {
		t.Fatal(err)
	}
	return r
}

// terminate stops the broker as an init system does and checks that it ends well.
func (r *running) terminate(t *testing.T) {
	if r.code == nil {
		return
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case code := <-r.code:
		if code != 0 {
			t.Errorf("exit code %d:\n%s", code, r.log)
		}
	case <-time.After(patience):
		t.Errorf("SIGTERM does not end it:\n%s", r.log)
	}
	r.code = nil
}

// get returns the body of an HTTP answer.
func get(t *testing.T, url string) string {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	answer, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestServeAndPerf(t *testing.T) {
	r := startBroker(t)
	code, stdout, stderr := broker(t, "", "perf", "--uri", "amqp://"+r.AMQP[0], "--count", "5000", "--duration", "0", "--confirm", "100", "--json")
	var report struct{ Published, Confirmed, Received, Missing uint64 }
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || code != 0 {
		t.Fatalf("exit code %d, %v: %s%s", code, err, stdout, stderr)
	}
	if report.Published != 5000 || report.Confirmed != 5000 || report.Received != 5000 || report.Missing != 0 {
		t.Errorf("perf says %s", stdout)
	}
	for _, address := range []string{r.HTTP[0], r.Metrics[0]} {
		body := get(t, "http://"+address+"/metrics")
		for _, line := range []string{
			"rabbitmq_channel_messages_published_total 5000", "rabbitmq_channel_messages_confirmed_total 5000",
			"rabbitmq_channel_messages_delivered_ack_total 5000", "rabbitmq_channel_messages_acked_total 5000",
			"rabbitmq_queues 0", "rabbitmq_consumers 0", "rabbitmq_channels 0", "rabbitmq_connections 0",
			"rabbitmq_connections_opened_total 4", "rabbitmq_connections_closed_total 4",
		} {
			if !strings.Contains(body, "\n"+line+"\n") {
				t.Errorf("%s is not among the metrics", line)
			}
		}
	}
	r.terminate(t)
	if !strings.Contains(r.log.String(), "stopped") {
		t.Errorf("log:\n%s", r.log)
	}
	if _, err := net.Dial("tcp", r.AMQP[0]); err == nil {
		t.Error("it still listens")
	}
}

func TestPerfTable(t *testing.T) {
	r := startBroker(t)
	code, stdout, stderr := broker(t, "", "perf", "--uri", "amqp://"+r.AMQP[0], "--count", "10", "--duration", "0", "--auto-ack", "--prefetch", "10")
	if code != 0 || !strings.Contains(stdout, "published  10") || !strings.Contains(stdout, "delivery latency: p50 ") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = broker(t, "", "perf", "--uri", "amqp://guest:wrong@"+r.AMQP[0])
	if code != 1 || stdout != "" || !strings.Contains(stderr, "403 ACCESS_REFUSED") {
		t.Errorf("wrong password: exit code %d\n%s%s", code, stdout, stderr)
	}
}

func TestPerfOverTLS(t *testing.T) {
	cert, key := certificate(t, 3)
	r := startBroker(t, "--amqps-addr", "127.0.0.1:0", "--tls-cert", file(t, "cert.pem", cert), "--tls-key", file(t, "key.pem", key))
	args := []string{"perf", "--uri", "amqps://" + r.AMQPS[0], "--count", "100", "--duration", "0", "--size", "100000"}
	code, stdout, stderr := broker(t, "", append(args, "--tls-skip-verify")...)
	if code != 0 || !strings.Contains(stdout, "received   100 ") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if code, _, stderr = broker(t, "", args...); code != 1 || !strings.Contains(stderr, "certificate") {
		t.Errorf("a certificate that nobody vouches for: exit code %d\n%s", code, stderr)
	}
}

func TestReload(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile, settings := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "a.conf")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, key := certificate(t, 1)
	write(certFile, cert)
	write(keyFile, key)
	write(settings, "log.console.formatter = json\n")
	r := startBroker(t, "--config", settings, "--amqps-addr", "127.0.0.1:0", "--tls-cert", certFile, "--tls-key", keyFile)
	if got := serial(t, r.AMQPS[0]); got != 1 {
		t.Fatalf("serial number %d", got)
	}

	hangUp := func(n int) {
		t.Helper()
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		r.log.await(t, `"reload`, n)
	}
	cert, key = certificate(t, 2)
	write(certFile, cert)
	write(keyFile, key)
	write(settings, "log.console.level = debug\n")
	hangUp(1)
	if got := serial(t, r.AMQPS[0]); got != 2 {
		t.Errorf("after a reload serial number %d", got)
	}
	r.log.await(t, `"level":"DEBUG"`, 1) // it says something of the connection

	write(certFile, "nonsense")
	write(settings, "nonsense")
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	r.log.await(t, "certificate is not read again", 1)
	r.log.await(t, "configuration is not read again", 1)
	if got := serial(t, r.AMQPS[0]); got != 2 {
		t.Errorf("after a failed reload serial number %d", got)
	}
}

func TestServeFails(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	busy := taken.Addr().String()
	tests := []struct {
		name, want string
		args       []string
	}{
		{"AMQP address in use", "listen for AMQP", []string{"--amqp-addr", busy}},
		{"metrics address in use", "listen for HTTP", []string{"--amqp-addr", "127.0.0.1:0", "--metrics-addr", busy}},
		{"no certificate", "TLS certificate", []string{"--amqps-addr", "127.0.0.1:0", "--tls-cert", "none", "--tls-key", "none"}},
		{"no keys for tokens, and nothing else", "nobody could log in", []string{"--amqp-addr", "127.0.0.1:0", "--config",
			file(t, "tokens.conf", "auth_backends.1 = oauth2\nauth_oauth2.resource_server_id = r\nauth_oauth2.jwks_file = none.json\n")}},
		{"no folder for the ready file", "ready file", []string{"--amqp-addr", "127.0.0.1:0", "--ready-file", filepath.Join(t.TempDir(), "no", "x")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args := append([]string{"serve", "--data-dir", t.TempDir(), "--http-addr", "none", "--metrics-addr", "none"}, tt.args...)
			code, _, stderr := broker(t, "", args...)
			if code != 1 || !strings.Contains(stderr, "broker: "+tt.want) {
				t.Errorf("exit code %d:\n%s", code, stderr)
			}
		})
	}
}

func TestClientCertificates(t *testing.T) {
	cert, key := certificate(t, 7)
	certFile, keyFile := file(t, "cert.pem", cert), file(t, "key.pem", key)
	r := startBroker(t, "--amqps-addr", "127.0.0.1:0", "--tls-cert", certFile, "--tls-key", keyFile, "--tls-ca", certFile,
		"--config", file(t, "a.conf", "ssl_options.verify = verify_peer\nssl_options.fail_if_no_peer_cert = true\n"))
	own, err := tls.X509KeyPair([]byte(cert), []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		certificates []tls.Certificate
		ok           bool
	}{"none": {nil, false}, "signed": {[]tls.Certificate{own}, true}} {
		answered := handshake(t, r.AMQPS[0], tt.certificates)
		if answered != tt.ok {
			t.Errorf("%s: let in %v", name, answered)
		}
	}
}

// handshake tells whether the broker answers a protocol header over TLS.
func handshake(t *testing.T, address string, certificates []tls.Certificate) bool {
	t.Helper()
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, Certificates: certificates}}
	conn, err := dialer.DialContext(t.Context(), "tcp", address)
	if err != nil {
		return false
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, "AMQP\x00\x00\x09\x01"); err != nil {
		return false
	}
	_, err = conn.Read(make([]byte, 8))
	return err == nil
}

// serial is the serial number of the certificate that the broker shows.
func serial(t *testing.T, address string) int64 {
	t.Helper()
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

// certificate makes one that signs itself.
func certificate(t *testing.T, serial int64) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	keyBytes, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return cert, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyBytes}))
}
