package interop

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The examples of the HTTP API's page run as they are written, one after the other.
func TestHTTPExamples(t *testing.T) {
	b := withHTTP(t)
	page, err := os.ReadFile("../../docs/http-api.md")
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	blocks := strings.Split(string(page), "```sh\n")[1:]
	for _, block := range blocks {
		code, _, closed := strings.Cut(block, "```")
		if !closed {
			t.Fatalf("a block of code has no end: %s", block)
		}
		script.WriteString(code)
	}
	if len(blocks) < 5 {
		t.Fatalf("%d blocks of code", len(blocks))
	}
	cmd := exec.Command("sh", "-ex")
	cmd.Stdin = strings.NewReader(script.String())
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "API=http://"+b.http+"/api")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
