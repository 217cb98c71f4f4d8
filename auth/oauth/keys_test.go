package oauth_test

import (
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"leveret/auth/oauth"

	"github.com/golang-jwt/jwt/v5"
)

// wantVerify checks whether a token is good.
func wantVerify(t *testing.T, what string, v *oauth.Verifier, token string, good bool) {
	t.Helper()
	if _, err := v.Verify(token); (err == nil) != good {
		t.Errorf("%s: %v", what, err)
	}
}

func TestSigningKeys(t *testing.T) {
	one, two, three := newRSA("one"), newEC("two"), newEd("three")
	der := must(x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1)}, new(x509.Certificate), three.public, three.private))
	o := oauth.DefaultOptions()
	o.ResourceServer, o.DefaultKey = "rabbit", "two"
	o.SigningKeys = []oauth.SigningKey{
		{ID: "one", File: file(t, "one.pem", publicPEM(one.public))}, {ID: "two", File: file(t, "two.pem", publicPEM(two.public))},
		{ID: "three", File: file(t, "three.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))},
	}
	v, err := oauth.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []signer{one, two, three} {
		wantVerify(t, key.id, v, key.sign(t, nil), true)
	}
	two.id, one.id = "", ""
	wantVerify(t, "default key", v, two.sign(t, nil), true)
	wantVerify(t, "no ID, and not the default key", v, one.sign(t, nil), false)
	if err := v.Refresh(); err != nil {
		t.Errorf("nothing to read again: %v", err)
	}
}

func TestKeyIDs(t *testing.T) {
	key, other := newEC(""), newEC("other")
	wantVerify(t, "the only key", newVerifier(t, set(key.jwk()), nil), key.sign(t, nil), true)
	wantVerify(t, "one of two", newVerifier(t, set(newEC("k").jwk(), other.jwk()), nil), key.sign(t, nil), false)
	token := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{"sub": "u"})
	token.Header["kid"] = 7
	wantVerify(t, "a number", newVerifier(t, set(key.jwk()), nil), must(token.SignedString(key.private)), false)
}

// What a set holds beside keys that can be used is passed over.
func TestSets(t *testing.T) {
	key, forOther := newEC("k"), newEC("enc")
	encryption := forOther.jwk()
	encryption["use"] = "enc"
	foreign := map[string]any{"kty": "unheard of", "kid": "x"}
	v := newVerifier(t, set(foreign, encryption, key.jwk()), nil)
	wantVerify(t, "usable key", v, key.sign(t, nil), true)
	wantVerify(t, "key for encryption", v, forOther.sign(t, nil), false)
	for name, text := range map[string]string{"nothing": "", "no JSON": "{", "no set": "[]", "empty": `{"keys":[]}`, "unusable": string(set(foreign, encryption))} {
		if err := newVerifier(t, []byte(text), nil).Refresh(); err == nil {
			t.Errorf("%s is taken for a set of keys", name)
		}
	}
}

// A set is read again when a key is missing, but not with each token that claims one, and when it has aged.
func TestRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := newEC("one"), newEC("two")
		path := file(t, "jwks.json", set(one.jwk()))
		v := newVerifier(t, nil, func(o *oauth.Options) { o.JWKSFile = path })
		replace := func(text []byte) {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		long := jwt.MapClaims{"exp": time.Now().Add(24 * time.Hour).Unix()}
		first, second := one.sign(t, long), two.sign(t, long)
		wantVerify(t, "first key", v, first, true)
		replace(set(two.jwk()))
		wantVerify(t, "second key, right after a reading", v, second, false)
		wantVerify(t, "first key, which is remembered", v, first, true)
		time.Sleep(11 * time.Second)
		wantVerify(t, "second key", v, second, true)
		wantVerify(t, "first key, which is gone", v, first, false)
		replace(set(one.jwk()))
		wantVerify(t, "second key, before its set has aged", v, second, true)
		time.Sleep(6 * time.Minute)
		wantVerify(t, "second key, when its set has aged", v, second, false)
		replace([]byte("half of a file"))
		time.Sleep(6 * time.Minute)
		wantVerify(t, "first key, while the file can't be read", v, first, true)
	})
}

// provider is a server that has keys, and counts who asks.
type provider struct {
	*httptest.Server
	asked atomic.Int64
	set   atomic.Pointer[[]byte]
}

func newProvider(t *testing.T, start func(http.Handler) *httptest.Server, jwks []byte) *provider {
	p := new(provider)
	p.set.Store(&jwks)
	mux := http.NewServeMux()
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		p.asked.Add(1)
		w.Write(*p.set.Load())
	})
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, p.URL, p.URL+"/keys")
	})
	mux.HandleFunc("/elsewhere/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":"http://192.0.2.1/keys"}`, p.URL+"/elsewhere")
	})
	mux.HandleFunc("/other/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"issuer":"https://evil","jwks_uri":%q}`, p.URL+"/keys")
	})
	mux.HandleFunc("/broken/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) })
	mux.Handle("/moved", http.RedirectHandler("/keys", http.StatusFound))
	mux.HandleFunc("/endless", func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 2<<20)) })
	p.Server = start(mux)
	t.Cleanup(p.Close)
	return p
}

func TestKeysFromURL(t *testing.T) {
	key := newEC("k")
	plain := newProvider(t, httptest.NewServer, set(key.jwk()))
	secure := newProvider(t, httptest.NewTLSServer, set(key.jwk()))
	ca := file(t, "ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}))
	tests := []struct {
		name        string
		url, issuer string
		ca          string
		wrong       string
	}{
		{"URL", plain.URL + "/keys", "", "", ""},
		{"TLS", secure.URL + "/keys", "", ca, ""},
		{"TLS that nobody vouches for", secure.URL + "/keys", "", "", "certificate"},
		{"not there", plain.URL + "/none", "", "", "404"},
		{"moved", plain.URL + "/moved", "", "", "302"},
		{"endless", plain.URL + "/endless", "", "", "more than"},
		{"issuer", "", plain.URL, "", ""},
		{"issuer over TLS", "", secure.URL, ca, ""},
		{"issuer that speaks for another", "", plain.URL + "/other", "", "evil"},
		{"issuer whose keys are in the open", "", plain.URL + "/elsewhere", "", "192.0.2.1"},
		{"issuer without a document", "", plain.URL + "/none", "", "404"},
		{"issuer that is none", "", plain.URL + "/broken", "", "openid-configuration"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := newVerifier(t, nil, func(o *oauth.Options) { o.JWKSFile, o.JWKSURL, o.Issuer, o.CAFile = "", tt.url, tt.issuer, tt.ca })
			err := v.Refresh()
			if tt.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wrong) {
					t.Errorf("got %v, want %q", err, tt.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			claims := jwt.MapClaims{"iss": tt.issuer}
			wantVerify(t, "token", v, key.sign(t, claims), true)
		})
	}
}

// Tokens with made up keys do not make the broker ask the provider each time.
func TestUnknownKeysAreNoFlood(t *testing.T) {
	p := newProvider(t, httptest.NewServer, set(newEC("k").jwk()))
	v := newVerifier(t, nil, func(o *oauth.Options) { o.JWKSFile, o.JWKSURL = "", p.URL+"/keys" })
	begun := time.Now()
	for i := range 50 {
		wantVerify(t, "unknown key", v, newEC(fmt.Sprint(i)).sign(t, nil), false)
	}
	most := 1 + int64(time.Since(begun)/(10*time.Second)) // once, but for a machine that takes longer than until the next time
	if n := p.asked.Load(); n < 1 || n > most {
		t.Errorf("the provider was asked %d times, want %d", n, most)
	}
}

func TestOptions(t *testing.T) {
	tests := []struct {
		name   string
		change func(o *oauth.Options)
		wrong  string
	}{
		{"no name", func(o *oauth.Options) { o.ResourceServer = "" }, "resource_server_id"},
		{"no keys", func(o *oauth.Options) { o.JWKSFile = "" }, "no key"},
		{"keys in the open", func(o *oauth.Options) { o.JWKSURL = "http://example.com/keys" }, "not https"},
		{"issuer in the open", func(o *oauth.Options) { o.JWKSFile, o.Issuer = "", "http://example.com" }, "not https"},
		{"URL that is none", func(o *oauth.Options) { o.JWKSURL = "http://[" }, "not https"},
		{"unsigned", func(o *oauth.Options) { o.Algorithms = []string{"none"} }, "none is not supported"},
		{"unknown signature", func(o *oauth.Options) { o.Algorithms = []string{"RS257"} }, "RS257"},
		{"no signature", func(o *oauth.Options) { o.Algorithms = nil }, "leaves none"},
		{"half an alias", func(o *oauth.Options) { o.ScopeAliases = []oauth.Alias{{Name: "1", Alias: "x"}} }, "scope_aliases.1"},
		{"missing key file", func(o *oauth.Options) { o.SigningKeys = []oauth.SigningKey{{ID: "k", File: "none"}} }, "signing key k"},
		{"key file without a key", func(o *oauth.Options) { o.SigningKeys = []oauth.SigningKey{{ID: "k", File: o.JWKSFile}} }, "no public key"},
		{"missing CA", func(o *oauth.Options) { o.CAFile = "none" }, "provider"},
		{"CA without a certificate", func(o *oauth.Options) { o.CAFile = o.JWKSFile }, "has none"},
	}
	for _, tt := range tests {
		o := oauth.DefaultOptions()
		o.ResourceServer, o.JWKSFile = "rabbit", file(t, "jwks.json", set(newEC("k").jwk()))
		tt.change(&o)
		if _, err := oauth.New(o); err == nil || !strings.Contains(err.Error(), tt.wrong) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.wrong)
		}
	}
}
