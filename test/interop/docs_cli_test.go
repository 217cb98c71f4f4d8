package interop

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// example is a command of a page and what the page says that it prints.
type example struct{ command, output string }

// examples are the commands behind "$" in the indented blocks of a page.
func examples(page string) (all []example) {
	for line := range strings.Lines(page) {
		text, indented := strings.CutPrefix(line, "    ")
		command, isCommand := strings.CutPrefix(text, "$ ")
		switch {
		case strings.TrimSpace(line) == "" && len(all) > 0:
			all[len(all)-1].output += line
		case !indented:
			all = append(all, example{}) // what follows a block is no output
		case isCommand:
			all = append(all, example{command: strings.TrimSpace(command)})
		case len(all) > 0:
			all[len(all)-1].output += text
		}
	}
	return all
}

// What differs from run to run: sizes, other numbers with their units, and the node's host.
var (
	sizes   = regexp.MustCompile(`[\d.]+ [KMGT]?i?B\b`)
	amounts = regexp.MustCompile(`\b\d[\d.:]*(ms|s|m\d+s)?\b`)
	hosts   = regexp.MustCompile(`leveret@\S+`)
	ages    = regexp.MustCompile(`\s+[\d.]+s\s+running\b`) // of what waits a second, on a slow machine
	blanks  = regexp.MustCompile(`[ \t]+`)
)

// alikeText makes texts alike that differ in nothing else.
func alikeText(text string) string {
	text = ages.ReplaceAllString(text, " running")
	text = hosts.ReplaceAllString(amounts.ReplaceAllString(sizes.ReplaceAllString(text, "SIZE"), "N"), "leveret@host")
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimSpace(blanks.ReplaceAllString(line, " ")))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// The examples of the command line's page run as they are written, one after the other, and print what the page says.
func TestCommandLineExamples(t *testing.T) {
	if brokerBinary == "" {
		return // a foreign broker has no control socket
	}
	b := withHTTP(t)
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	tools := t.TempDir()
	for _, name := range []string{"broker", "rabbitmqctl", "rabbitmq-diagnostics"} {
		if err := os.Symlink(brokerBinary, filepath.Join(tools, name)); err != nil {
			t.Fatal(err)
		}
	}
	ran := 0
	for _, e := range examples(string(page)) {
		if e.command == "" {
			continue
		}
		ran++
		cmd := exec.Command("sh", "-c", e.command)
		cmd.Env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"), "LEVERET_DATA_DIR="+filepath.Join(b.dir, "data"))
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil && !strings.HasPrefix(e.output, "broker: ") {
			t.Errorf("%s: %v", e.command, err)
		}
		if got, want := alikeText(out.String()), alikeText(e.output); got != want {
			t.Errorf("%s\nprints\n%s\nthe page says\n%s", e.command, out.String(), e.output)
		}
	}
	if ran < 20 {
		t.Errorf("%d examples", ran)
	}
}
