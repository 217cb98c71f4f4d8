package admin

import (
	"encoding/json"
	"strconv"
	"strings"

	"leveret/ctl"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// noun is one kind of object that the API lists, and as a rule makes and deletes.
type noun struct {
	name, plural string
	short        string
	list         string   // path of all; {vhost} in it stands for the one that --vhost names, if it does
	item         string   // path of one; empty: there is none
	columns      []column // of the table
	fields       []field  // what identifies and describes one; those in the path of the item come first
	readOnly     bool     // the API does not make or delete them
	fixed        bool     // what is there can't be changed by declaring it again
	ofVHost      bool     // they belong to virtual hosts, and the path of the list has no place for one
	query        []field  // of deletions
	complete     func(body map[string]any)
	refuse       func(v values) string                                                     // tells what is wrong with values that make no sense together
	keep         func(s *session, cmd *cobra.Command, v values, body map[string]any) error // takes over what is there and was not given
}

// field is one flag of a command and what it becomes in the request.
type field struct {
	name, key, help string
	kind            kind
	required        bool
	identifies      bool // it is part of what the object is called
	fallback        string
	choices         []string // values that the shell completes
}

// kind is what a flag's text means.
type kind uint8

const (
	// Kinds decide how a flag's text becomes JSON; see parse.
	text    kind = iota
	boolean      // true or false
	number
	object // a JSON object
	value  // any JSON, or a text that is none
	tags   // names with commas between them
)

// values are the flags of one command line, by the names of their fields.
type values map[string]*string

// addFlags declares the flags of fields.
func (v values) addFlags(flags *pflag.FlagSet, fields []field) {
	for _, f := range fields {
		if f.name == "vhost" {
			continue // all commands have it
		}
		given := &fieldText{text: f.fallback, kind: f.kind}
		v[f.name] = &given.text
		flag := flags.VarPF(given, f.name, "", f.help)
		if f.kind == boolean {
			flag.NoOptDefVal = "true"
		}
	}
}

// fieldText is a flag that keeps what was given as it is, and tells people what it should be.
type fieldText struct {
	text string
	kind kind
}

// String is what was given.
func (t *fieldText) String() string { return t.text }

// Set takes what is given; what it means is looked at when the request is made.
func (t *fieldText) Set(given string) error {
	t.text = given
	return nil
}

// Type is the word behind the flag in the help.
func (t *fieldText) Type() string {
	return [...]string{text: "string", boolean: "bool", number: "int", object: "json", value: "json", tags: "names"}[t.kind]
}

// check returns an error for the first required field without a value. What is given as nothing is given: no right at all is a pattern too.
func (v values) check(flags *pflag.FlagSet, fields []field) error {
	for _, f := range fields {
		if f.required && *v[f.name] == "" && (f.identifies || !flags.Changed(f.name)) {
			return &ctl.UsageError{Text: "--" + f.name + " is required"}
		}
	}
	return nil
}

// take makes arguments the values of fields.
func (v values) take(args []string, names ...string) {
	for i, arg := range args {
		*v[names[i]] = arg
	}
}

// expand fills values into a path such as /queues/{vhost}/{name}.
func (v values) expand(path, vhost string) string {
	var parts []string
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if name, ok := placeholder(part); ok {
			part = vhost
			if name != "vhost" {
				// It is escaped by ctl.Path, so that names may hold anything.
				part = *v[name]
			}
		}
		parts = append(parts, part)
	}
	return ctl.Path(parts...)
}

// placeholder is the name in {name}.
func placeholder(part string) (name string, ok bool) {
	name, opened := strings.CutPrefix(part, "{")
	name, closed := strings.CutSuffix(name, "}")
	return name, opened && closed
}

// inPath tells whether a field identifies the object.
func (n *noun) inPath(f *field) bool { return strings.Contains(n.item, "{"+f.name+"}") }

// identity are the fields that identify one object.
func (n *noun) identity() []field {
	var fields []field
	for _, f := range n.fields {
		if n.inPath(&f) {
			// f is a copy: among the fields of the noun it stays as it was.
			f.required, f.identifies = true, true
			fields = append(fields, f)
		}
	}
	return fields
}

// body is the request that makes the object.
func (n *noun) body(v values) (map[string]any, error) {
	body := map[string]any{}
	for _, f := range n.fields {
		given := ""
		if v[f.name] != nil {
			given = *v[f.name]
		}
		// What is not given stays out of the body, where the API has its own default for it; required fields may be empty, as a right to
		// nothing is.
		if n.inPath(&f) || f.key == "" || given == "" && !f.required {
			continue
		}
		parsed, err := f.parse(given)
		if err != nil {
			return nil, err
		}
		body[f.key] = parsed
	}
	if n.complete != nil {
		n.complete(body)
	}
	return body, nil
}

// parse turns a flag's text into what the API takes.
func (f *field) parse(given string) (any, error) {
	switch f.kind {
	case boolean:
		on, err := strconv.ParseBool(given)
		if err != nil {
			return nil, &ctl.UsageError{Text: "--" + f.name + " is true or false, not " + given}
		}
		return on, nil
	case number:
		n, err := strconv.ParseInt(given, 10, 64)
		if err != nil {
			return nil, &ctl.UsageError{Text: "--" + f.name + " is a number, not " + given}
		}
		return n, nil
	case object:
		var o map[string]any
		if err := ctl.Decode([]byte(given), &o); err != nil || o == nil {
			return nil, &ctl.UsageError{Text: "--" + f.name + ` is a JSON object such as {"x-max-length": 1000}, not ` + given}
		}
		return o, nil
	case value:
		// Whoever writes 5 means a number, and whoever writes queue-length a text; quotes around JSON on a command line are a nuisance.
		if json.Valid([]byte(given)) {
			return json.RawMessage(given), nil
		}
	}
	return given, nil // tags are taken as they are: the API splits them
}
