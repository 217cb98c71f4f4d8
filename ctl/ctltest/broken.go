package ctltest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Fault is one way in which what answers is not the API that a command expects: a proxy, an older or another broker, a connection that broke.
type Fault struct {
	Name   string
	Status int    // 0: the connection ends before there is an answer
	Body   string // of every answer, whatever was asked
	Fails  bool   // no command can have done its work
}

// Faults are the ways that commands are tried with.
var Faults = []Fault{
	{"no answer", 0, "", true},
	{"an answer that breaks off", -1, `[{"name":"a"},`, true},
	{"an internal error", http.StatusInternalServerError, `{"error":"Internal Server Error","reason":"Internal Server Error"}`, true},
	{"a proxy's page", http.StatusBadGateway, "<html><body>Bad Gateway</body></html>", true},
	{"an error without a reason", http.StatusBadRequest, `{"error":"bad_request"}`, true},
	{"an error whose reason is a list", http.StatusBadRequest, `{"error":"bad_request","reason":["validation",{"a":null}]}`, true},
	{"nothing there", http.StatusNotFound, "", false}, // what is to be deleted may be gone
	{"a page that is no JSON", http.StatusOK, "<html><body>Welcome</body></html>", false},
	{"nothing", http.StatusOK, "", false},
	{"null", http.StatusOK, "null", false},
	{"a text", http.StatusOK, `"text"`, false},
	{"a number", http.StatusOK, "1e400", false},
	{"an empty list", http.StatusOK, "[]", false},
	{"a list of other things", http.StatusOK, `[null,1,"a",[],{}]`, false},
	{"an empty object", http.StatusOK, "{}", false},
	{"a list of objects of other types", http.StatusOK, `[{"name":{"a":1},"messages":"many","arguments":[],"tags":5,"vhost":null,"value":null,"memory":null}]`, false},
	{"an object of other types", http.StatusOK, `{"name":[1],"node":{"a":1},"messages":{},"listeners":{},"memory":"much","arguments":7,"tags":{},"value":null,"items":3}`, false},
}

// Serve starts a server with the fault that ends with the test, and returns its URL.
func (f Fault) Serve(t testing.TB) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		switch {
		case f.Status == 0:
			panic(http.ErrAbortHandler)
		case f.Status < 0:
			w.Header().Set("Content-Length", "1000000") // and less comes
			io.WriteString(w, f.Body)
			return
		}
		w.WriteHeader(f.Status)
		io.WriteString(w, f.Body)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// Signs returns what must not stand in anything that people read: traces of Go in place of a sentence.
func Signs(output string) (found []string) {
	for _, sign := range []string{"%!", "<nil>", "panic", "goroutine ", "map[", "interface {}", "reflect."} {
		if strings.Contains(output, sign) {
			found = append(found, sign)
		}
	}
	return found
}
