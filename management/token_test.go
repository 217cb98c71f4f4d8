package management_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"leveret/auth"
)

// knownTokens are access tokens by their texts, which have a token's form and nothing more.
type knownTokens map[string]auth.Token

func (known knownTokens) Verify(token string) (auth.Token, error) {
	t, found := known[token]
	if !found {
		return t, errors.New("forged")
	}
	return t, nil
}

func withTokens(o *auth.Options) {
	end := time.Now().Add(time.Hour)
	o.Tokens = knownTokens{
		"e30.e30.admin":  {User: "boss", Scopes: []string{"tag:administrator", "configure:*/*", "write:*/*", "read:*/*"}, Expires: end},
		"e30.e30.plain":  {User: "worker", Scopes: []string{"read:*/*"}, Expires: end},
		"e30.e30.viewer": {User: "viewer", Scopes: []string{"tag:management", "read:%2F/*"}, Expires: end},
	}
}

func TestBearerTokens(t *testing.T) {
	r := startAs(t, withTokens)
	tests := []struct {
		name, authorization string
		status              int
		want                string
	}{
		{"administrator", "Bearer e30.e30.admin", 200, `{"name":"boss","tags":["administrator"],"is_internal_user":false}`},
		{"lower case", "bearer  e30.e30.admin", 200, `{"name":"boss","tags":["administrator"],"is_internal_user":false}`},
		{"as the password", basic("whoever:e30.e30.viewer"), 200, `{"name":"viewer","tags":["management"],"is_internal_user":false}`},
		{"beside passwords", basic("guest:guest"), 200, `{"name":"guest","tags":["administrator"],"is_internal_user":true}`},
		{"without a tag", "Bearer e30.e30.plain", 401, `{"error":"not_authorised","reason":"Not management user"}`},
		{"forged", "Bearer e30.e30.x", 401, `{"error":"not_authorized","reason":"Not_Authorized"}`},
		{"no token", "Bearer guest", 401, `{"error":"not_authorized","reason":"Not_Authorized"}`},
		{"empty", "Bearer ", 401, `{"error":"not_authorized","reason":"Not_Authorized"}`},
	}
	for _, tt := range tests {
		a := r.send(http.MethodGet, "/api/whoami", "", "Authorization", tt.authorization)
		if a.status != tt.status || a.text != tt.want {
			t.Errorf("%s: %d %s, want %d %s", tt.name, a.status, a.text, tt.status, tt.want)
		}
	}
}

// Who comes with a token gets no row of permissions for what it makes: only accounts have them.
func TestTokenUserMakesVirtualHost(t *testing.T) {
	r := startAs(t, withTokens)
	r.must(http.StatusCreated, http.MethodPut, "/api/vhosts/new", "", "Authorization", "Bearer e30.e30.admin")
	r.must(http.StatusCreated, http.MethodPut, "/api/queues/new/q", `{"durable":true}`, "Authorization", "Bearer e30.e30.admin")
	if a := r.send(http.MethodPut, "/api/queues/%2F/q", "{}", "Authorization", "Bearer e30.e30.viewer"); a.status != http.StatusUnauthorized {
		t.Errorf("a viewer declares: %d", a.status)
	}
	if users := r.users.Users(); len(users) != 1 {
		t.Errorf("accounts: %+v", users)
	}
}
