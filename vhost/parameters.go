package vhost

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
)

// Parameter is a runtime parameter: a value that an operator has set for a component of the broker, under a name. Policies are parameters
// of the components "policy" and "operator_policy".
type Parameter struct {
	Component, Name string
	Value           any // in the types that come out of JSON; not to be changed
}

// parameterKey is what a parameter is found by.
type parameterKey struct{ component, name string }

// parameters are those of one virtual host: copied, persisted, swapped behind pointers.
type parameters struct {
	changing sync.Mutex // held over the commit, by whoever makes the next map
	values   atomic.Pointer[map[parameterKey]any]
	policies atomic.Pointer[policySet] // made of those among the values that are policies
}

// components are those that take parameters. Each returns the value to keep, or an *amqp.ValidationError.
var components = map[string]func(name string, value any) (any, error){
	policyComponent:           func(name string, value any) (any, error) { return policyValue(name, value, false) },
	operatorComponent:         func(name string, value any) (any, error) { return policyValue(name, value, true) },
	"shovel":                  checkShovel,
	"federation-upstream":     checkUpstream,
	"federation-upstream-set": checkUpstreamSet,
}

// policyValue checks a policy; it is kept ready for matching.
func policyValue(name string, value any, operator bool) (any, error) {
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, amqp.Invalid(amqp.DetailNoObject(name, value))
	}
	return parsePolicy(name, fields, operator)
}

// SetParameter sets a parameter, and puts it into force if it is a policy. The value is as it comes out of JSON. Errors are an
// *amqp.ValidationError, which also says that there is no such component, else the store's; then nothing has changed.
func (v *VHost) SetParameter(component, name string, value any) (created bool, err error) {
	check := components[component]
	if check == nil {
		return false, amqp.Invalid(amqp.DetailComponent(component))
	}
	if name == "" {
		return false, amqp.Invalid(amqp.DetailNoName)
	}
	kept, err := check(name, plain(value))
	if err != nil {
		return false, err
	}
	created, err = v.changeParameter(parameterKey{component, name}, kept)
	if err == nil {
		v.warnOfOutdated(kept)
		v.parameterChanged(component, name, kept)
	}
	return created, err
}

// ClearParameter removes a parameter; found is false if there is none. An error is the store's.
func (v *VHost) ClearParameter(component, name string) (found bool, err error) {
	key := parameterKey{component, name}
	if _, ok := (*v.values.Load())[key]; !ok {
		return false, nil
	}
	found, err = v.changeParameter(key, nil)
	if found && err == nil {
		v.parameterChanged(component, name, nil)
	}
	return found, err
}

// Parameter returns the value of a parameter, or false if there is none.
func (v *VHost) Parameter(component, name string) (value any, ok bool) {
	kept, ok := (*v.values.Load())[parameterKey{component, name}]
	return shown(kept), ok
}

// Parameters are those of a component, or of all when it is empty, by component and name.
func (v *VHost) Parameters(component string) []Parameter {
	list := []Parameter{}
	for key, kept := range *v.values.Load() {
		if component == "" || component == key.component {
			list = append(list, Parameter{key.component, key.name, shown(kept)})
		}
	}
	slices.SortFunc(list, func(a, b Parameter) int {
		if c := strings.Compare(a.Component, b.Component); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list
}

// shown is a value as it is in JSON.
func shown(kept any) any {
	if p, ok := kept.(*policy); ok {
		return p.fields()
	}
	return kept
}

// changeParameter sets a parameter, or removes it if the value is nil: copy, commit, swap. It says whether that made one, or removed one.
func (v *VHost) changeParameter(key parameterKey, kept any) (changed bool, err error) {
	v.changing.Lock()
	defer v.changing.Unlock()
	next := maps.Clone(*v.values.Load())
	_, had := next[key]
	change := store.Change{Bucket: v.parameterBucket(), Key: key.component + "/" + key.name}
	if kept == nil {
		changed = had
		delete(next, key)
	} else {
		changed = !had
		next[key] = kept
		if change.Value, err = json.Marshal(shown(kept)); err != nil {
			return false, fmt.Errorf("parameter %q of %s: %w", key.name, key.component, err)
		}
	}
	if err := v.opts.Store.Commit(change); err != nil {
		return false, err
	}
	v.publishParameters(next)
	return changed, nil
}

// publishParameters makes parameters those that hold.
func (v *VHost) publishParameters(next map[parameterKey]any) {
	var ordinary, operator []*policy
	for key, kept := range next {
		switch key.component {
		case policyComponent:
			ordinary = append(ordinary, kept.(*policy))
		case operatorComponent:
			operator = append(operator, kept.(*policy))
		}
	}
	v.values.Store(&next)
	v.policies.Store(newPolicySet(ordinary, operator))
}

// parameterChanged does what follows from a change: nil is a removal.
func (v *VHost) parameterChanged(component, name string, kept any) {
	if component == policyComponent || component == operatorComponent {
		v.applyPolicies()
	} else if v.opts.OnParameters != nil {
		v.opts.OnParameters()
	}
	v.tellParameter(component, name, kept)
}

// parameterBucket is where the store keeps runtime parameters, policies among them.
func (v *VHost) parameterBucket() string { return "parameters of " + v.opts.Name }

// loadParameters reads the parameters. One that this version refuses is left where it is, and said in the log: a later version may take it.
func (v *VHost) loadParameters() error {
	values := make(map[parameterKey]any)
	err := v.opts.Store.Load(v.parameterBucket(), func(key string, text []byte) error {
		component, name, _ := strings.Cut(key, "/")
		var value any
		err := json.Unmarshal(text, &value)
		if check := components[component]; err == nil && check != nil {
			value, err = check(name, plain(value))
		}
		if err != nil {
			v.opts.Log.Error("a parameter is not in force", "vhost", v.opts.Name, "component", component, "name", name, "error", err)
			return nil
		}
		values[parameterKey{component, name}] = value
		return nil
	})
	v.publishParameters(values)
	return err
}
