package management_test

import (
	"net/http"
	"testing"
)

// A proxy on this machine does not lend its clients the loopback address, which guest needs.
func TestGuestBehindProxy(t *testing.T) {
	r := start(t)
	for forwarded, status := range map[string]int{
		"127.0.0.1": 200, "::1": 200, "203.0.113.7": 401, "127.0.0.1, 203.0.113.7": 401, "203.0.113.7, 127.0.0.1": 200, "nonsense": 401,
	} {
		a := r.send(http.MethodGet, "/api/whoami", "", "X-Forwarded-For", forwarded)
		const refused = `{"error":"not_authorized","reason":"User can only log in via localhost"}`
		if a.status != status || status == 401 && a.text != refused {
			t.Errorf("from %s: %d %s", forwarded, a.status, a.text)
		}
	}
}
