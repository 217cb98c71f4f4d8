package vhost

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
)

// Applied is what the policies say of one queue or exchange. It does not change; a change of policies makes another.
type Applied struct {
	// Policy and Operator are the names of the ordinary and of the operator policy that apply, empty for none.
	Policy, Operator string
	// Effective is what both say together; empty, not nil, when neither applies.
	Effective map[string]any
	// Skipped are the policies that match but do not apply, in the order in which they were tried.
	Skipped []Skipped
}

// same reports whether two say the same, but for the policies that do not apply.
func (a *Applied) same(b *Applied) bool {
	return a == b || a.Policy == b.Policy && a.Operator == b.Operator && reflect.DeepEqual(a.Effective, b.Effective)
}

// Skipped is a policy that matches a queue or exchange but does not apply to it.
type Skipped struct {
	Name     string
	Operator bool
	Reason   string
}

// untouched is what the policies say of nearly all queues.
var untouched = &Applied{Effective: map[string]any{}}

// policySet is all policies of a virtual host at one moment, in the order in which they are tried. It never changes once it is published.
type policySet struct {
	ordinary, operator []*policy
	merged             sync.Map // [2]*policy -> *Applied: queues to which the same policies apply share what these say
}

// newPolicySet orders policies; it keeps the slices.
func newPolicySet(ordinary, operator []*policy) *policySet {
	slices.SortFunc(ordinary, (*policy).before)
	slices.SortFunc(operator, (*policy).before)
	return &policySet{ordinary: ordinary, operator: operator}
}

// apply finds what the policies say of an object of that kind and name.
func (s *policySet) apply(kind queueType, name string) *Applied {
	var skipped []Skipped
	ordinary := pick(s.ordinary, kind, name, false, &skipped)
	operator := pick(s.operator, kind, name, true, &skipped)
	if ordinary == nil && operator == nil && skipped == nil {
		return untouched
	}
	a := s.together(ordinary, operator)
	if skipped != nil {
		own := *a
		own.Skipped = skipped
		a = &own
	}
	return a
}

// together is what two policies, each of which may be nil, say of whatever they apply to.
func (s *policySet) together(ordinary, operator *policy) *Applied {
	key := [2]*policy{ordinary, operator}
	if found, ok := s.merged.Load(key); ok {
		return found.(*Applied)
	}
	a := &Applied{}
	var mine, theirs definition
	if ordinary != nil {
		a.Policy, mine = ordinary.Name, ordinary.Definition
	}
	if operator != nil {
		a.Operator, theirs = operator.Name, operator.Definition
	}
	if a.Effective = merge(mine, theirs); a.Effective == nil {
		a.Effective = map[string]any{}
	}
	s.merged.Store(key, a)
	return a
}

// pick returns the first of the policies that applies, nil for none, and notes those that match but do not.
func pick(policies []*policy, kind queueType, name string, operator bool, skipped *[]Skipped) *policy {
	var first *policy
	for _, p := range policies {
		if !slices.Contains(kindsOf[p.ApplyTo], kind) {
			continue
		}
		found, err := p.pattern.Find(name)
		key, unsupported := p.unsupported[kind]
		reason := ""
		switch {
		case err != nil:
			reason = err.Error()
		case !found:
			continue
		case unsupported:
			reason = fmt.Sprintf("key '%s' is not supported by %s queues", key, kind)
		case first == nil:
			first = p
			continue
		case first.Priority > p.Priority:
			reason = fmt.Sprintf("'%s' has a higher priority", first.Name)
		default:
			reason = fmt.Sprintf("'%s' has the same priority and a name that comes first", first.Name)
		}
		*skipped = append(*skipped, Skipped{Name: p.Name, Operator: operator, Reason: reason})
	}
	return first
}
