package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"leveret/amqp"
	"leveret/store"
	"leveret/vhost"
)

// globalBucket is where the store keeps the global parameters, each as JSON under its name.
const globalBucket = "global parameters"

// globals are parameters of the whole broker: any values under any names, which mean nothing to it. Copied, persisted, swapped behind a pointer.
type globals struct {
	changing sync.Mutex // held over the commit, by whoever makes the next map
	values   atomic.Pointer[map[string]any]
}

// SetGlobalParameter sets a parameter of the whole broker. Errors are an *amqp.ValidationError for a parameter without a name, else the
// store's.
func (s *Server) SetGlobalParameter(name string, value any) (created bool, err error) {
	if name == "" {
		return false, amqp.Invalid(amqp.DetailNoName)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return false, fmt.Errorf("global parameter %q: %w", name, err)
	}
	had, err := s.changeGlobal(name, vhost.Plain(value), text)
	if err == nil {
		s.events.Emit("parameter.set", func() amqp.Table {
			return amqp.Table{{Name: "name", Value: name}, {Name: "value", Value: string(text)}}
		})
	}
	return !had && err == nil, err
}

// ClearGlobalParameter removes one; found is false if there is none. An error is the store's.
func (s *Server) ClearGlobalParameter(name string) (found bool, err error) {
	if _, found = s.GlobalParameter(name); !found {
		return false, nil
	}
	found, err = s.changeGlobal(name, nil, nil)
	if found && err == nil {
		s.events.Emit("parameter.cleared", func() amqp.Table { return amqp.Table{{Name: "name", Value: name}} })
	}
	return found, err
}

// changeGlobal puts a value, or removes it if the text is nil, and reports whether there was one.
func (s *Server) changeGlobal(name string, value any, text []byte) (had bool, err error) {
	g := &s.globals
	g.changing.Lock()
	defer g.changing.Unlock()
	next := maps.Clone(*g.values.Load())
	_, had = next[name]
	if text == nil {
		delete(next, name)
	} else {
		next[name] = value
	}
	if err := s.store.Commit(store.Change{Bucket: globalBucket, Key: name, Value: text}); err != nil {
		return false, err
	}
	g.values.Store(&next)
	return had, nil
}

// GlobalParameter returns one, or false if there is none. The value is not to be changed.
func (s *Server) GlobalParameter(name string) (value any, found bool) {
	value, found = (*s.globals.values.Load())[name]
	return value, found
}

// GlobalParameters are all, by name; they belong to no component.
func (s *Server) GlobalParameters() []vhost.Parameter {
	list := []vhost.Parameter{}
	for name, value := range *s.globals.values.Load() {
		list = append(list, vhost.Parameter{Name: name, Value: value})
	}
	slices.SortFunc(list, func(a, b vhost.Parameter) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// loadGlobals reads the global parameters.
func (s *Server) loadGlobals() error {
	values := make(map[string]any)
	err := s.store.Load(globalBucket, func(name string, text []byte) error {
		var value any
		if err := json.Unmarshal(text, &value); err != nil {
			return fmt.Errorf("stored global parameter %q: %w", name, err)
		}
		values[name] = vhost.Plain(value)
		return nil
	})
	s.globals.values.Store(&values)
	return err
}
