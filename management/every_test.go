package management_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// everyOperation is one of the description. The tests below ask all of them in the ways that do not depend on what they do, new ones too.
type everyOperation struct {
	method, path string // names are put in: the virtual host is "/", all others are of things that are not there
	open         bool   // nobody has to log in
	body         bool   // it takes one
}

// every are all operations but those that delete the virtual host or end the broker, which the others need.
func every(r *rig) []everyOperation {
	r.t.Helper()
	var d struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(r.get("/api/openapi.json").text), &d); err != nil {
		r.t.Fatal(err)
	}
	var list []everyOperation
	for path, operations := range d.Paths {
		for method, text := range operations {
			var o struct {
				Level string          `json:"x-tag-needed"`
				Body  json.RawMessage `json:"requestBody"`
			}
			if method == "parameters" || json.Unmarshal(text, &o) != nil {
				continue
			}
			if method == "delete" && path == "/api/vhosts/{vhost}" || strings.HasPrefix(path, "/api/leveret/") {
				continue
			}
			list = append(list, everyOperation{strings.ToUpper(method), "/api" + strings.TrimPrefix(filled(path), "/api"), o.Level == "nobody has to log in", o.Body != nil})
		}
	}
	if len(list) < 150 {
		r.t.Fatalf("%d operations are described", len(list))
	}
	slices.SortFunc(list, func(a, b everyOperation) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	return list
}

// TestNobody: without a login every operation is refused with a challenge and not a word more, with a wrong password without one; but for those
// that need none.
func TestNobody(t *testing.T) {
	r := start(t)
	for _, o := range every(r) {
		a := r.send(o.method, o.path, "", "Authorization", "")
		switch {
		case o.open:
			if a.status == http.StatusUnauthorized && o.path != "/api/login" { // which is told a login in its body
				t.Errorf("%s %s wants a login", o.method, o.path)
			}
		case a.status != http.StatusUnauthorized || a.header.Get("WWW-Authenticate") == "" || a.text != "":
			t.Errorf("%s %s without a login: %d %q, challenge %q", o.method, o.path, a.status, a.text, a.header.Get("WWW-Authenticate"))
		}
		if o.open {
			continue
		}
		a = r.send(o.method, o.path, "", "Authorization", basic("guest:wrong"))
		if a.status != http.StatusUnauthorized || a.header.Get("WWW-Authenticate") != "" || !strings.Contains(a.text, "not_authorized") {
			t.Errorf("%s %s with a wrong password: %d %q", o.method, o.path, a.status, a.text)
		}
	}
}

// TestOtherMethods: a path says which methods it has, to whoever asks and to whoever uses another.
func TestOtherMethods(t *testing.T) {
	r := start(t)
	allowed := map[string]string{}
	for _, o := range every(r) {
		a := r.send(http.MethodPatch, o.path, "")
		allow := a.header.Get("Allow")
		if a.status != http.StatusMethodNotAllowed || a.text != "" || !slices.Contains(strings.Split(allow, ", "), o.method) {
			t.Errorf("PATCH %s: %d %q, allowed %q", o.path, a.status, a.text, allow)
		}
		allowed[o.path] = allow
	}
	for path, want := range allowed {
		if a := r.send(http.MethodOptions, path, ""); a.header.Get("Allow") != want {
			t.Errorf("OPTIONS %s: allowed %q, and %q to others", path, a.header.Get("Allow"), want)
		}
	}
}

// TestMalformedBodies: whatever takes a body refuses one that is no JSON object, and nothing has a fault over it. An import says so too if
// it is not told the content type.
func TestMalformedBodies(t *testing.T) {
	r := start(t)
	for _, o := range every(r) {
		for _, body := range []string{"{", "[1]", `"text"`, "\x00\xff"} {
			a := r.send(o.method, o.path, body)
			if a.status >= http.StatusInternalServerError && a.status != http.StatusServiceUnavailable || o.body && a.status < http.StatusBadRequest {
				t.Errorf("%s %s with %q: %d %s", o.method, o.path, body, a.status, a.text)
			}
			if o.body && a.status == http.StatusBadRequest && !strings.Contains(a.text, `"reason"`) {
				t.Errorf("%s %s with %q says nothing: %s", o.method, o.path, body, a.text)
			}
		}
	}
}

// TestNothingThere: operations on things that are not there answer, and never with a fault; errors have their form.
func TestNothingThere(t *testing.T) {
	r := start(t)
	for _, o := range every(r) {
		a := r.send(o.method, o.path, "")
		if a.status >= http.StatusInternalServerError && a.status != http.StatusServiceUnavailable {
			t.Errorf("%s %s: %d %s", o.method, o.path, a.status, a.text)
		}
		if a.status < http.StatusBadRequest || a.text == "" {
			continue
		}
		var e struct{ Error, Reason, Status any }
		if err := json.Unmarshal([]byte(a.text), &e); err != nil || e.Reason == nil || e.Error == nil && e.Status != "failed" {
			t.Errorf("%s %s: %d %s", o.method, o.path, a.status, a.text)
		}
	}
}

// TestNoVirtualHost: operations in a virtual host that is not there say so, whoever asks.
func TestNoVirtualHost(t *testing.T) {
	r := start(t)
	for _, o := range every(r) {
		if !strings.Contains(o.path, "/%2F") {
			continue
		}
		path := strings.Replace(o.path, "/%2F", "/nowhere", 1)
		for _, body := range []string{"", "{}", "{"} {
			if a := r.send(o.method, path, body); a.status >= http.StatusInternalServerError && a.status != http.StatusServiceUnavailable {
				t.Errorf("%s %s with %q: %d %s", o.method, path, body, a.status, a.text)
			}
		}
	}
}

// TestHeads: HEAD is GET without a body.
func TestHeads(t *testing.T) {
	r := start(t)
	for _, o := range every(r) {
		if o.method != http.MethodGet {
			continue
		}
		get, head := r.send(http.MethodGet, o.path, ""), r.send(http.MethodHead, o.path, "")
		if head.status != get.status || head.text != "" || head.header.Get("Content-Type") != get.header.Get("Content-Type") {
			t.Errorf("%s: GET %d %s, HEAD %d %s %q", o.path, get.status, get.header.Get("Content-Type"), head.status, head.header.Get("Content-Type"), head.text)
		}
	}
}

// TestNamesOfAnyKind: names that mean something in paths, in JSON or in HTML come through every operation without a fault, and unharmed.
func TestNamesOfAnyKind(t *testing.T) {
	r := start(t)
	for _, name := range []string{"%2F", "..", ".", "a%20b", "%3Cscript%3E", "%22", "%00", "%C3%A4", "%FF", strings.Repeat("n", 300)} {
		for _, o := range every(r) {
			if !strings.Contains(o.path, "nothing") {
				continue
			}
			a := r.send(o.method, strings.ReplaceAll(o.path, "nothing", name), "")
			if a.status >= http.StatusInternalServerError && a.status != http.StatusServiceUnavailable {
				t.Errorf("%s %s with %q: %d %s", o.method, o.path, name, a.status, a.text)
			}
			if strings.HasPrefix(a.header.Get("Content-Type"), "application/json") && a.text != "" && !json.Valid([]byte(a.text)) {
				t.Errorf("%s %s with %q answers no JSON: %q", o.method, o.path, name, a.text)
			}
		}
	}
}
