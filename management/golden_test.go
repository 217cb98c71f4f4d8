package management_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the answers into testdata")

// Files in testdata are dialogues with a fresh broker. A request is a line "METHOD path [body]"; before it may stand lines
//
//	# a comment
//	> Header: value      for the next request
//	@ user:password      for all that follow; @ alone: nobody
//
// and behind it "< status [JSON or text]", with lines "< Header: value" for the headers that matter. In the JSON, "<any>" is any value: those that
// change from run to run are written so by -update.

// TestDialogues plays all files.
func TestDialogues(t *testing.T) {
	files, err := filepath.Glob("testdata/*.http")
	if err != nil || len(files) == 0 {
		t.Fatalf("no dialogues: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".http"), func(t *testing.T) { playFile(t, file) })
	}
}

// dialogue plays one file.
type dialogue struct {
	r       *rig
	out     bytes.Buffer
	login   string // Authorization header
	headers []string
	request string
	status  string   // what is expected
	header  []string // what is expected of the headers
	failed  []string
}

func playFile(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := &dialogue{r: start(t), login: basic("guest:guest")}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n") {
		d.line(line)
	}
	d.finish()
	if *update {
		if err := os.WriteFile(file, d.out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, f := range d.failed {
		t.Error(f)
	}
}

func basic(login string) string {
	if login == "" {
		return ""
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(login))
}

func (d *dialogue) line(line string) {
	switch {
	case strings.HasPrefix(line, "< "):
		expected := line[2:]
		if d.status == "" {
			d.status = expected
		} else {
			d.header = append(d.header, expected)
		}
		return
	case strings.HasPrefix(line, "> "):
		d.finish()
		name, value, _ := strings.Cut(line[2:], ": ")
		d.headers = append(d.headers, name, value)
	case strings.HasPrefix(line, "@"):
		d.finish()
		d.login = basic(strings.TrimSpace(line[1:]))
	case line == "" || strings.HasPrefix(line, "#"):
		d.finish()
	default:
		d.finish()
		d.request = line
		return
	}
	fmt.Fprintln(&d.out, line)
}

// finish makes the request that was read and compares its answer.
func (d *dialogue) finish() {
	if d.request == "" {
		return
	}
	method, rest, _ := strings.Cut(d.request, " ")
	path, body, _ := strings.Cut(rest, " ")
	covered.note(method, path)
	a := d.r.send(method, path, body, append([]string{"Authorization", d.login}, d.headers...)...)
	got := strings.TrimSpace(fmt.Sprintf("%d %s", a.status, steady(a.text)))
	fmt.Fprintf(&d.out, "%s\n< %s\n", d.request, got)
	if !alike(d.status, got) {
		d.failed = append(d.failed, fmt.Sprintf("%s\n got %s\nwant %s", d.request, got, d.status))
	}
	for _, h := range d.header {
		name, want, _ := strings.Cut(h, ": ")
		have := a.header.Get(name)
		fmt.Fprintf(&d.out, "< %s: %s\n", name, have)
		if have != want {
			d.failed = append(d.failed, fmt.Sprintf("%s\nheader %s: %q, want %q", d.request, name, have, want))
		}
	}
	d.request, d.status, d.headers, d.header = "", "", nil, nil
}

// volatile are the fields whose values depend on the machine and the moment.
var volatile = map[string]bool{
	"uptime": true, "os_pid": true, "processors": true, "mem_used": true, "fd_used": true, "fd_total": true, "proc_used": true, "disk_free": true,
	"erlang_version": true, "erlang_full_version": true, "gc_num": true, "gc_bytes_reclaimed": true, "rate": true, "password_hash": true,
	"memory": true, "exchanges": true, "total_count": true, "time": true, "published": true, "due": true, "oldest_ready_age": true, "age": true, "timestamp": true, "sample": true, "ok": true, "message_bytes": true, "message_bytes_ready": true,
	"message_bytes_ram": true, "auth_attempts": true, "auth_attempts_failed": true, "auth_attempts_succeeded": true,
	"io_write_count": true, "io_write_bytes": true, "io_sync_count": true, "io_read_count": true, "msg_store_write_count": true,
}

// steady gives an answer a form that is the same in each run.
func steady(text string) string {
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		if len(text) > 200 {
			return fmt.Sprintf("(%s...)", strings.ReplaceAll(text[:40], "\n", " "))
		}
		return strings.ReplaceAll(text, "\n", `\n`)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(masked(v)); err != nil {
		return text
	}
	return strings.TrimSpace(b.String())
}

func masked(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			if volatile[name] {
				v[name] = "<any>"
			} else {
				v[name] = masked(inner)
			}
		}
	case []any:
		for i := range v {
			v[i] = masked(v[i])
		}
	}
	return v
}

// alike compares an answer with what is expected; both are steady.
func alike(want, got string) bool { return want == got }
