package management_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// formed holds that an answer is no fault, and JSON if it says so.
func formed(t *testing.T, what string, a answer) {
	t.Helper()
	if a.status >= http.StatusInternalServerError && a.status != http.StatusServiceUnavailable {
		t.Errorf("%s: %d %.300s", what, a.status, a.text)
	}
	if strings.HasPrefix(a.header.Get("Content-Type"), "application/json") && a.text != "" && !json.Valid([]byte(a.text)) {
		t.Errorf("%s: no JSON: %.300s", what, a.text)
	}
}

// faultless holds that nothing was a fault of the broker's own.
func faultless(r *rig) {
	r.t.Helper()
	for line := range strings.Lines(r.logged()) {
		if strings.Contains(line, "internal error") || strings.Contains(line, "panic") {
			r.t.Error(line)
		}
	}
}

// oddQueries are what no client should send behind a path.
var oddQueries = []string{
	"page=1&page_size=1&sort=name&sort_reverse=maybe&columns=", "columns=..,,a.,.b&sort=.", "sort=" + strings.Repeat("a.", 500), "columns=" + strings.Repeat("name,", 2000),
	"name=%5B&use_regex=true&page=1", "name=%28a%2B%29%2B%24&use_regex=true&page=1", "name=%00%FF&page=1", "page=1&page=2", "page[]=1", "page=%31", "page=0x1", "page=+1", "page=１",
	"lengths_age=1&lengths_incr=0", "lengths_age=-1&lengths_incr=-1", "msg_rates_age=9223372036854775808&msg_rates_incr=1", "msg_rates_age=1e3&msg_rates_incr=1", "data_rates_age=&data_rates_incr=",
	"lengths_age=60", "lengths_incr=5", "disable_stats=&enable_queue_totals=&disable_stats=true", "%", "%zz=1", "a=b;c=d", "&&&=", "count=-1", "count=9223372036854775808", "cursor=%00", "offset=-5",
	"truncate=x", "header.=x", "if-empty=perhaps&if-unused=", "vhost=/nowhere", "properties_key=~", "since=never",
}

// Whatever stands behind a path, a GET of it answers in its form; what it does not know it passes over.
func TestOddQueries(t *testing.T) {
	r := start(t)
	r.must(http.StatusCreated, http.MethodPut, "/api/queues/%2F/nothing", `{"durable":true}`) // so that some of it is there
	for _, o := range every(r) {
		if o.method != http.MethodGet {
			continue
		}
		for _, query := range oddQueries {
			formed(t, fmt.Sprintf("GET %s?%.80s", o.path, query), r.send(http.MethodGet, o.path+"?"+query, ""))
		}
	}
	faultless(r)
}

// oddValues are JSON values that a field may get in place of the one that it should have.
var oddValues = []string{
	`null`, `true`, `""`, `"x"`, `"\ud800"`, `"\u0000"`, `-1`, `0.5`, `1e400`, `-0`, `9223372036854775808`, `18446744073709551616`, `123456789012345678901234567890`, `[]`, `[null]`,
	`[[],{}]`, `{}`, `{"":null}`, `{"a":1,"a":2}`, `{"x-max-length":1e30,"x-expires":-1,"x-overflow":[]}`, strings.Repeat("[", 2000) + strings.Repeat("]", 2000), `"` + strings.Repeat("ä", 5000) + `"`,
}

// bodied are the operations that take a body, each with the names of its fields and of those that it needs.
func bodied(r *rig) map[string][2][]string {
	r.t.Helper()
	var d struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(r.get("/api/openapi.json").text), &d); err != nil {
		r.t.Fatal(err)
	}
	found := map[string][2][]string{}
	for path, operations := range d.Paths {
		for method, text := range operations {
			var o struct {
				Body struct {
					Content map[string]struct {
						Schema struct {
							Properties map[string]any
							Required   []string
						}
					}
				} `json:"requestBody"`
			}
			if method == "parameters" || json.Unmarshal(text, &o) != nil {
				continue
			}
			if fields := o.Body.Content["application/json"].Schema; len(fields.Properties) > 0 {
				found[strings.ToUpper(method)+" /api"+strings.TrimPrefix(filled(path), "/api")] = [2][]string{slices.Sorted(maps.Keys(fields.Properties)), fields.Required}
			}
		}
	}
	if len(found) < 25 {
		r.t.Fatalf("%d operations take a body", len(found))
	}
	return found
}

// Whatever a field of a body holds, no call is a fault, and what was taken can be exported and imported again.
func TestOddFields(t *testing.T) {
	r := start(t)
	r.must(http.StatusCreated, http.MethodPut, "/api/queues/%2F/nothing", `{"durable":true}`)
	for call, fields := range bodied(r) {
		method, path, _ := strings.Cut(call, " ")
		if strings.HasPrefix(path, "/api/leveret/alarms") || strings.HasPrefix(path, "/api/leveret/app") {
			continue // would hold publishers
		}
		for _, odd := range fields[0] {
			for _, value := range oddValues {
				var body []string
				for _, name := range fields[1] {
					if name != odd {
						body = append(body, fmt.Sprintf(`%q:"x"`, name))
					}
				}
				body = append(body, fmt.Sprintf(`%q:%s`, odd, value))
				formed(t, fmt.Sprintf("%s with %s %.60s", call, odd, value), r.send(method, path, "{"+strings.Join(body, ",")+"}"))
			}
		}
	}
	faultless(r)
	r.must(http.StatusNoContent, http.MethodPost, "/api/definitions", r.get("/api/definitions").text)
}

// oddNames are names that mean something in paths, queries, JSON, HTML, logs or terminals.
var oddNames = []string{
	"/", "a/b", "..", ".", "a b", "a+b", "a%2Fb", "?x=1", "#", "a;b", "a&b=c", `"`, `\`, "<b>", "line\nbreak", "tab\t", "\x1b[31m", "grün 兎 🐇", "é", "e\u0301", "\u202e", "~", "%", "%00", "amq",
	strings.Repeat("n", 255),
}

// Things of any name are made, found in lists, shown, and deleted, each as itself; names go through the log as one line.
func TestOddNames(t *testing.T) {
	r := start(t)
	for _, kind := range []struct{ path, list, body string }{
		{"/api/queues/%2F/", "/api/queues/%2F", `{"durable":true}`},
		{"/api/exchanges/%2F/", "/api/exchanges/%2F", `{"type":"topic"}`},
		{"/api/policies/%2F/", "/api/policies/%2F", `{"pattern":"^none$","definition":{"max-length":1}}`},
		{"/api/parameters/federation-upstream/%2F/", "/api/parameters/federation-upstream/%2F", `{"value":{"uri":"amqp://h"}}`},
		{"/api/users/", "/api/users", `{"password":"p","tags":""}`},
		{"/api/vhosts/", "/api/vhosts", `{}`},
	} {
		base := len(r.get(kind.list).list(r))
		made := slices.Clone(oddNames)
		if kind.path == "/api/vhosts/" {
			made = made[1:] // which is there
		}
		for _, name := range made {
			r.must(http.StatusCreated, http.MethodPut, kind.path+url.PathEscape(name), kind.body)
		}
		var names []any
		for _, o := range r.get(kind.list).list(r) {
			names = append(names, o["name"])
		}
		for _, name := range made {
			path := kind.path + url.PathEscape(name)
			if !slices.Contains(names, any(name)) || r.get(path).one(r)["name"] != name {
				t.Errorf("%s: %q is in the list: %t, shown: %.100s", kind.path, name, slices.Contains(names, any(name)), r.get(path).text)
			}
			r.must(http.StatusNoContent, http.MethodDelete, path, "")
		}
		if left := len(r.get(kind.list).list(r)); left != base {
			t.Errorf("%s: %d are left of %d", kind.path, left, base)
		}
	}
	for line := range strings.Lines(r.logged()) {
		if !strings.HasPrefix(line, "time=") || strings.ContainsAny(strings.TrimSuffix(line, "\n"), "\x1b\t\r\u202e") {
			t.Errorf("a name breaks the log: %q", line)
		}
	}
}
