package admin_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"leveret/cmd/broker/admin"
	"leveret/ctl"

	"github.com/spf13/cobra"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// api is a fake of the HTTP API: it remembers what was asked, and answers what it was told to.
type api struct {
	*httptest.Server
	mu      sync.Mutex
	asked   []string          // "METHOD path body"
	answers map[string]string // by "METHOD path"; "404 ..." answers with a status
}

func newAPI(t *testing.T, answers map[string]string) *api {
	a := &api{answers: answers}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		call := r.Method + " " + strings.TrimPrefix(r.RequestURI, "/api")
		a.mu.Lock()
		defer a.mu.Unlock()
		a.asked = append(a.asked, strings.TrimSpace(call+" "+string(body)))
		answer, known := a.answers[call]
		status := http.StatusNoContent
		switch {
		case known:
			status = http.StatusOK
			if n, err := fmt.Sscanf(answer, "%3d ", &status); n == 1 && err == nil {
				answer = answer[4:]
			}
		case r.Method == http.MethodGet:
			status, answer = http.StatusNotFound, `{"error":"Object Not Found","reason":"Not Found"}`
		}
		w.WriteHeader(status)
		io.WriteString(w, answer)
	}))
	t.Cleanup(a.Close)
	return a
}

// took returns what was asked since the last time.
func (a *api) took() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	asked := strings.Join(a.asked, "\n")
	a.asked = nil
	return asked
}

// run runs `broker ctl` against the fake and returns what it printed and the exit code.
func (a *api) run(input string, args ...string) (output string, code int) {
	return run(admin.New(), input, append(args, "--url", a.URL)...)
}

func run(cmd *cobra.Command, input string, args ...string) (output string, code int) {
	var out bytes.Buffer
	cmd.SetArgs(args)
	cmd.SetIn(strings.NewReader(input))
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.Execute()
	if err != nil {
		fmt.Fprintln(&out, "error:", err)
	}
	return out.String(), ctl.ExitCode(err)
}
