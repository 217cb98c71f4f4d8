package management_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// covered notes what the dialogues ask for.
var covered coverage

type coverage struct {
	mu    sync.Mutex
	calls []string
}

func (c *coverage) note(method, path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	path, _, _ = strings.Cut(path, "?")
	c.calls = append(c.calls, method+" "+path)
}

// TestMain looks, after a whole run, whether every operation of the route table was part of a dialogue.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 && len(covered.calls) > 0 && !covered.complete() {
		code = 1
	}
	os.Exit(code)
}

func (c *coverage) complete() bool {
	complete := true
	for _, operation := range described {
		if !slices.ContainsFunc(c.calls, operation.fits) {
			os.Stderr.WriteString("no dialogue in testdata has " + operation.method + " " + operation.path + "\n")
			complete = false
		}
	}
	return complete
}

// operation is one that the OpenAPI description lists.
type operation struct{ method, path string }

// described are those of the description that TestOpenAPI read.
var described []operation

// fits tells whether a call was one of the operation.
func (o operation) fits(call string) bool {
	method, path, _ := strings.Cut(call, " ")
	have, want := strings.Split(path, "/"), strings.Split(o.path, "/")
	if method != o.method || len(have) != len(want) {
		return false
	}
	for i := range want {
		if !strings.HasPrefix(want[i], "{") && want[i] != have[i] {
			return false
		}
	}
	return true
}

// TestOpenAPI checks the description: it lists what the router serves, with the parameters of each path.
func TestOpenAPI(t *testing.T) {
	r := start(t)
	var d struct {
		OpenAPI string
		Paths   map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(r.get("/api/openapi.json").text), &d); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(d.OpenAPI, "3.") || len(d.Paths) < 100 {
		t.Fatalf("version %q, %d paths", d.OpenAPI, len(d.Paths))
	}
	for path, operations := range d.Paths {
		allow := r.send(http.MethodOptions, concrete(path), "").header.Get("Allow")
		for method := range operations {
			if method == "parameters" {
				continue
			}
			method = strings.ToUpper(method)
			described = append(described, operation{method, path})
			if !slices.Contains(strings.Split(allow, ", "), method) {
				t.Errorf("%s %s is described, but allowed is %q", method, path, allow)
			}
		}
		if _, given := operations["parameters"]; given != strings.Contains(path, "{") {
			t.Errorf("%s: parameters given %v", path, given)
		}
	}
}

// concrete puts names into a path.
func concrete(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			parts[i] = url.PathEscape("x y")
		}
	}
	return strings.Join(parts, "/")
}

// TestReference: the page lists what the description does.
func TestReference(t *testing.T) {
	r := start(t)
	page := r.get("/api/index.html")
	for _, want := range []string{"<!DOCTYPE html>", "/api/queues/{vhost}/{queue}", "openapi.json"} {
		if !strings.Contains(page.text, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	for _, path := range []string{"/api", "/api/"} {
		if a := r.send(http.MethodGet, path, ""); a.status != http.StatusMovedPermanently || a.header.Get("Location") != "/api/index.html" {
			t.Errorf("%s: %d to %q", path, a.status, a.header.Get("Location"))
		}
	}
}
