package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// wireTypes are the published names of our own kinds of short strings.
var wireTypes = map[string]string{"name": "shortstr", "key": "shortstr", "namekey": "shortstr"}

// facts are the numbers and types of a description, as lines by name.
func facts(p *protocol) map[string]string {
	out := map[string]string{}
	for _, r := range p.Replies {
		out[fmt.Sprintf("reply %d", r.Code)] = r.Kind
	}
	for _, c := range p.Classes {
		if len(c.Properties) > 0 {
			out[c.Name+" properties"] = typeList(c.Properties)
		}
		for _, m := range c.Methods {
			out[m.WireName()] = methodFact(c.ID, m.ID, m.Sync, m.Content, typeList(m.Fields))
		}
	}
	return out
}

func methodFact(class, method int, sync, content bool, types string) string {
	return fmt.Sprintf("%d.%d sync=%t content=%t %s", class, method, sync, content, types)
}

func typeList(fields []field) string {
	var types []string
	for _, f := range fields {
		wire := f.Type
		if published, ours := wireTypes[f.Type]; ours {
			wire = published
		}
		types = append(types, wire)
	}
	return strings.Join(types, ",")
}

// specificationFacts reads the same facts from the published specification.
func specificationFacts(t *testing.T, path string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var spec published
	if err := json.Unmarshal(raw, &spec); err != nil {
		t.Fatal(err)
	}
	domains := map[string]string{}
	for _, d := range spec.Domains {
		domains[d[0]] = d[1]
	}
	out := map[string]string{}
	for _, c := range spec.Constants {
		if c.Value >= 200 && c.Name != "FRAME-END" && c.Name != "FRAME-MIN-SIZE" {
			kind := strings.TrimSuffix(c.Class, "-error")
			if kind == "" {
				kind = "none"
			}
			out[fmt.Sprintf("reply %d", c.Value)] = kind
		}
	}
	for _, c := range spec.Classes {
		if len(c.Properties) > 0 {
			out[c.Name+" properties"] = argumentTypes(c.Properties, domains)
		}
		for _, m := range c.Methods {
			out[c.Name+"."+m.Name] = methodFact(c.ID, m.ID, m.Synchronous, m.Content, argumentTypes(m.Arguments, domains))
		}
	}
	return out
}

func argumentTypes(arguments []argument, domains map[string]string) string {
	var types []string
	for _, a := range arguments {
		if a.Type == "" {
			a.Type = domains[a.Domain]
		}
		types = append(types, a.Type)
	}
	return strings.Join(types, ",")
}
