package main

import (
	"fmt"
	"slices"
	"strings"
)

// protocol is all that protocol.txt says.
type protocol struct {
	Replies []reply
	Classes []*class
}

// reply is one reply code.
type reply struct {
	Code int
	Name string
	Kind string // soft, hard or none
	Doc  string
}

// class is a class of methods; only basic has properties.
type class struct {
	Name       string
	ID         int
	Doc        string
	Properties []field
	Methods    []*method
}

// method is one method and the order of its fields on the wire.
type method struct {
	Class     *class
	Name      string
	ID        int
	Direction string // client, server or both
	Sync      bool
	Content   bool
	Doc       string
	Fields    []field
}

// field is an argument of a method, or a property.
type field struct {
	Name     string
	Type     string
	Reserved bool
	Doc      string
}

// MethodsThat lists the Go constants of the methods with that fact, for a case of a switch.
func (p *protocol) MethodsThat(fact string) string {
	var names []string
	for _, c := range p.Classes {
		for _, m := range c.Methods {
			if m.has(fact) {
				names = append(names, "Method"+m.GoName())
			}
		}
	}
	return strings.Join(names, ",\n")
}

// CodesThatAre lists the Go constants of the reply codes of that kind.
func (p *protocol) CodesThatAre(kind string) string {
	var names []string
	for _, r := range p.Replies {
		if r.Kind == kind {
			names = append(names, "Code"+GoName(r.Name))
		}
	}
	return strings.Join(names, ",\n")
}

// has tells whether a method is sync, has content, or comes from the client or the server.
func (m *method) has(fact string) bool {
	switch fact {
	case "sync":
		return m.Sync
	case "content":
		return m.Content
	}
	return m.Direction == fact || m.Direction == "both"
}

// HasNumbers tells whether any method of the class writes a number wider than an octet.
func (c *class) HasNumbers() bool {
	return slices.ContainsFunc(c.Methods, func(m *method) bool {
		return slices.ContainsFunc(m.Visible(), func(f field) bool { return strings.Contains(kinds[f.Type].write, "binary.") })
	})
}

// step is what is read or written at once: one field, or all bits that share an octet.
type step struct {
	Field field
	Bits  []field
}

// GoName turns a name of the wire into one of Go: "start-ok" into "StartOk".
func GoName(wire string) string {
	var out strings.Builder
	for word := range strings.SplitSeq(wire, "-") {
		if word == "id" {
			out.WriteString("ID")
			continue
		}
		out.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return out.String()
}

// GoName is the name of the method's Go type.
func (m *method) GoName() string { return GoName(m.Class.Name) + GoName(m.Name) }

// WireName is the name that the protocol gives the method, such as "queue.declare".
func (m *method) WireName() string { return m.Class.Name + "." + m.Name }

// Sender says in words who sends the method.
func (m *method) Sender() string {
	return map[string]string{"client": "clients", "server": "the server", "both": "both sides"}[m.Direction]
}

// Steps groups the bits that share an octet: AMQP packs neighbouring bits from the lowest bit up, eight to an octet.
func (m *method) Steps() []step {
	var steps []step
	for _, f := range m.Fields {
		last := len(steps) - 1
		switch {
		case f.Type != "bit":
			steps = append(steps, step{Field: f})
		case last >= 0 && len(steps[last].Bits) > 0 && len(steps[last].Bits) < 8:
			steps[last].Bits = append(steps[last].Bits, f)
		default:
			steps = append(steps, step{Bits: []field{f}})
		}
	}
	return steps
}

// Visible lists the fields that are not reserved.
func (m *method) Visible() []field {
	return slices.DeleteFunc(slices.Clone(m.Fields), func(f field) bool { return f.Reserved })
}

// Packed is the Go expression of an octet of bits.
func (s step) Packed() string {
	var terms []string
	for i, f := range s.Bits {
		if !f.Reserved {
			terms = append(terms, fmt.Sprintf("bit(m.%s, %d)", GoName(f.Name), i))
		}
	}
	if terms == nil {
		return "0"
	}
	return strings.Join(terms, "|")
}

// kind is how a type of protocol.txt is written in Go. In the formats %s is the field.
type kind struct {
	goType string
	read   string
	skip   string // how a reserved field is read
	write  string
	zero   string // how a reserved field is written
	visit  string // the visitor's method for it
}

var kinds = map[string]kind{
	"bit":      {goType: "bool", visit: "bit"},
	"octet":    {"uint8", "d.octet()", "d.octet()", "append(dst, %s)", "append(dst, 0)", "octet"},
	"short":    {"uint16", "d.short()", "d.short()", "binary.BigEndian.AppendUint16(dst, %s)", "append(dst, 0, 0)", "short"},
	"long":     {"uint32", "d.long()", "d.long()", "binary.BigEndian.AppendUint32(dst, %s)", "append(dst, 0, 0, 0, 0)", "long"},
	"longlong": {"uint64", "d.longlong()", "", "binary.BigEndian.AppendUint64(dst, %s)", "", "longlong"},
	"timestamp": {"Timestamp", "Timestamp(d.longlong())", "", "binary.BigEndian.AppendUint64(dst, uint64(%s))", "",
		"timestamp"},
	"table":    {"Table", "d.table()", "", "AppendTable(dst, %s)", "", "table"},
	"longstr":  {"[]byte", "d.longstr()", "d.longstrRaw()", "appendLongstr(dst, %s)", "append(dst, 0, 0, 0, 0)", "octets"},
	"shortstr": {"string", "d.shortstr(%s)", "d.key()", "appendShortstr(dst, %s)", "append(dst, 0)", "text"},
	"name":     {"string", "d.name(%s)", "", "appendShortstr(dst, %s)", "", "text"},
	"key":      {"[]byte", "d.key()", "", "appendShortstr(dst, %s)", "", "octets"},
	"namekey":  {"[]byte", "d.nameKey()", "", "appendShortstr(dst, %s)", "", "octets"},
}

// GoName is the name of the Go field.
func (f field) GoName() string { return GoName(f.Name) }

// GoType is its Go type.
func (f field) GoType() string { return kinds[f.Type].goType }

// Visit is the visitor's method for it.
func (f field) Visit() string { return kinds[f.Type].visit }

// Read is the Go statement that reads the field into the receiver called m.
func (f field) Read(m string) string {
	target := m + "." + f.GoName()
	if f.Reserved {
		return kinds[f.Type].skip + " // reserved: " + f.Name
	}
	return target + " = " + insert(kinds[f.Type].read, target)
}

// Write is the Go statement that appends the field of the receiver called m.
func (f field) Write(m string) string {
	if f.Reserved {
		return "dst = " + kinds[f.Type].zero + " // reserved: " + f.Name
	}
	return "dst = " + insert(kinds[f.Type].write, m+"."+f.GoName())
}

func insert(format, target string) string { return strings.ReplaceAll(format, "%s", target) }
