// Package ctltest is a fake of the HTTP API for tests of what calls it.
package ctltest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"leveret/ctl"
)

// API remembers what it was asked, and answers what it was told to.
type API struct {
	*httptest.Server

	mu      sync.Mutex
	asked   []string          // calls since the last Asked
	answers map[string]string // by "METHOD path"; not changed after New
}

// New starts a fake that ends with the test. answers are by "METHOD path"; one such as "404 ..." has a status. What has no answer is 404 for a GET,
// and 204 else.
func New(t *testing.T, answers map[string]string) *API {
	a := &API{answers: answers}
	a.Server = httptest.NewServer(http.HandlerFunc(a.answer))
	t.Cleanup(a.Close)
	return a
}

func (a *API) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	call := r.Method + " " + strings.TrimPrefix(r.RequestURI, "/api")
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, strings.TrimSpace(call+" "+string(body)))
	answer, known := a.answers[call]
	status := http.StatusNoContent
	switch {
	case err != nil:
		status = http.StatusBadRequest
	// A status may stand before the answer, for those that are not 200.
	case known:
		status = http.StatusOK
		if n, err := fmt.Sscanf(answer, "%3d ", &status); n == 1 && err == nil {
			answer = answer[4:]
		}
	// What nobody prepared is not there; changes of it succeed.
	case r.Method == http.MethodGet:
		status, answer = http.StatusNotFound, `{"error":"Object Not Found","reason":"Not Found"}`
	}
	w.WriteHeader(status)
	io.WriteString(w, answer)
}

// Asked returns what was asked since the last time, a line "METHOD path body" each.
func (a *API) Asked() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	asked := strings.Join(a.asked, "\n")
	a.asked = nil
	return asked
}

// Command is cobra's.
type Command interface {
	SetArgs(args []string)
	SetIn(in io.Reader)
	SetOut(out io.Writer)
	SetErr(err io.Writer)
	Execute() error
}

// Run runs a command and returns what it printed, an error included, and its exit code.
func Run(cmd Command, input string, args ...string) (output string, code int) {
	var out bytes.Buffer
	cmd.SetArgs(args)
	cmd.SetIn(strings.NewReader(input))
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	err := cmd.Execute()
	if err != nil {
		fmt.Fprintln(&out, "error:", err)
	}
	return out.String(), ctl.ExitCode(err)
}
