package interop

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

// A provider signs access tokens for one test, with a key that a broker of the test's own reads from a file.
type provider struct {
	t   *testing.T
	key *ecdsa.PrivateKey
}

// tokenBroker starts a broker that takes the provider's tokens, and with further settings.
func tokenBroker(t *testing.T, settings string) (*broker, *provider) {
	t.Helper()
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	point := must(key.PublicKey.Bytes())
	encode := base64.RawURLEncoding.EncodeToString
	set := must(json.Marshal(map[string]any{"keys": []any{map[string]any{
		"kty": "EC", "crv": "P-256", "kid": "k1", "use": "sig", "x": encode(point[1:33]), "y": encode(point[33:]),
	}}}))
	dir := t.TempDir()
	jwks, file := filepath.Join(dir, "jwks.json"), filepath.Join(dir, "tokens.conf")
	text := fmt.Sprintf("auth_backends.1 = oauth2\nauth_oauth2.resource_server_id = rabbit\nauth_oauth2.issuer = https://issuer\nauth_oauth2.jwks_file = %s\n"+
		"auth_oauth2.clock_skew = 0\n%s", jwks, settings)
	check(os.WriteFile(jwks, set, 0o600))
	check(os.WriteFile(file, []byte(text), 0o600))
	return ownBroker(t, "--config", file, "--http-addr", "127.0.0.1:0"), &provider{t, key}
}

// sign makes a token that lives so long and has these scopes.
func (p *provider) sign(user string, life time.Duration, scopes ...string) string {
	p.t.Helper()
	token := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{
		"sub": user, "aud": []string{"rabbit"}, "iss": "https://issuer", "exp": time.Now().Add(life).Unix(), "scope": "rabbit." + strings.Join(scopes, " rabbit."),
	})
	token.Header["kid"] = "k1"
	return must(token.SignedString(p.key))
}

var workerScopes = []string{"configure:%2F/allowed-*", "write:%2F/allowed-*", "write:%2F/amq.default", "read:%2F/allowed-*"}

// pika logs in by a token, is held to its scopes, and loses the connection when it ends.
func TestTokenOfPika(t *testing.T) {
	t.Parallel()
	b, p := tokenBroker(t, "")
	b.program(t, pika, "access_token", p.sign("worker", 15*time.Second, workerScopes...)).finish(
		"got hello",
		"403 ACCESS_REFUSED - configure access to queue 'forbidden' in vhost '/' refused for user 'worker'",
		"published as worker",
		"320 CONNECTION_FORCED - credential expired",
	)
}

// amqp091-go renews its token, and outlives the first.
func TestTokenIsRenewed(t *testing.T) {
	t.Parallel()
	b, p := tokenBroker(t, "")
	const life = 10 * time.Second
	end := time.Now().Add(life)
	conn, err := amqp091.DialConfig(b.url(), amqp091.Config{SASL: []amqp091.Authentication{
		&amqp091.PlainAuth{Username: "", Password: p.sign("worker", life, workerScopes...)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	closed := conn.NotifyClose(make(chan *amqp091.Error, 1))
	if err := conn.UpdateSecret(p.sign("worker", time.Hour, workerScopes...), "renewed"); err != nil {
		t.Fatal(err)
	}
	select {
	case e := <-closed:
		t.Fatalf("a renewed token does not keep the connection: %v", e)
	case <-time.After(time.Until(end.Add(time.Second))):
	}
	if ch, err := conn.Channel(); err != nil {
		t.Error(err)
	} else if _, err := ch.QueueDeclare("allowed-q", true, false, false, false, nil); err != nil {
		t.Error(err)
	}
	if err := conn.UpdateSecret(p.sign("somebody else", time.Minute, workerScopes...), "stolen"); err == nil {
		t.Error("another user's token is taken for a renewal")
	}
	if e := <-closed; e == nil || e.Code != 530 {
		t.Errorf("closed with %v, want 530", e)
	}
}

// Where tokens alone are taken, neither a password nor a token of somebody else's making gets in.
func TestTokensAlone(t *testing.T) {
	t.Parallel()
	b, p := tokenBroker(t, "")
	_, forger := tokenBroker(t, "")
	for name, password := range map[string]string{
		"password": "guest", "forged": forger.sign("worker", time.Minute, workerScopes...), "without a virtual host": p.sign("worker", time.Minute, "tag:administrator"),
	} {
		if err := logIn(b.url(), nil, &amqp091.PlainAuth{Username: "guest", Password: password}); err == nil {
			t.Errorf("%s: let in", name)
		}
	}
}

// The HTTP API takes tokens as bearer tokens and as passwords, and passwords beside them where that is configured.
func TestTokensOverHTTP(t *testing.T) {
	t.Parallel()
	b, p := tokenBroker(t, "auth_backends.2 = internal\n")
	admin := p.sign("boss", time.Minute, "tag:administrator", "read:*/*")
	for _, tt := range []struct {
		name, want string
		login      func(r *http.Request)
	}{
		{"bearer", `200 {"name":"boss","tags":["administrator"],"is_internal_user":false}`, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+admin) }},
		{"password", `200 {"name":"boss","tags":["administrator"],"is_internal_user":false}`, func(r *http.Request) { r.SetBasicAuth("x", admin) }},
		{"of the broker", `200 {"name":"guest","tags":["administrator"],"is_internal_user":true}`, func(r *http.Request) { r.SetBasicAuth("guest", "guest") }},
		{"without a tag", `401 {"error":"not_authorised","reason":"Not management user"}`,
			func(r *http.Request) {
				r.Header.Set("Authorization", "Bearer "+p.sign("worker", time.Minute, workerScopes...))
			}},
		{"ended", `401 {"error":"not_authorized","reason":"Not_Authorized"}`,
			func(r *http.Request) {
				r.Header.Set("Authorization", "Bearer "+p.sign("boss", -time.Minute, "tag:administrator"))
			}},
	} {
		request := must(http.NewRequest(http.MethodGet, "http://"+b.http+"/api/whoami", nil))
		tt.login(request)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body := must(io.ReadAll(answer.Body))
		answer.Body.Close()
		if got := fmt.Sprintf("%d %s", answer.StatusCode, body); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}
