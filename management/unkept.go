package management

import (
	"maps"
	"sync"

	"leveret/vhost"
)

// unkept are global parameters that last as long as the process.
type unkept struct {
	mu     sync.Mutex
	values map[string]any
}

func newUnkept() *unkept { return &unkept{values: make(map[string]any)} }

// SetGlobalParameter sets a value.
func (u *unkept) SetGlobalParameter(name string, value any) (bool, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, existed := u.values[name]
	u.values[name] = value
	return !existed, nil
}

// ClearGlobalParameter removes a value.
func (u *unkept) ClearGlobalParameter(name string) (bool, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, existed := u.values[name]
	delete(u.values, name)
	return existed, nil
}

// GlobalParameter returns a value.
func (u *unkept) GlobalParameter(name string) (any, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	value, ok := u.values[name]
	return value, ok
}

// GlobalParameters returns all values.
func (u *unkept) GlobalParameters() []vhost.Parameter {
	u.mu.Lock()
	defer u.mu.Unlock()
	var list []vhost.Parameter
	for name := range maps.Keys(u.values) {
		list = append(list, vhost.Parameter{Name: name, Value: u.values[name]})
	}
	return list
}
