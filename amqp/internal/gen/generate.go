package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"go/format"
	"strings"
	"text/template"
)

//go:embed protocol.txt
var description string

//go:embed templates.tmpl
var templates string

// generate returns the generated files by name: one for each class, one for the constants, one for the properties.
func generate() (map[string][]byte, error) {
	// Description and templates are part of the binary, so it can be run in any folder.
	p, err := parse(strings.NewReader(description))
	if err != nil {
		return nil, fmt.Errorf("protocol.txt: %w", err)
	}
	t, err := template.New("").Funcs(template.FuncMap{"goName": GoName, "flag": flag, "replyName": replyName}).Parse(templates)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	// Formatted by gofmt's own code: a template need not care for tabs, and one that makes no Go is found here.
	render := func(file, name string, data any) error {
		var out bytes.Buffer
		if err := t.ExecuteTemplate(&out, name, data); err != nil {
			return err
		}
		source, err := format.Source(out.Bytes())
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", file, err, out.Bytes())
		}
		files[file] = source
		return nil
	}
	if err := render("constants_gen.go", "constants", p); err != nil {
		return nil, err
	}
	for _, c := range p.Classes {
		if err := render(c.Name+"_gen.go", "class", c); err != nil {
			return nil, err
		}
		// Of the classes only basic has contents.
		if len(c.Properties) == 0 {
			continue
		}
		if err := render("properties_gen.go", "properties", c); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// flag is the property flag of the property at this index: the flags go from bit 15 down.
func flag(index int) string { return fmt.Sprintf("1 << %d", 15-index) }

// replyName is a reply code's name as it stands in reply texts: "not-found" is "NOT_FOUND".
func replyName(wire string) string { return strings.ToUpper(strings.ReplaceAll(wire, "-", "_")) }
