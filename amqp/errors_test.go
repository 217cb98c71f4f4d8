package amqp_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"leveret/amqp"
)

func TestCatalogue(t *testing.T) {
	checkTexts(t, slices.Concat(frameTexts, connectionTexts, channelTexts, accessTexts, declareTexts, exchangeTexts))
}

// checkTexts compares errors with what they must say.
func checkTexts(t *testing.T, cases []catalogueText) {
	t.Helper()
	for _, c := range cases {
		if c.err.Text != c.text || c.err.Code != c.code {
			t.Errorf("got  %d %s\nwant %d %s", c.err.Code, c.err.Text, c.code, c.text)
		}
		if c.err.Error() != c.text {
			t.Errorf("Error() is %q, want the text", c.err.Error())
		}
		if hard := c.code == 320 || c.code == 402 || c.code >= 500; c.err.Hard() != hard || c.err.Soft() == hard {
			t.Errorf("%s: hard %t, soft %t, want hard %t", c.text, c.err.Hard(), c.err.Soft(), hard)
		}
		if name := amqp.ReplyName(c.code); name+" - "+c.err.Explanation() != c.text {
			t.Errorf("%s: explanation %q", c.text, c.err.Explanation())
		}
	}
}

func TestLongTextsAreCut(t *testing.T) {
	for _, err := range []*amqp.Error{
		amqp.NoQueue(strings.Repeat("q", 255), strings.Repeat("v", 255)),
		amqp.CannotDecode(make([]byte, 1<<20)),
		amqp.CannotDecode([]byte(strings.Repeat("a", 1<<20))),
	} {
		if len(err.Text) != 255 || !strings.HasSuffix(err.Text, "...") {
			t.Errorf("%d octets: %s", len(err.Text), err.Text)
		}
	}
	exact := amqp.ConnectionForced(strings.Repeat("r", 255-len("CONNECTION_FORCED - ")))
	if len(exact.Text) != 255 || !strings.HasSuffix(exact.Text, "r") {
		t.Errorf("a text of just 255 octets was cut: %s", exact.Text)
	}
}

func TestAtKeepsTheFirstMethod(t *testing.T) {
	plain := amqp.NoQueue("q", "/")
	named := plain.At(amqp.MethodQueueBind)
	if named.Class != 50 || named.Method != 20 || plain.Class != 0 {
		t.Errorf("named %+v, plain %+v", named, plain)
	}
	if again := named.At(amqp.MethodBasicGet); again.Class != 50 || again.Method != 20 {
		t.Errorf("a second At changed the ids to %d, %d", again.Class, again.Method)
	}
	if e := amqp.UnknownMethod(99<<16 | 10); e.Class != 99 || e.Method != 10 {
		t.Errorf("unknown method has ids %d, %d", e.Class, e.Method)
	}
	if amqp.ReplyName(999) != "" {
		t.Error("code 999 has a name")
	}
}

// Every constructor of an error has its text among those above.
func TestCatalogueIsComplete(t *testing.T) {
	var texts []byte
	tests, err := filepath.Glob("errors_*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range tests {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text...)
	}
	files, err := filepath.Glob("errors_*.go")
	if err != nil {
		t.Fatal(err)
	}
	constructors := 0
	for _, path := range files {
		for _, name := range exportedFunctions(t, path) {
			constructors++
			if !regexp.MustCompile(`amqp\.` + name + `\(`).Match(texts) {
				t.Errorf("%s: %s is in no test of the texts", path, name)
			}
		}
	}
	if constructors < 100 {
		t.Errorf("only %d constructors were found", constructors)
	}
}

// exportedFunctions lists the exported functions of a file that is no test.
func exportedFunctions(t *testing.T, path string) []string {
	t.Helper()
	if strings.HasSuffix(path, "_test.go") {
		return nil
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.IsExported() {
			names = append(names, f.Name.Name)
		}
	}
	return names
}
