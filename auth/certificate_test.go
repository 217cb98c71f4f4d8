package auth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"net"
	"net/url"
	"testing"
	"time"

	"leveret/auth"
)

// certificate makes one that signs itself, from a template with a name.
func certificate(t testing.TB, template x509.Certificate) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(1)
	template.NotBefore, template.NotAfter = time.Now(), time.Now().Add(time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// attribute is one part of a name, of any type and value.
func attribute(value string, id ...int) pkix.AttributeTypeAndValue {
	return pkix.AttributeTypeAndValue{Type: id, Value: value}
}

func TestDistinguishedName(t *testing.T) {
	cn := []int{2, 5, 4, 3}
	tests := []struct {
		name string
		sets []pkix.RelativeDistinguishedNameSET
		want string
	}{
		{"last part first", []pkix.RelativeDistinguishedNameSET{
			{attribute("FR", 2, 5, 4, 6)}, {attribute("France", 2, 5, 4, 8)}, {attribute("Paris", 2, 5, 4, 7)}, {attribute("Acme", 2, 5, 4, 10)},
			{attribute("Ops", 2, 5, 4, 11)}, {attribute("guest", cn...)},
		}, "CN=guest,OU=Ops,O=Acme,L=Paris,ST=France,C=FR"},
		{"several in one part", []pkix.RelativeDistinguishedNameSET{{attribute("a", cn...), attribute("u1", 0, 9, 2342, 19200300, 100, 1, 1)}}, "CN=a+UID=u1"},
		{"other types", []pkix.RelativeDistinguishedNameSET{
			{attribute("org", 0, 9, 2342, 19200300, 100, 1, 25)}, {attribute("a@b", 1, 2, 840, 113549, 1, 9, 1)}, {attribute("x", 1, 2, 3)},
		}, "1.2.3=x,EMAILADDRESS=a@b,DC=org"},
		{"punctuation", []pkix.RelativeDistinguishedNameSET{{attribute(`a,b+c"d\e<f>g;h`, cn...)}}, `CN=a\,b\+c\"d\\e\<f\>g\;h`},
		{"outer spaces", []pkix.RelativeDistinguishedNameSET{{attribute(" a b ", cn...)}}, `CN=\ a b\ `},
		{"hash in front", []pkix.RelativeDistinguishedNameSET{{attribute("#a#", cn...)}}, `CN=\#a#`},
		{"beyond ASCII", []pkix.RelativeDistinguishedNameSET{{attribute("é~\x01", cn...)}}, `CN=\C3\A9\7E\01`},
		{"nobody", nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			raw, err := asn1.Marshal(pkix.RDNSequence(tt.sets))
			if err != nil {
				t.Fatal(err)
			}
			if got := auth.DistinguishedName(raw); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if got := auth.DistinguishedName([]byte("\x30\x05xx")); got != "" {
		t.Errorf("what is no name gives %q", got)
	}
}

func TestExternal(t *testing.T) {
	home, _ := url.Parse("spiffe://acme/worker")
	shown := certificate(t, x509.Certificate{
		Subject:  pkix.Name{CommonName: "worker", Organization: []string{"Acme"}},
		DNSNames: []string{"a.example", "b.example"}, EmailAddresses: []string{"w@example"}, IPAddresses: []net.IP{net.IPv4(10, 1, 2, 3)}, URIs: []*url.URL{home},
	})
	nameless := certificate(t, x509.Certificate{})
	twice := certificate(t, x509.Certificate{Subject: pkix.Name{ExtraNames: []pkix.AttributeTypeAndValue{
		attribute("x", 2, 5, 4, 3), attribute("y", 2, 5, 4, 3),
	}}})
	tests := []struct {
		name  string
		rule  auth.CertificateName
		shown *x509.Certificate
		user  string // empty: refused
	}{
		{"default", auth.CertificateName{}, shown, "CN=worker,O=Acme"},
		{"distinguished name", auth.CertificateName{From: auth.FromDistinguishedName}, shown, "CN=worker,O=Acme"},
		{"common name", auth.CertificateName{From: auth.FromCommonName}, shown, "worker"},
		{"two common names", auth.CertificateName{From: auth.FromCommonName}, twice, "x,y"},
		{"host", auth.CertificateName{From: auth.FromAlternativeName}, shown, "a.example"},
		{"second host", auth.CertificateName{From: auth.FromAlternativeName, AlternativeType: "dns", AlternativeIndex: 1}, shown, "b.example"},
		{"third host", auth.CertificateName{From: auth.FromAlternativeName, AlternativeIndex: 2}, shown, ""},
		{"address", auth.CertificateName{From: auth.FromAlternativeName, AlternativeType: "ip"}, shown, "10.1.2.3"},
		{"mail", auth.CertificateName{From: auth.FromAlternativeName, AlternativeType: "email"}, shown, "w@example"},
		{"uri", auth.CertificateName{From: auth.FromAlternativeName, AlternativeType: "uri"}, shown, "spiffe://acme/worker"},
		{"other type", auth.CertificateName{From: auth.FromAlternativeName, AlternativeType: "other_name"}, shown, ""},
		{"other field", auth.CertificateName{From: "surname"}, shown, ""},
		{"no name", auth.CertificateName{}, nameless, ""},
		{"no common name", auth.CertificateName{From: auth.FromCommonName}, nameless, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAuthWith(t, func(o *auth.Options) {
				o.Mechanisms, o.CertificateName = []string{"EXTERNAL", "PLAIN"}, tt.rule
			}, auth.Account{Name: tt.user + " "}, auth.Account{Name: "guest", PasswordHash: test12Hash})
			from := auth.Client{Address: loopback.Address, Certificate: tt.shown}
			// The response claims to be somebody else, which must not count.
			if _, err := a.Authenticate("EXTERNAL", []byte("guest"), from); code(err) != 403 {
				t.Errorf("a certificate of nobody: %v", err)
			}
			if tt.user == "" {
				return
			}
			if err := a.PutUser(auth.Account{Name: tt.user}); err != nil {
				t.Fatal(err)
			}
			user, err := a.Authenticate("EXTERNAL", []byte("guest"), from)
			if err != nil || user.Name() != tt.user {
				t.Errorf("got %v, %v", user, err)
			}
		})
	}
}

// Without a verified certificate EXTERNAL is neither offered nor taken.
func TestExternalNeedsACertificate(t *testing.T) {
	a := newAuthWith(t, func(o *auth.Options) { o.Mechanisms = []string{"EXTERNAL", "PLAIN"} })
	if got := a.Mechanisms(loopback); got != "PLAIN" {
		t.Errorf("offered without a certificate: %q", got)
	}
	if _, err := a.Authenticate("EXTERNAL", nil, loopback); code(err) != 503 {
		t.Errorf("taken without a certificate: %v", err)
	}
	shown := auth.Client{Certificate: certificate(t, x509.Certificate{})}
	if got := a.Mechanisms(shown); got != "EXTERNAL PLAIN" {
		t.Errorf("offered with one: %q", got)
	}
}
