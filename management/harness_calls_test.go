package management_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

func contextOf(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), d)
}

// lockedWriter lets several goroutines log into one builder.
type lockedWriter struct {
	mu sync.Mutex
	to *strings.Builder
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

// answer is what came back for a request.
type answer struct {
	status int
	header http.Header
	text   string
}

// send makes one request as guest, unless the path names another user before an @.
func (r *rig) send(method, path, body string, headers ...string) answer {
	r.t.Helper()
	request, err := http.NewRequest(method, r.http.URL, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	path, query, _ := strings.Cut(path, "?")
	request.URL.Opaque, request.URL.RawQuery = "//"+request.URL.Host+path, query // as it is written: the client must not tidy it up
	request.SetBasicAuth("guest", "guest")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			request.Header.Del(headers[i])
		}
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(text)}
}

// must makes a request that has to end with the status.
func (r *rig) must(status int, method, path, body string, headers ...string) answer {
	r.t.Helper()
	a := r.send(method, path, body, headers...)
	if a.status != status {
		r.t.Fatalf("%s %s: %d %s, want %d", method, path, a.status, a.text, status)
	}
	return a
}

// list is the answer as a list of objects.
func (a answer) list(r *rig) []map[string]any {
	r.t.Helper()
	var list []map[string]any
	if err := json.Unmarshal([]byte(a.text), &list); err != nil {
		r.t.Fatalf("%v: %s", err, a.text)
	}
	return list
}

// get is a GET that has to succeed.
func (r *rig) get(path string) answer {
	r.t.Helper()
	return r.must(http.StatusOK, http.MethodGet, path, "")
}
