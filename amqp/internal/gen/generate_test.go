package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The committed files are what the generator writes, no more and no fewer.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not current: run go generate ./amqp", name)
		}
	}
	committed, err := filepath.Glob("../../*_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if len(committed) != len(files) {
		t.Errorf("%d generated files are committed, the generator writes %d", len(committed), len(files))
	}
}

func TestRunWritesAllFiles(t *testing.T) {
	folder := t.TempDir()
	if err := run(folder); err != nil {
		t.Fatal(err)
	}
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: written %d octets, error %v; want %d", name, len(got), err, len(want))
		}
	}
	if err := run(filepath.Join(folder, "missing")); err == nil {
		t.Error("writing into a folder that is not there succeeded")
	}
}

func TestParseRefuses(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"unknown word", "domain a b", `unknown word "domain"`},
		{"too few words", "class basic", "too few words"},
		{"class without number", "class basic x", "invalid syntax"},
		{"reply without number", "reply x not-found soft", "invalid syntax"},
		{"reply of no kind", "reply 404 not-found firm", "soft, hard or none"},
		{"method without class", "method get 70 client", "no class before it"},
		{"method without number", "class basic 60\nmethod get x client", "invalid syntax"},
		{"method without direction", "class basic 60\nmethod get 70 nobody", "unknown direction"},
		{"field without method", "class basic 60\nfield queue name", "no method before it"},
		{"field of no type", "class basic 60\nmethod get 70 client\nfield queue word", `unknown type "word"`},
		{"reserved table", "class basic 60\nmethod get 70 client\nfield queue table reserved", "reserved table"},
		{"property without class", "property a shortstr", "no class before it"},
		{"property of no type", "class basic 60\nproperty a bit", `unknown type "bit"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse(strings.NewReader(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// Nine bits need two octets.
func TestStepsSplitBitsByEight(t *testing.T) {
	m := &method{}
	for range 9 {
		m.Fields = append(m.Fields, field{Name: "flag", Type: "bit"})
	}
	m.Fields = append(m.Fields, field{Name: "n", Type: "octet"}, field{Name: "last", Type: "bit", Reserved: true})
	steps := m.Steps()
	if len(steps) != 4 || len(steps[0].Bits) != 8 || len(steps[1].Bits) != 1 || len(steps[3].Bits) != 1 {
		t.Fatalf("got %+v", steps)
	}
	if got := steps[1].Packed(); got != "bit(m.Flag, 0)" {
		t.Errorf("got %s", got)
	}
	if got := steps[3].Packed(); got != "0" {
		t.Errorf("an octet of reserved bits is %s, want 0", got)
	}
}

// published is the form of the machine-readable specification that brokers and clients share.
type published struct {
	Domains   [][2]string
	Constants []struct {
		Name, Class string
		Value       int
	}
	Classes []struct {
		ID         int
		Name       string
		Properties []argument
		Methods    []struct {
			ID                   int
			Name                 string
			Synchronous, Content bool
			Arguments            []argument
		}
	}
}

type argument struct{ Type, Domain, Name string }

// With LEVERET_SPEC naming the published specification as JSON, every fact of protocol.txt is compared with it; without it, the numbers that
// everything rests on are.
func TestFactsOfTheProtocol(t *testing.T) {
	p, err := parse(strings.NewReader(description))
	if err != nil {
		t.Fatal(err)
	}
	ours := facts(p)
	for fact, want := range map[string]string{
		"basic.publish":      "60.40 sync=false content=true short,shortstr,shortstr,bit,bit",
		"queue.declare":      "50.10 sync=true content=false short,shortstr,bit,bit,bit,bit,bit,table",
		"exchange.unbind-ok": "40.51 sync=false content=false ",
		"basic properties": "shortstr,shortstr,table,octet,octet,shortstr,shortstr,shortstr,shortstr,timestamp," +
			"shortstr,shortstr,shortstr,shortstr",
		"reply 404": "soft", "reply 501": "hard", "reply 200": "none",
	} {
		if ours[fact] != want {
			t.Errorf("%s: %q, want %q", fact, ours[fact], want)
		}
	}
	if path := os.Getenv("LEVERET_SPEC"); path != "" {
		compareFacts(t, ours, specificationFacts(t, path))
	}
}

func compareFacts(t *testing.T, ours, theirs map[string]string) {
	t.Helper()
	for fact, want := range theirs {
		if ours[fact] != want {
			t.Errorf("%s: %q, the specification says %q", fact, ours[fact], want)
		}
	}
	for fact := range ours {
		if _, known := theirs[fact]; !known {
			t.Errorf("%s is not in the specification", fact)
		}
	}
}
