package definitions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"leveret/amqp"
)

// section is one list of a file, and where its entries go.
type section struct {
	key  string // as in the file
	read func(raw []json.RawMessage) error
}

// list reads the entries of one section.
// Entries are checked one by one before anything is imported, so that most of what is wrong with a file is found while the
// broker is untouched.
func list[T any](key string, to *[]T, check func(*T) error) section {
	return section{key, func(raw []json.RawMessage) error {
		*to = make([]T, len(raw))
		for i := range raw {
			if err := json.Unmarshal(raw[i], &(*to)[i]); err != nil {
				return entryError(key, i, err)
			}
			if err := check(&(*to)[i]); err != nil {
				return entryError(key, i, err)
			}
		}
		return nil
	}}
}

// entryError names the entry that is wrong; a text that RabbitMQ has for it stays as it is.
func entryError(key string, i int, err error) error {
	if errors.Is(err, amqp.ErrNullInJSON) {
		return refusedf("%s", amqp.ErrNullInJSON)
	}
	return refusedf("entry %d of %s: %v", i+1, key, err)
}

// sections are the lists that a file may have. single says that the entries do not name their virtual host.
func (f *File) sections(single bool) []section {
	// "-" stands for a name or a virtual host that entries of the kind do not have, or may leave empty as the default exchange
	// does.
	inVHost := func(name, vhost string) error {
		switch {
		case name == "":
			return errors.New("it has no name")
		case vhost == "" && !single:
			return errors.New("it names no virtual host")
		}
		return nil
	}
	return []section{
		list("users", &f.Users, func(u *User) error { return inVHost(u.Name, "-") }),
		list("vhosts", &f.VHosts, func(v *VHost) error { return inVHost(v.Name, "-") }),
		list("permissions", &f.Permissions, func(p *Permission) error { return inVHost(p.User, p.VHost) }),
		list("topic_permissions", &f.TopicPermissions, func(p *TopicPermission) error { return inVHost(p.User, p.VHost) }),
		list("parameters", &f.Parameters, func(p *Parameter) error { return inVHost(p.Component+p.Name, p.VHost) }),
		list("global_parameters", &f.GlobalParameters, func(p *GlobalParameter) error { return inVHost(p.Name, "-") }),
		list("policies", &f.Policies, func(p *Policy) error { return inVHost(p.Name, p.VHost) }),
		list("queues", &f.Queues, func(q *Queue) error { return inVHost(q.Name, q.VHost) }),
		list("exchanges", &f.Exchanges, func(x *Exchange) error { return inVHost("-", x.VHost) }),
		list("bindings", &f.Bindings, func(b *Binding) error { return inVHost(b.Destination, b.VHost) }),
	}
}

// Parse reads a file of the whole broker. An empty one, which is no JSON, counts as an empty object. Keys that mean nothing are ignored.
func Parse(raw []byte) (*File, error) { return parse(raw, false) }

// parse is Parse, and for single reads a file of one virtual host, whose entries may name one, to no effect.
func parse(raw []byte, single bool) (*File, error) {
	// The keys first, and raw: an error is then of one section, and can be told with its place in it.
	f := new(File)
	if len(bytes.TrimSpace(raw)) == 0 {
		return f, nil
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil || keys == nil {
		return nil, &Refusal{Text: "failed_to_parse_json", cause: err}
	}
	_ = json.Unmarshal(keys["rabbit_version"], &f.RabbitVersion) // of no consequence unless it is a text
	if m := keys["metadata"]; m != nil {
		if err := json.Unmarshal(m, &f.Metadata); err != nil {
			return nil, refusedf("metadata: %v", err)
		}
	}
	for _, s := range f.sections(single) {
		var entries []json.RawMessage
		// A list that is not there and one that is null are the same: nothing of the kind is imported.
		if keys[s.key] == nil {
			continue
		}
		if err := json.Unmarshal(keys[s.key], &entries); err != nil {
			return nil, refusedf("%s must be a list", s.key)
		}
		if err := s.read(entries); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// Refusal is a file, or an entry of it, that can't be imported. Its text is RabbitMQ's where it has one.
type Refusal struct {
	Text  string
	cause error
}

// Error is the text.
func (r *Refusal) Error() string { return r.Text }

// Unwrap is what lies behind it, nil if that is all.
func (r *Refusal) Unwrap() error { return r.cause }

func refusedf(format string, args ...any) error { return &Refusal{Text: fmt.Sprintf(format, args...)} }
