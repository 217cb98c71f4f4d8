package interop

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// An authority signs certificates for one test.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	a.cert, a.key = a.issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	return a
}

// issue makes a certificate, which signs itself if there is none yet.
func (a *authority) issue(template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, key
}

// pair is a certificate of that name as the tls package takes it.
func (a *authority) pair(name pkix.Name) tls.Certificate {
	a.t.Helper()
	cert, key := a.issue(&x509.Certificate{
		Subject: name, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert}
}

// files writes a pair, and the authority's own certificate, and returns their names.
func (a *authority) files(name string, pair tls.Certificate) (certFile, keyFile, caFile string) {
	a.t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		a.t.Fatal(err)
	}
	write := func(file, kind string, der []byte) string {
		path := filepath.Join(a.dir, file)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			a.t.Fatal(err)
		}
		return path
	}
	return write(name+".pem", "CERTIFICATE", pair.Certificate[0]), write(name+".key", "PRIVATE KEY", der), write("ca.pem", "CERTIFICATE", a.cert.Raw)
}

// secureBroker starts a broker with TLS and further settings.
func secureBroker(t *testing.T, a *authority, settings string) *broker {
	t.Helper()
	cert, key, ca := a.files("server", a.pair(pkix.Name{CommonName: "localhost"}))
	file := filepath.Join(t.TempDir(), "secure.conf")
	text := fmt.Sprintf("ssl_options.certfile = %s\nssl_options.keyfile = %s\nssl_options.cacertfile = %s\n%s", cert, key, ca, settings)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return ownBroker(t, "--config", file, "--amqps-addr", "127.0.0.1:0")
}

// client is the TLS of a client that shows these certificates.
func (a *authority) client(shown ...tls.Certificate) *tls.Config {
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	return &tls.Config{RootCAs: roots, ServerName: "localhost", Certificates: shown}
}

// logIn opens a connection and says what stood in the way.
func logIn(url string, config *tls.Config, how ...amqp091.Authentication) error {
	conn, err := amqp091.DialConfig(url, amqp091.Config{TLSClientConfig: config, SASL: how, Heartbeat: 10 * time.Second})
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Channel()
	return err
}

// external is the mechanism of that name, whose response claims to be somebody else.
type external struct{}

func (external) Mechanism() string { return "EXTERNAL" }
func (external) Response() string  { return "guest" }

// Who a client of TLS is: with its certificate alone, and only if the broker's authority has signed that.
func TestCertificateLogin(t *testing.T) {
	t.Parallel()
	ours, theirs := newAuthority(t, "ours"), newAuthority(t, "theirs")
	known := ours.pair(pkix.Name{CommonName: "guest"})
	stranger := ours.pair(pkix.Name{CommonName: "nobody"})
	forged := theirs.pair(pkix.Name{CommonName: "guest"})
	const byName = "auth_mechanisms.1 = EXTERNAL\nauth_mechanisms.2 = PLAIN\nssl_cert_login_from = common_name\n"
	plain := &amqp091.PlainAuth{Username: "guest", Password: "guest"}
	for _, mode := range []struct {
		name, settings                          string
		known, stranger, forged, none, password bool
	}{
		{"peer", byName + "ssl_options.verify = verify_peer\n", true, false, false, false, true},
		{"required", byName + "ssl_options.verify = verify_peer\nssl_options.fail_if_no_peer_cert = true\n", true, false, false, false, false},
		{"none", byName, false, false, false, false, true},
	} {
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			b := secureBroker(t, ours, mode.settings)
			url := "amqps://" + b.secure + "/"
			for _, tt := range []struct {
				who   string
				shown []tls.Certificate
				how   amqp091.Authentication
				want  bool
			}{
				{"a known certificate", []tls.Certificate{known}, external{}, mode.known},
				{"a stranger's", []tls.Certificate{stranger}, external{}, mode.stranger},
				{"a forged one", []tls.Certificate{forged}, external{}, mode.forged},
				{"none", nil, external{}, mode.none},
				{"a password alone", nil, plain, mode.password},
				{"a password and a certificate", []tls.Certificate{stranger}, plain, true},
			} {
				if err := logIn(url, ours.client(tt.shown...), tt.how); (err == nil) != tt.want {
					t.Errorf("%s: %v", tt.who, err)
				}
			}
			if err := logIn("amqp://"+b.addr+"/", nil, external{}); err == nil {
				t.Error("EXTERNAL without TLS is taken")
			}
		})
	}
}

// Virtual hosts that are not there, and names with and without a slash.
func TestVirtualHostOfClient(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"": true, "%2F": true, "nope": false, "%2Ftest": false, "test": false} {
		err := logIn("amqp://guest:guest@"+shared.addr+"/"+name, nil)
		if (err == nil) != want {
			t.Errorf("virtual host %q: %v", name, err)
		}
	}
}

// anonymousAuth gives no name.
type anonymousAuth struct{}

func (anonymousAuth) Mechanism() string { return "ANONYMOUS" }
func (anonymousAuth) Response() string  { return "" }

// Each mechanism lets in who proves something, and only if it is enabled.
func TestMechanisms(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "anonymous.conf")
	if err := os.WriteFile(file, []byte("auth_mechanisms.1 = ANONYMOUS\nauth_mechanisms.2 = AMQPLAIN\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := ownBroker(t, "--config", file)
	right := []amqp091.Authentication{
		&amqp091.PlainAuth{Username: "guest", Password: "guest"}, &amqp091.AMQPlainAuth{Username: "guest", Password: "guest"}, anonymousAuth{},
	}
	wrong := []amqp091.Authentication{
		&amqp091.PlainAuth{Username: "guest", Password: "x"}, &amqp091.AMQPlainAuth{Username: "guest", Password: "x"},
	}
	for _, broker := range []struct {
		*broker
		takes []bool // of right
	}{{shared, []bool{true, true, false}}, {b, []bool{false, true, true}}} {
		url := "amqp://" + broker.addr + "/"
		for i, how := range right {
			if err := logIn(url, nil, how); (err == nil) != broker.takes[i] {
				t.Errorf("%s: %v", how.Mechanism(), err)
			}
		}
		for _, how := range wrong {
			if err := logIn(url, nil, how); err == nil {
				t.Errorf("%s takes a wrong password", how.Mechanism())
			}
		}
	}
}

// The default user is for this machine alone: on another address of it, it is refused, and by a setting it is not.
func TestDefaultUserFromElsewhere(t *testing.T) {
	t.Parallel()
	elsewhere := otherAddress(t)
	for setting, want := range map[string]bool{"": false, "loopback_users = none\n": true} {
		file := filepath.Join(t.TempDir(), "loopback.conf")
		if err := os.WriteFile(file, []byte(setting), 0o600); err != nil {
			t.Fatal(err)
		}
		b := ownBroker(t, "--config", file, "--amqp-addr", ":0")
		_, port, _ := net.SplitHostPort(b.addrs[len(b.addrs)-1])
		for _, host := range []string{"127.0.0.1", "::1"} {
			if conn, err := net.Dial("tcp", net.JoinHostPort(host, port)); err == nil { // there may be no IPv6
				conn.Close()
				if err := logIn("amqp://guest:guest@"+net.JoinHostPort(host, port)+"/", nil); err != nil {
					t.Errorf("from %s: %v", host, err)
				}
			}
		}
		if err := logIn("amqp://guest:guest@"+net.JoinHostPort(elsewhere, port)+"/", nil); (err == nil) != want {
			t.Errorf("with %q from %s: %v", setting, elsewhere, err)
		}
	}
}

// otherAddress is an address of this machine that is no loopback address. A connection to it comes from it.
func otherAddress(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	t.Fatal("this machine has no address but loopback's")
	return ""
}
