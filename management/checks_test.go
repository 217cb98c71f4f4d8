package management_test

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"leveret/management"
)

// ending is a certificate whose time ends in so many days.
func ending(name string, days int) *tls.Certificate {
	return &tls.Certificate{Leaf: &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().AddDate(0, 0, days), SerialNumber: big.NewInt(int64(1000 + days)),
	}}
}

// The check fails for certificates that end within the time, in each unit, and names them alone.
func TestCertificateExpiration(t *testing.T) {
	served := []*tls.Certificate{ending("soon", 20), ending("later", 100), {}} // the last could not be parsed
	r := start(t, func(o *management.Options) { o.Certificates = func() []*tls.Certificate { return served } })
	for within, want := range map[string]string{
		"1/days": "", "19/days": "", "21/days": "soon", "2/weeks": "", "3/weeks": "soon", "1/months": "soon", "3/months": "soon", "4/months": "soon later",
		"1/years": "soon later", "0/days": "", "-5/days": "", "+21/days": "soon", "3/Weeks": "soon", "1/YEARS": "soon later",
		"999999999999/years": "soon later", "-999999999999/years": "", "106751991167301/days": "soon later", // would overflow
		"123456789012345678901234567890/weeks": "soon later", "-123456789012345678901234567890/weeks": "",
	} {
		a := r.send(http.MethodGet, "/api/health/checks/certificate-expiration/"+within, "")
		var answer struct {
			Status, Reason string
			Expired        []struct {
				Subject  string `json:"subject"`
				NotAfter string `json:"not_after"`
				Serial   string `json:"serial_number"`
			}
		}
		if err := json.Unmarshal([]byte(a.text), &answer); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range answer.Expired {
			names = append(names, strings.TrimPrefix(e.Subject, "CN="))
			if _, err := time.Parse(time.RFC3339, e.NotAfter); err != nil || e.Serial != "1020" && e.Serial != "1100" {
				t.Errorf("%s: %+v", within, e)
			}
		}
		status := http.StatusOK
		if want != "" {
			status = http.StatusServiceUnavailable
		}
		if a.status != status || strings.Join(names, " ") != want {
			t.Errorf("%s: %d, expired %q, want %q", within, a.status, names, want)
		}
	}
	served = append(served, ending("gone", -1))
	if a := r.send(http.MethodGet, "/api/health/checks/certificate-expiration/0/days", ""); a.status != http.StatusServiceUnavailable || !strings.Contains(a.text, "CN=gone") {
		t.Errorf("one that has ended: %d %s", a.status, a.text)
	}
}

// What is no number or no unit is refused in RabbitMQ's words, the number first.
func TestCertificateExpirationRefusals(t *testing.T) {
	r := start(t)
	const number, unit = "Invalid expiration value.", "Time unit not recognised. Supported units: days, weeks, months, years."
	for within, reason := range map[string]string{
		"x/months": number, "1.5/days": number, "1e3/days": number, "0x10/days": number, "%20/days": number, "1_000/days": number, "x/fortnights": number,
		"1/fortnights": unit, "1/day": unit, "1/%20days": unit, "1/d%C3%A4ys": unit,
	} {
		a := r.send(http.MethodGet, "/api/health/checks/certificate-expiration/"+within, "")
		var answer struct{ Error, Reason string }
		if err := json.Unmarshal([]byte(a.text), &answer); err != nil {
			t.Fatal(err)
		}
		if a.status != http.StatusBadRequest || answer.Error != "bad_request" || answer.Reason != reason {
			t.Errorf("%s: %d %s, want %q", within, a.status, a.text, reason)
		}
	}
}

// While the broker is suspended those checks fail that say whether clients can come in, and no others.
func TestChecksOfASuspendedBroker(t *testing.T) {
	r := start(t)
	checks := map[string]bool{ // passes while it is suspended
		"is-in-service": false, "ready-to-serve-clients": false, "port-listener/5672": false, "protocol-listener/amqp": false,
		"port-listener/15672": true, "protocol-listener/http": true, "alarms": true, "local-alarms": true, "virtual-hosts": true,
		"below-node-connection-limit": true, "node-is-quorum-critical": true,
	}
	ask := func(when string, suspended bool) {
		for check, passes := range checks {
			want := http.StatusOK
			if suspended && !passes {
				want = http.StatusServiceUnavailable
			}
			if a := r.send(http.MethodGet, "/api/health/checks/"+check, ""); a.status != want || strings.Contains(a.text, `"status":"ok"`) != (want == http.StatusOK) {
				t.Errorf("%s %s: %d %s", when, check, a.status, a.text)
			}
		}
	}
	ask("running", false)
	r.must(http.StatusNoContent, http.MethodPut, "/api/leveret/app", `{"running":false}`)
	ask("suspended", true)
	r.must(http.StatusNoContent, http.MethodPut, "/api/leveret/app", `{"running":false}`) // once more is no error
	r.must(http.StatusNoContent, http.MethodPut, "/api/leveret/app", `{"running":true}`)
	ask("running again", false)
}

// Alarms fail the checks for alarms, with what is short, and are gone with what raised them.
func TestChecksOfAlarms(t *testing.T) {
	r := start(t)
	for _, tt := range []struct {
		method, resource string
		short            []string
	}{
		{http.MethodPut, "memory", []string{"memory"}}, {http.MethodPut, "disk", []string{"memory", "disk"}},
		{http.MethodDelete, "memory", []string{"disk"}}, {http.MethodDelete, "disk", nil},
	} {
		r.must(http.StatusNoContent, tt.method, "/api/leveret/alarms/"+tt.resource, "")
		for _, check := range []string{"alarms", "local-alarms"} {
			a := r.send(http.MethodGet, "/api/health/checks/"+check, "")
			var answer struct {
				Alarms []struct{ Node, Resource string }
			}
			if err := json.Unmarshal([]byte(a.text), &answer); err != nil {
				t.Fatal(err)
			}
			var short []string
			for _, alarm := range answer.Alarms {
				short = append(short, alarm.Resource)
			}
			if fmt.Sprint(short) != fmt.Sprint(tt.short) || (a.status == http.StatusOK) != (tt.short == nil) {
				t.Errorf("%s after %s %s: %d, %v, want %v", check, tt.method, tt.resource, a.status, short, tt.short)
			}
		}
	}
	r.must(http.StatusNotFound, http.MethodPut, "/api/leveret/alarms/patience", "")
}

// Requests of whom the system vouches for need no login, whatever header they bring, and may do everything; the mark is in the context, where no
// request from outside can put it.
func TestTrustedRequests(t *testing.T) {
	r := start(t)
	send := func(method, path string, trusted bool, headers ...string) *httptest.ResponseRecorder {
		request := httptest.NewRequest(method, path, strings.NewReader(""))
		for i := 0; i < len(headers); i += 2 {
			request.Header.Set(headers[i], headers[i+1])
		}
		if trusted {
			request = request.WithContext(management.Trusted(request.Context()))
		}
		answer := httptest.NewRecorder()
		r.api.ServeHTTP(answer, request)
		return answer
	}
	for _, headers := range [][]string{nil, {"Authorization", basic("guest:wrong")}, {"X-Forwarded-For", "203.0.113.7"}} {
		if a := send(http.MethodGet, "/api/users", true, headers...); a.Code != http.StatusOK {
			t.Errorf("trusted with %q: %d %s", headers, a.Code, a.Body)
		}
		if a := send(http.MethodGet, "/api/users", false, headers...); a.Code != http.StatusUnauthorized {
			t.Errorf("a stranger with %q: %d %s", headers, a.Code, a.Body)
		}
	}
	if a := send(http.MethodPut, "/api/vhosts/new", true); a.Code != http.StatusCreated {
		t.Errorf("a virtual host: %d %s", a.Code, a.Body)
	}
	if n := len(r.get("/api/vhosts/new/permissions").list(r)); n != 0 {
		t.Errorf("%d rows of permissions for whoever has no account", n)
	}
}

// An export has a tag, by which the same definitions are not sent twice; it is another as soon as something is defined.
func TestTagOfDefinitions(t *testing.T) {
	r := start(t)
	for _, path := range []string{"/api/definitions", "/api/definitions/%2F"} {
		first := r.get(path)
		tag := first.header.Get("ETag")
		if len(tag) < 10 || tag[0] != '"' || tag[len(tag)-1] != '"' {
			t.Fatalf("%s: tag %s", path, tag)
		}
		for match, status := range map[string]int{tag: 304, `"x", ` + tag: 304, `"x"`: 200, "": 200} {
			if a := r.send(http.MethodGet, path, "", "If-None-Match", match); a.status != status || (a.text == "") != (status == 304) || a.header.Get("ETag") != tag {
				t.Errorf("%s with %s: %d %.40s, tag %s", path, match, a.status, a.text, a.header.Get("ETag"))
			}
		}
		r.must(http.StatusCreated, http.MethodPut, "/api/queues/%2F/q"+tag[1:5], `{"durable":true}`)
		if a := r.must(http.StatusOK, http.MethodGet, path, "", "If-None-Match", tag); a.header.Get("ETag") == tag {
			t.Errorf("%s: the tag does not tell a new queue", path)
		}
	}
	a := r.get("/api/definitions?download=b%22r%C3%B6ker.json")
	if got := a.header.Get("Content-Disposition"); !strings.HasPrefix(got, "attachment; filename") || strings.ContainsAny(got, "ö\n") {
		t.Errorf("disposition %s", got)
	}
}
