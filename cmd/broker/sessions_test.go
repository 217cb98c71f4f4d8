package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write what the sessions print anew")

// recorder stands before a broker's API and keeps the method and the path of each call.
type recorder struct {
	*httptest.Server
	mu    sync.Mutex
	calls []string
}

func record(t *testing.T, address string) *recorder {
	t.Helper()
	to, err := url.Parse("http://" + address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	rec := new(recorder)
	rec.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec.mu.Lock()
		rec.calls = append(rec.calls, r.Method+" "+r.URL.EscapedPath())
		rec.mu.Unlock()
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		rec.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections() // the proxy's
	})
	return rec
}

// words splits a line as a shell does, as far as the sessions need it: quotes keep blanks.
func words(line string) (all []string) {
	var word strings.Builder
	begun, quoted := false, false
	for _, r := range line {
		switch {
		case r == '\'':
			begun, quoted = true, !quoted
		case r == ' ' && !quoted:
			if begun {
				all = append(all, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if begun {
		all = append(all, word.String())
	}
	return all
}

// What differs from run to run has the same length in the files, so that columns stay where they are.
var unsteady = []struct {
	what *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`leveret@[\w.-]+`), "leveret@host"},
	{regexp.MustCompile(`127\.0\.0\.1:\d{4,5}`), "127.0.0.1:PORT"},
	{regexp.MustCompile(`port: \d+`), "port: PORT"},
	{regexp.MustCompile(`[\d.]+ [KMGT]iB`), "SIZE"},
	{regexp.MustCompile(`\b(\d+(\.\d+)?m?s|\d+m\d+s)\b`), "TIME"},
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d\b`), "CLOCK"},
	{regexp.MustCompile(`<leveret@host\.1\.\d+\.0>`), "<PID>"},
	{regexp.MustCompile(`[A-Za-z0-9+/]{47,}=*`), "HASH"},
	{regexp.MustCompile(`time=\d{10}`), "time=SECONDS"},
	{regexp.MustCompile(`go1[\w.]+`), "GO"},
	{regexp.MustCompile(` {2,}`), "  "},
}

// steady gives output the form that it has in the files.
func steady(output string) string {
	for _, u := range unsteady {
		output = u.what.ReplaceAllString(output, u.with)
	}
	return output
}

// play runs the commands of a session, lines that begin with "$ ", and returns it with what they print, and a line "! CODE" for what fails. What a
// line sends to /dev/null is not kept; a line that begins with "? " is run until it succeeds, as the broker does some things in its own time.
func play(t *testing.T, session string) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(session) {
		line = strings.TrimSuffix(line, "\n")
		command, isCommand := strings.CutPrefix(line, "$ ")
		patiently, waits := strings.CutPrefix(line, "? ")
		switch {
		case isCommand:
		case waits:
			command = patiently
		case strings.HasPrefix(line, "#"):
			out.WriteString(line + "\n")
			continue
		default:
			continue
		}
		code, printed := shell(command)
		for deadline := time.Now().Add(patience); waits && code != 0 && time.Now().Before(deadline); {
			code, printed = shell(command)
		}
		out.WriteString(line + "\n" + printed)
		if code != 0 {
			fmt.Fprintf(&out, "! %d\n", code)
		}
	}
	return out.String()
}

// shell runs one command line.
func shell(line string) (code int, printed string) {
	command, silent := strings.CutSuffix(line, " > /dev/null")
	all := words(command)
	var out bytes.Buffer
	code = execute(calledBy(all[0]), all[1:], strings.NewReader("from the input"), &out, &out)
	if silent {
		return code, ""
	}
	return code, steady(out.String())
}

// unasked are the calls that the command lines have no words for, and why.
var unasked = map[string]string{
	"GET /api/":                                                           "a page for browsers",
	"GET /api/openapi.json":                                               "for generators of clients",
	"GET /api/index.html":                                                 "a page for browsers",
	"GET /api/version":                                                    "status",
	"GET /api/cluster-name":                                               "status",
	"GET /api/user-limits/{user}":                                         "list user_limits",
	"GET /api/parameters/{component}/{vhost}":                             "list parameters --where component=",
	"GET /api/connections/username/{user}":                                "list connections --where user=",
	"GET /api/consumers/{vhost}/{connection}/{channel}/{tag}":             "list consumers",
	"GET /api/topic-permissions/{vhost}/{user}/{exchange}":                "show topic_permission",
	"PUT /api/topic-permissions/{vhost}/{user}/{exchange}":                "declare topic_permission",
	"GET /api/bindings/{vhost}/e/{exchange}/{kind}/{destination}/{props}": "list bindings",
	"DELETE /api/auth/attempts/{node}":                                    "numbers are not thrown away",
	"POST /api/leveret/stop":                                              "it would end the session: see TestControlStop",
	"/login":                                                              "of the user interface; rabbitmqctl authenticate_user",
	"/extensions":                                                         "of the user interface",
	"/auth/attempts/{node}/source":                                        "the numbers by address are in the metrics",
	"/replicas/":                                                          "there is one node",
	"/rebalance/queues":                                                   "there is one node",
	"/queues/{vhost}/{queue}/actions":                                     "nothing is left of it",
	"/start/{node}":                                                       "virtual hosts run always",
	"/reset/{node}":                                                       "numbers are not thrown away",
	"/reset":                                                              "numbers are not thrown away",
	"/federation-links":                                                   "there are none",
	"/sessions":                                                           "of another protocol",
	"/all-configuration":                                                  "definitions, under an older name",
	"/healthchecks/":                                                      "checks under older names",
	"/aliveness-test/":                                                    "a check under an older name",
	"/quorum-queues-without-elected-leaders/":                             "rabbitmq-diagnostics asks for all virtual hosts",
	"/memory/{form}":                                                      "shares and tables of the other broker's machine",
	"/users/{user}/queues":                                                "list queues",
	"/users/without-permissions":                                          "list permissions",
	"/users/bulk-delete":                                                  "delete user, one by one",
	"/vhosts/{vhost}/channels":                                            "list channels --vhost",
	"/connections/{connection}/channels":                                  "list channels",
	"/bindings/source":                                                    "list bindings --where source=",
	"/bindings/destination":                                               "list bindings --where destination=",
	"/queues/{vhost}/{queue}/bindings":                                    "list bindings --where destination=",
	"/queues/detailed":                                                    "list queues",
	"/feature-flags/{flag}/enable":                                        "all are on",
	"/deprecated-features/used":                                           "none is",
	"/shovels/vhost/{vhost}/{parameter}":                                  "the parameter: show shovel, delete shovel",
	"/parameters/{component}":                                             "list parameters --where component=",
}

// TestSessions plays sessions at the command line with a broker, each with one of its own, and compares what they print. Together they
// reach every call of the API but those that have a reason not to be.
func TestSessions(t *testing.T) {
	files, err := filepath.Glob("testdata/sessions/*.txt")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	var calls []string
	var described []byte
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			r := startBroker(t)
			rec := record(t, r.HTTP[0])
			t.Setenv("LEVERET_URL", rec.URL)
			t.Chdir(t.TempDir())
			name := filepath.Join(originalFolder, file)
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(want))
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			} else if got != string(want) {
				t.Errorf("%s", difference(string(want), got))
			}
			calls = append(calls, rec.calls...)
			described = apiDescription(t, rec.URL)
		})
	}
	for _, operation := range operations(t, described) {
		if !slices.ContainsFunc(calls, operation.fits) && !operation.excused() {
			t.Errorf("no session asks for %s", operation)
		}
	}
}

// originalFolder is that of the package.
var originalFolder, _ = os.Getwd() // it works for a test that is running

// difference tells where two texts part.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d\n%s\nwant\n%s", i+1, strings.Join(g[max(0, i-2):min(len(g), i+6)], "\n"), strings.Join(w[max(0, i-2):min(len(w), i+6)], "\n"))
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// operation is a method and a path of the API's description, "GET /api/queues/{vhost}".
type operation string

func (o operation) fits(call string) bool {
	have, want := strings.Split(call, "/"), strings.Split(string(o), "/")
	if len(have) != len(want) {
		return false
	}
	for i := range want {
		if !strings.HasPrefix(want[i], "{") && want[i] != have[i] {
			return false
		}
	}
	return true
}

func (o operation) excused() bool {
	for part := range unasked {
		if part == string(o) || strings.HasPrefix(part, "/") && strings.HasSuffix(string(o), part) || strings.HasSuffix(part, "/") && strings.Contains(string(o), part) {
			return true
		}
	}
	return false
}

func apiDescription(t *testing.T, at string) []byte {
	t.Helper()
	response, err := http.Get(at + "/api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(response.Body); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func operations(t *testing.T, described []byte) (all []operation) {
	t.Helper()
	var api struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(described, &api); err != nil {
		t.Fatal(err)
	}
	for path, methods := range api.Paths {
		for method := range methods {
			if method != "parameters" {
				all = append(all, operation(strings.ToUpper(method)+" "+path))
			}
		}
	}
	slices.Sort(all)
	return all
}
