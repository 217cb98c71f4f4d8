package management_test

import (
	"net/http"
	"strings"
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

// Whoever has not logged in can't make the broker keep much, and whoever has can send what the limit allows.
func TestBodiesOfStrangers(t *testing.T) {
	r := start(t)
	const form = "username=guest&password=guest&more="
	r.must(http.StatusOK, http.MethodPost, "/api/login", form+strings.Repeat("x", 10_000), "Authorization", "")
	a := r.must(http.StatusBadRequest, http.MethodPost, "/api/login", form+strings.Repeat("x", 20_000), "Authorization", "")
	if a.text != `{"error":"bad_request","reason":"Exceeded HTTP request body size limit"}` {
		t.Errorf("got %s", a.text)
	}
	r.must(http.StatusCreated, http.MethodPut, "/api/queues/%2F/q", `{"arguments":{"x":"`+strings.Repeat("x", 100_000)+`"}}`)
	r.must(http.StatusUnauthorized, http.MethodPut, "/api/queues/%2F/q", strings.Repeat("x", 100_000), "Authorization", "")
}
