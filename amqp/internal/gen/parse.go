package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// parse reads a description; its head comment says how it is written.
func parse(r io.Reader) (*protocol, error) {
	p := &protocol{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := p.add(line); err != nil {
			return nil, fmt.Errorf("line %d: %q: %w", n, line, err)
		}
	}
	return p, lines.Err()
}

// add takes one line in.
func (p *protocol) add(line string) error {
	// What stands behind the dashes becomes the doc comment.
	left, doc, _ := strings.Cut(line, " -- ")
	words := strings.Fields(left)
	if len(words) < 3 {
		return fmt.Errorf("too few words")
	}
	switch words[0] {
	case "reply":
		return p.addReply(words, doc)
	case "class":
		id, err := strconv.ParseUint(words[2], 10, 16)
		p.Classes = append(p.Classes, &class{Name: words[1], ID: int(id), Doc: doc})
		return err
	case "property":
		return p.addProperty(words, doc)
	case "method":
		return p.addMethod(words, doc)
	case "field":
		return p.addField(words, doc)
	}
	return fmt.Errorf("unknown word %q", words[0])
}

// addReply takes a reply code, and whether it closes a channel (soft), the connection (hard), or nothing.
func (p *protocol) addReply(words []string, doc string) error {
	code, err := strconv.ParseUint(words[1], 10, 16)
	if err != nil {
		return err
	}
	if len(words) != 4 || !slices.Contains([]string{"soft", "hard", "none"}, words[3]) {
		return fmt.Errorf("a reply is soft, hard or none")
	}
	p.Replies = append(p.Replies, reply{Code: int(code), Name: words[2], Kind: words[3], Doc: doc})
	return nil
}

// addProperty takes a property of the class before it. Their order is that of the flags on the wire.
func (p *protocol) addProperty(words []string, doc string) error {
	if len(p.Classes) == 0 {
		return fmt.Errorf("no class before it")
	}
	c := p.Classes[len(p.Classes)-1]
	f := field{Name: words[1], Type: words[2], Doc: doc}
	// A bit would stand in the flags, where AMQP 0-9-1 has none.
	if _, known := kinds[f.Type]; !known || f.Type == "bit" {
		return fmt.Errorf("unknown type %q", f.Type)
	}
	c.Properties = append(c.Properties, f)
	return nil
}

// addMethod takes a method of the class before it, with who may send it.
func (p *protocol) addMethod(words []string, doc string) error {
	if len(p.Classes) == 0 || len(words) < 4 {
		return fmt.Errorf("no class before it, or no direction")
	}
	id, err := strconv.ParseUint(words[2], 10, 16)
	if err != nil {
		return err
	}
	if !slices.Contains([]string{"client", "server", "both"}, words[3]) {
		return fmt.Errorf("unknown direction %q", words[3])
	}
	c := p.Classes[len(p.Classes)-1]
	c.Methods = append(c.Methods, &method{
		Class: c, Name: words[1], ID: int(id), Direction: words[3], Doc: doc,
		Sync: slices.Contains(words[4:], "sync"), Content: slices.Contains(words[4:], "content"),
	})
	return nil
}

// addField takes a field of the method before it, in the order of the wire.
func (p *protocol) addField(words []string, doc string) error {
	if len(p.Classes) == 0 || len(p.Classes[len(p.Classes)-1].Methods) == 0 {
		return fmt.Errorf("no method before it")
	}
	methods := p.Classes[len(p.Classes)-1].Methods
	m := methods[len(methods)-1]
	f := field{Name: words[1], Type: words[2], Reserved: slices.Contains(words[3:], "reserved"), Doc: doc}
	k, known := kinds[f.Type]
	if !known {
		return fmt.Errorf("unknown type %q", f.Type)
	}
	// Reserved fields are skipped over when read and zero when written; the protocol has none of other types.
	if f.Reserved && f.Type != "bit" && k.skip == "" {
		return fmt.Errorf("a reserved %s is not supported", f.Type)
	}
	m.Fields = append(m.Fields, f)
	return nil
}
