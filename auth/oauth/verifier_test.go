package oauth_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"leveret/auth/oauth"

	"github.com/golang-jwt/jwt/v5"
)

func TestVerify(t *testing.T) {
	key, other := newRSA("k1"), newRSA("k1")
	issued := func(o *oauth.Options) { o.Issuer = "https://issuer" }
	skewed := func(o *oauth.Options) { o.ClockSkew = time.Hour } // the test takes less
	seconds := func(n int) int64 { return time.Now().Add(time.Duration(n) * time.Second).Unix() }
	tests := []struct {
		name    string
		token   string
		options func(o *oauth.Options)
		wrong   string // what the error says, empty: the token is good
	}{
		{"good", key.sign(t, nil), nil, ""},
		{"by somebody else's key", other.sign(t, nil), nil, "signature is invalid"},
		{"ended", key.sign(t, jwt.MapClaims{"exp": seconds(-60)}), nil, "expired"},
		{"ended within the skew", key.sign(t, jwt.MapClaims{"exp": seconds(-2)}), skewed, ""},
		{"ended, no skew", key.sign(t, jwt.MapClaims{"exp": seconds(-2)}), func(o *oauth.Options) { o.ClockSkew = 0 }, "expired"},
		{"without an end", key.sign(t, jwt.MapClaims{"exp": nil}), nil, "exp claim is required"},
		{"end is a text", key.sign(t, jwt.MapClaims{"exp": "never"}), nil, "exp"},
		{"not yet", key.sign(t, jwt.MapClaims{"nbf": seconds(3600)}), nil, "not valid yet"},
		{"for others", key.sign(t, jwt.MapClaims{"aud": "kafka"}), nil, "audience"},
		{"for nobody", key.sign(t, jwt.MapClaims{"aud": nil}), nil, "aud"},
		{"for several", key.sign(t, jwt.MapClaims{"aud": []string{"kafka", "rabbit"}}), nil, ""},
		{"for others, which is all right", key.sign(t, jwt.MapClaims{"aud": "kafka"}), func(o *oauth.Options) { o.AnyAudience = true }, ""},
		{"by the issuer", key.sign(t, nil), issued, ""},
		{"by another issuer", key.sign(t, jwt.MapClaims{"iss": "https://issuer/"}), issued, "issuer"},
		{"by no issuer", key.sign(t, jwt.MapClaims{"iss": nil}), issued, "iss"},
		{"of nobody", key.sign(t, jwt.MapClaims{"sub": nil}), nil, "names no user"},
		{"of a name that fits no property", key.sign(t, jwt.MapClaims{"sub": strings.Repeat("x", 256)}), nil, "names no user"},
		{"unknown key", newRSA("k2").sign(t, nil), nil, `"k2" is not known`},
		{"no token", "a.b.c", nil, "malformed"},
		{"empty", "", nil, "malformed"},
		{"signature cut off", strings.TrimRight(key.sign(t, nil), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"), nil, "signature is invalid"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := newVerifier(t, set(key.jwk()), tt.options).Verify(tt.token)
			switch {
			case tt.wrong == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.wrong == "" && (got.User != "worker" || !slices.Equal(got.Scopes, []string{"read:v/*"})):
				t.Errorf("says %+v", got)
			case tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)):
				t.Errorf("got %v, want %q", err, tt.wrong)
			case tt.wrong != "" && tt.token != "" && strings.Contains(err.Error(), tt.token):
				t.Error("the error holds the token")
			}
		})
	}
}

// A token that says what has to be understood of it is refused, as nothing is known of any extension.
func TestCriticalHeader(t *testing.T) {
	key := newRSA("k1")
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.MapClaims{"sub": "worker", "aud": "rabbit", "exp": time.Now().Add(time.Hour).Unix()})
	token.Header["kid"], token.Header["crit"], token.Header["sealed"] = "k1", []string{"sealed"}, true
	text, err := token.SignedString(key.private)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := newVerifier(t, set(key.jwk()), nil).Verify(text); err == nil {
		t.Errorf("taken: %+v", got)
	}
}

func TestAlgorithms(t *testing.T) {
	keyRSA, keyEC, keyEd := newRSA("rsa"), newEC("ec"), newEd("ed")
	pss := keyRSA
	pss.algorithm = "PS256"
	shared := signer{"oct", "HS256", []byte("a secret that is shared, 32 bytes"), []byte("a secret that is shared, 32 bytes")}
	// The confusion of kinds: the public key, which everybody has, taken as the secret of a keyed hash.
	confused := signer{"rsa", "HS256", publicPEM(keyRSA.public), nil}
	unsigned := signer{"rsa", "none", jwt.UnsafeAllowNoneSignatureType, nil}
	all := set(keyRSA.jwk(), keyEC.jwk(), keyEd.jwk(), shared.jwk())
	withHS := func(o *oauth.Options) { o.Algorithms = append(o.Algorithms, "HS256") }
	tests := []struct {
		name    string
		signer  signer
		options func(o *oauth.Options)
		good    bool
	}{
		{"RSA", keyRSA, nil, true},
		{"RSA-PSS", pss, nil, true},
		{"ECDSA", keyEC, nil, true},
		{"EdDSA", keyEd, nil, true},
		{"shared secret", shared, nil, false},
		{"shared secret, wanted", shared, withHS, true},
		{"not wanted", keyRSA, func(o *oauth.Options) { o.Algorithms = []string{"ES256"} }, false},
		{"public key as secret", confused, nil, false},
		{"public key as secret, where secrets are wanted", confused, withHS, false},
		{"unsigned", unsigned, nil, false},
		{"unsigned, where secrets are wanted", unsigned, withHS, false},
		{"another key's ID", signer{"ec", "RS256", keyRSA.private, nil}, nil, false},
	}
	for _, tt := range tests {
		if _, err := newVerifier(t, all, tt.options).Verify(tt.signer.sign(t, nil)); (err == nil) != tt.good {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestScopesOfToken(t *testing.T) {
	key := newEC("k")
	prefix := func(p string) func(o *oauth.Options) { return func(o *oauth.Options) { o.ScopePrefix = &p } }
	more := func(claims string) func(o *oauth.Options) {
		return func(o *oauth.Options) { o.AdditionalScopes = claims }
	}
	aliases := func(o *oauth.Options) {
		o.ScopeAliases = []oauth.Alias{{"1", "admin", "rabbit.tag:administrator rabbit.read:*/*"}, {"2", "https://x/role", "other.x rabbit.write:v/*"}}
	}
	tests := []struct {
		name    string
		claims  jwt.MapClaims
		options func(o *oauth.Options)
		want    []string
	}{
		{"text", jwt.MapClaims{"scope": "rabbit.b  rabbit.a"}, nil, []string{"a", "b"}},
		{"list", jwt.MapClaims{"scope": []any{"rabbit.a", 7, "rabbit.b"}}, nil, []string{"a", "b"}},
		{"twice", jwt.MapClaims{"scope": "rabbit.a rabbit.a"}, nil, []string{"a"}},
		{"of others", jwt.MapClaims{"scope": "kafka.a openid rabbitx.a rabbit.a"}, nil, []string{"a"}},
		{"none", jwt.MapClaims{"scope": nil}, nil, nil},
		{"own prefix", jwt.MapClaims{"scope": "api://a rabbit.b"}, prefix("api://"), []string{"a"}},
		{"no prefix", jwt.MapClaims{"scope": "a rabbit.b"}, prefix(""), []string{"a", "rabbit.b"}},
		{"alias", jwt.MapClaims{"scope": "admin rabbit.a"}, aliases, []string{"a", "read:*/*", "tag:administrator"}},
		{"alias that is a URL", jwt.MapClaims{"scope": "https://x/role"}, aliases, []string{"write:v/*"}},
		{"further claim", jwt.MapClaims{"roles": []string{"rabbit.b"}}, more("roles"), []string{"b", "read:v/*"}},
		{"further claims", jwt.MapClaims{"roles": "rabbit.b", "x": "rabbit.c"}, more("roles x"), []string{"b", "c", "read:v/*"}},
		{"alias from a further claim", jwt.MapClaims{"scope": nil, "roles": "admin"}, func(o *oauth.Options) { aliases(o); more("roles")(o) }, []string{"read:*/*", "tag:administrator"}},
		{"inner claim", jwt.MapClaims{"realm": map[string]any{"roles": []string{"rabbit.b"}}}, more("realm.roles"), []string{"b", "read:v/*"}},
		{"claim with dots", jwt.MapClaims{"https://x.y/roles": "rabbit.b"}, more("https://x.y/roles"), []string{"b", "read:v/*"}},
		{"by resource server", jwt.MapClaims{"perms": map[string]any{"rabbit": []string{"b"}, "kafka": "c"}}, more("perms"), []string{"b", "read:v/*"}},
		{"no such claim", nil, more("a.b c"), []string{"read:v/*"}},
		{"claim of a wrong kind", jwt.MapClaims{"a": 7}, more("a a.b"), []string{"read:v/*"}},
		{"requesting party", jwt.MapClaims{"authorization": map[string]any{"permissions": []any{
			map[string]any{"scopes": []string{"rabbit.b"}}, map[string]any{"scopes": []string{"rabbit.c"}},
		}}}, nil, []string{"b", "c", "read:v/*"}},
	}
	for _, tt := range tests {
		got, err := newVerifier(t, set(key.jwk()), tt.options).Verify(key.sign(t, tt.claims))
		if err != nil || !slices.Equal(got.Scopes, tt.want) {
			t.Errorf("%s: %q, %v, want %q", tt.name, got.Scopes, err, tt.want)
		}
	}
}

func TestTooManyScopes(t *testing.T) {
	key := newEC("k")
	list := make([]string, 2049)
	for i := range list {
		list[i] = "rabbit." + strings.Repeat("x", i)
	}
	v := newVerifier(t, set(key.jwk()), nil)
	if _, err := v.Verify(key.sign(t, jwt.MapClaims{"scope": list})); err == nil || !strings.Contains(err.Error(), "2049 scopes") {
		t.Errorf("got %v", err)
	}
	if _, err := v.Verify(key.sign(t, jwt.MapClaims{"scope": list[:2048]})); err != nil {
		t.Errorf("one less: %v", err)
	}
}

func TestUserNames(t *testing.T) {
	key := newEC("k")
	preferred := func(o *oauth.Options) { o.UsernameClaims = []string{"email", "user_name"} }
	tests := []struct {
		name    string
		claims  jwt.MapClaims
		options func(o *oauth.Options)
		want    string
	}{
		{"subject", jwt.MapClaims{"client_id": "c"}, nil, "worker"},
		{"client", jwt.MapClaims{"sub": nil, "client_id": "c"}, nil, "c"},
		{"preferred", jwt.MapClaims{"user_name": "n"}, preferred, "n"},
		{"more preferred", jwt.MapClaims{"user_name": "n", "email": "e"}, preferred, "e"},
		{"no text", jwt.MapClaims{"user_name": 7, "email": ""}, preferred, "worker"},
	}
	for _, tt := range tests {
		got, err := newVerifier(t, set(key.jwk()), tt.options).Verify(key.sign(t, tt.claims))
		if err != nil || got.User != tt.want {
			t.Errorf("%s: %q, %v", tt.name, got.User, err)
		}
	}
}

func TestExpires(t *testing.T) {
	key, end := newEC("k"), time.Now().Add(time.Hour).Truncate(time.Second)
	got, err := newVerifier(t, set(key.jwk()), nil).Verify(key.sign(t, jwt.MapClaims{"exp": end.Unix()}))
	if want := end.Add(5 * time.Second); err != nil || !got.Expires.Equal(want) {
		t.Errorf("ends at %v, %v, want %v", got.Expires, err, want)
	}
}

// FuzzVerify holds that no text is a token but those that the key has signed.
func FuzzVerify(f *testing.F) {
	key := newEC("k")
	good := key.sign(f, nil)
	f.Add(good)
	f.Add(strings.Replace(good, "e", "f", 1))
	f.Add("e30.e30.")
	v := newVerifier(f, set(key.jwk()), nil)
	f.Fuzz(func(t *testing.T, token string) {
		if _, err := v.Verify(token); err == nil && token != good {
			t.Errorf("%q is good", token)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	for _, key := range []signer{newRSA("rsa"), newEC("ec"), newEd("ed")} {
		v, token := newVerifier(b, set(key.jwk()), nil), key.sign(b, nil)
		b.Run(key.algorithm, func(b *testing.B) {
			for b.Loop() {
				if _, err := v.Verify(token); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
