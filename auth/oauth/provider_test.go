package oauth_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"leveret/auth/oauth"

	"github.com/golang-jwt/jwt/v5"
)

// signer is one key of a provider of tokens that lives in a test.
type signer struct {
	id, algorithm string
	private       any
	public        any
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err) // no entropy: no test can go on
	}
	return value
}

func newRSA(id string) signer {
	key := must(rsa.GenerateKey(rand.Reader, 2048))
	return signer{id, "RS256", key, key.Public()}
}

func newEC(id string) signer {
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	return signer{id, "ES256", key, key.Public()}
}

func newEd(id string) signer {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	return signer{id, "EdDSA", private, must(public, err)}
}

// sign makes a token. Claims that are not given are those of a good one; nil takes one away.
func (s signer) sign(t testing.TB, claims jwt.MapClaims) string {
	t.Helper()
	all := jwt.MapClaims{"sub": "worker", "aud": "rabbit", "iss": "https://issuer", "exp": time.Now().Add(time.Hour).Unix(), "scope": "rabbit.read:v/*"}
	for name, value := range claims {
		all[name] = value
		if value == nil {
			delete(all, name)
		}
	}
	token := jwt.NewWithClaims(jwt.GetSigningMethod(s.algorithm), all)
	if s.id != "" {
		token.Header["kid"] = s.id
	}
	text, err := token.SignedString(s.private)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// jwk is the key as it stands in a JWK set.
func (s signer) jwk() map[string]any {
	encode := base64.RawURLEncoding.EncodeToString
	jwk := map[string]any{"use": "sig"}
	if s.id != "" {
		jwk["kid"] = s.id
	}
	switch key := s.public.(type) {
	case *rsa.PublicKey:
		jwk["kty"], jwk["n"], jwk["e"] = "RSA", encode(key.N.Bytes()), encode(big.NewInt(int64(key.E)).Bytes())
	case *ecdsa.PublicKey:
		point := must(key.Bytes())
		jwk["kty"], jwk["crv"], jwk["x"], jwk["y"] = "EC", "P-256", encode(point[1:33]), encode(point[33:])
	case ed25519.PublicKey:
		jwk["kty"], jwk["crv"], jwk["x"] = "OKP", "Ed25519", encode(key)
	case []byte:
		jwk["kty"], jwk["k"] = "oct", encode(key)
	}
	return jwk
}

// set is a JWK set of keys.
func set(keys ...map[string]any) []byte { return must(json.Marshal(map[string]any{"keys": keys})) }

// file writes a file for one test.
func file(t testing.TB, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func publicPEM(key crypto.PublicKey) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: must(x509.MarshalPKIXPublicKey(key))})
}

// newVerifier makes one for the resource server rabbit that reads its keys from a set in a file.
func newVerifier(t testing.TB, jwks []byte, change func(o *oauth.Options)) *oauth.Verifier {
	t.Helper()
	o := oauth.DefaultOptions()
	o.ResourceServer, o.JWKSFile = "rabbit", file(t, "jwks.json", jwks)
	if change != nil {
		change(&o)
	}
	v, err := oauth.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
