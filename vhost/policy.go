package vhost

import (
	"slices"
	"strings"

	"leveret/amqp"
	"leveret/pattern"
)

// Policy gives settings to the queues and exchanges whose names match. Of those that match one only the first applies: that of the highest
// priority, and of the same priority the one whose name is first.
type Policy struct {
	Name    string
	Pattern string // a regular expression that is found anywhere in a name, in Perl's notation
	// ApplyTo are the kinds of objects: "all", "queues", "classic_queues", "quorum_queues", "streams" or "exchanges".
	ApplyTo  string
	Priority int
	// Definition are the settings by their keys, in the types that come out of JSON. It is not to be changed.
	Definition map[string]any
}

// The parameters' components that policies are.
const (
	policyComponent   = "policy"
	operatorComponent = "operator_policy"
)

// theExchanges stands among the types of queues for exchanges.
const theExchanges queueType = "exchange"

// kindsOf are the kinds that each ApplyTo means.
var kindsOf = map[string][]queueType{
	"all":            {classic, quorum, stream, theExchanges},
	"queues":         all,
	"classic_queues": onClassic,
	"quorum_queues":  onQuorum,
	"streams":        onStream,
	"exchanges":      {theExchanges},
}

// policy is one that was checked and is ready for matching. It does not change.
type policy struct {
	Policy
	pattern *pattern.Pattern
	// unsupported names a key of the definition that a type of queue does not support.
	unsupported map[queueType]string
}

// PolicyOf checks a policy as it comes out of JSON, with the keys pattern and definition, and, if they are there, priority and apply-to;
// what else is there is not looked at. operator says which keys the definition may have. The error is an *amqp.ValidationError with
// RabbitMQ's texts.
func PolicyOf(name string, fields map[string]any, operator bool) (Policy, error) {
	p, err := parsePolicy(name, plainObject(fields), operator)
	if err != nil {
		return Policy{}, err
	}
	return p.Policy, nil
}

// parsePolicy is PolicyOf for plain values.
func parsePolicy(name string, fields map[string]any, operator bool) (*policy, error) {
	p := &policy{Policy: Policy{Name: name, ApplyTo: "all"}}
	var details []string
	wrong := func(detail string) {
		if detail != "" {
			details = append(details, detail)
		}
	}
	if name == "" {
		wrong(amqp.DetailNoName)
	}
	wrong(p.takeDefinition(fields, operator))
	wrong(p.takeApplyTo(fields))
	wrong(p.takePattern(fields))
	wrong(p.takePriority(fields))
	if len(details) > 0 {
		return nil, amqp.Invalid(details...)
	}
	p.noteUnsupported()
	return p, nil
}

// takeDefinition and its like below read one field of a policy each, and return RabbitMQ's sentence about what is wrong with
// it, empty if nothing is.
func (p *policy) takeDefinition(fields map[string]any, operator bool) string {
	value, ok := fields["definition"]
	if !ok {
		return amqp.DetailMissing("definition", p.Name)
	}
	object, ok := value.(map[string]any)
	if !ok {
		return amqp.DetailDefinition(value)
	}
	p.Definition = object
	return definition(object).check(operator)
}

// takeApplyTo reads for what the policy is; a missing one is the default, all.
func (p *policy) takeApplyTo(fields map[string]any) string {
	value, ok := fields["apply-to"]
	if !ok || value == nil {
		return ""
	}
	p.ApplyTo, _ = value.(string)
	if kindsOf[p.ApplyTo] == nil {
		return amqp.DetailApplyTo(value)
	}
	return ""
}

// takePattern compiles the pattern, which is then matched with each name that is declared.
func (p *policy) takePattern(fields map[string]any) string {
	value, ok := fields["pattern"]
	if !ok {
		return amqp.DetailMissing("pattern", p.Name)
	}
	if p.Pattern, ok = value.(string); !ok {
		return amqp.DetailPatternType("pattern", value)
	}
	var err error
	if p.pattern, err = pattern.Compile(p.Pattern); err != nil {
		return amqp.DetailPattern("pattern", err)
	}
	return ""
}

// takePriority cuts a fraction off, as RabbitMQ takes any number.
func (p *policy) takePriority(fields map[string]any) string {
	value, ok := fields["priority"]
	if !ok || value == nil {
		return ""
	}
	n, ok := numberOf(value)
	if !ok {
		return amqp.DetailNumber("priority", value)
	}
	p.Priority = int(n)
	return ""
}

// noteUnsupported finds the types of queues that pass over the policy, and the key that is the reason: the first in order.
func (p *policy) noteUnsupported() {
	p.unsupported = make(map[queueType]string)
	for i := range policyKeys {
		k := &policyKeys[i]
		if _, ok := p.Definition[k.name]; !ok {
			continue
		}
		for _, kind := range k.unsupported {
			if first, ok := p.unsupported[kind]; !ok || k.name < first {
				p.unsupported[kind] = k.name
			}
		}
	}
}

// warnOfOutdated says in the log what a policy asks for in vain.
func (v *VHost) warnOfOutdated(kept any) {
	p, ok := kept.(*policy)
	if !ok {
		return
	}
	for _, key := range outdated {
		if _, ok := p.Definition[key]; ok {
			v.opts.Log.Warn("a policy has a key of older brokers, which has no effect", "vhost", v.opts.Name, "policy", p.Name, "key", key)
		}
	}
}

// fields are the policy as JSON has it, without its name.
func (p Policy) fields() map[string]any {
	return map[string]any{"pattern": p.Pattern, "definition": p.Definition, "priority": int64(p.Priority), "apply-to": p.ApplyTo}
}

// before is the order in which policies are tried.
func (p *policy) before(other *policy) int {
	if p.Priority != other.Priority {
		return other.Priority - p.Priority
	}
	return strings.Compare(p.Name, other.Name)
}

// SetPolicy makes a policy, or replaces the one of its name, and puts it into force: when it returns, the queues and exchanges that it
// is about have been told. An empty ApplyTo is "all". The error is an *amqp.ValidationError, else the store's; then nothing has changed.
func (v *VHost) SetPolicy(p Policy) (created bool, err error) { return v.setPolicy(policyComponent, p) }

// SetOperatorPolicy is SetPolicy for operator policies.
func (v *VHost) SetOperatorPolicy(p Policy) (created bool, err error) {
	return v.setPolicy(operatorComponent, p)
}

// setPolicy sets a policy as the parameter that it is for RabbitMQ, with its validation. What was not said about apply-to is
// not said there either.
func (v *VHost) setPolicy(component string, p Policy) (created bool, err error) {
	fields := p.fields()
	if p.ApplyTo == "" {
		delete(fields, "apply-to")
	}
	return v.SetParameter(component, p.Name, fields)
}

// ClearPolicy removes a policy; found is false if there is none of that name. An error is the store's.
func (v *VHost) ClearPolicy(name string) (found bool, err error) {
	return v.ClearParameter(policyComponent, name)
}

// ClearOperatorPolicy is ClearPolicy for operator policies.
func (v *VHost) ClearOperatorPolicy(name string) (found bool, err error) {
	return v.ClearParameter(operatorComponent, name)
}

// Policies are the ordinary policies, by name.
func (v *VHost) Policies() []Policy { return listed(v.policies.Load().ordinary) }

// OperatorPolicies are the operator policies, by name.
func (v *VHost) OperatorPolicies() []Policy { return listed(v.policies.Load().operator) }

// listed are policies for others to see, in order of their names.
func listed(policies []*policy) []Policy {
	list := make([]Policy, len(policies))
	for i, p := range policies {
		list[i] = p.Policy
	}
	slices.SortFunc(list, func(a, b Policy) int { return strings.Compare(a.Name, b.Name) })
	return list
}
