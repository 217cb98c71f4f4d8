package definitions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"leveret/amqp"
	"leveret/vhost"
)

// The components of parameters that stand elsewhere in a file, or are kept elsewhere.
const (
	policyComponent = "policy"
	limitsComponent = "vhost-limits"
	limitsName      = "limits"
)

// addPolicies adds the policies and parameters of a virtual host, under the name that its entries are to have.
func (f *File) addPolicies(v *vhost.VHost, name string) {
	if limits := v.Limits(); limits != nil {
		f.Parameters = append(f.Parameters, Parameter{name, limitsComponent, limitsName, limitsValue(limits)})
	}
	for _, p := range v.Parameters("") {
		// Policies have a list of their own in a file; operator policies do not, and stay here.
		if p.Component != policyComponent {
			f.Parameters = append(f.Parameters, Parameter{name, p.Component, p.Name, valueOf(p.Value)})
		}
	}
	for _, p := range v.Policies() {
		f.Policies = append(f.Policies, Policy{name, p.Name, p.Pattern, p.ApplyTo, valueOf(p.Definition), p.Priority})
	}
}

// limitsValue is the value of the parameter that limits are. No limits are an empty list, as in RabbitMQ.
func limitsValue(limits vhost.Limits) json.RawMessage {
	if len(limits) == 0 {
		return json.RawMessage("[]")
	}
	return valueOf(limits)
}

// valueOf writes a parameter's value, which came out of JSON.
func valueOf(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		// Parameters came in as JSON, by the API or a file, and are checked there.
		panic("BUG: a parameter that is no JSON: " + err.Error())
	}
	return raw
}

// globalParameters are those of the broker.
func (b *Broker) globalParameters() []GlobalParameter {
	list := []GlobalParameter{}
	for _, p := range b.Server.GlobalParameters() {
		list = append(list, GlobalParameter{p.Name, valueOf(p.Value)})
	}
	return list
}

// clusterName is the name that an operator gave the broker, or the one it began with.
func (b *Broker) clusterName() string {
	value, _ := b.Server.GlobalParameter("cluster_name")
	name, _ := value.(string)
	return cmp.Or(name, b.Cluster)
}

func (b *Broker) importGlobalParameters(f *File) error {
	for _, p := range f.GlobalParameters {
		value, err := decodeValue(p.Value)
		if err == nil {
			_, err = b.Server.SetGlobalParameter(p.Name, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// decodeValue reads a parameter's value; numbers keep their text.
func decodeValue(raw json.RawMessage) (value any, err error) {
	if raw == nil {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	// Numbers over 2^53 would lose digits as floats.
	d.UseNumber()
	err = d.Decode(&value)
	return value, err
}

// importPolicies sets the ordinary policies.
func (b *Broker) importPolicies(f *File) error {
	for i := range f.Policies {
		p := &f.Policies[i]
		v, err := b.vhost(p.VHost)
		if err != nil {
			return err
		}
		fields, err := p.fields()
		if err == nil {
			_, err = v.SetParameter(policyComponent, p.Name, fields)
		}
		if err != nil {
			// By SetParameter, as a client would: validated, and in force at once.
			return invalid(err, fmt.Sprintf("vhost: %q key: %q", p.VHost, p.Name))
		}
	}
	return nil
}

// fields are the policy as the value of a parameter. What the file leaves out is left out here.
func (p *Policy) fields() (map[string]any, error) {
	// As the API would send it, whose validation it goes through.
	fields := map[string]any{"pattern": p.Pattern, "priority": int64(p.Priority)}
	if p.ApplyTo != "" {
		fields["apply-to"] = p.ApplyTo
	}
	if p.Definition != nil {
		definition, err := decodeValue(p.Definition)
		if err != nil {
			return nil, err
		}
		fields["definition"] = definition
	}
	return fields, nil
}

// importParameters sets the runtime parameters. The limits of virtual hosts and operator policies are among them.
func (b *Broker) importParameters(f *File) error {
	for i := range f.Parameters {
		p := &f.Parameters[i]
		v, err := b.vhost(p.VHost)
		if err != nil {
			return err
		}
		value, err := decodeValue(p.Value)
		switch {
		case err != nil:
		case p.Component == limitsComponent:
			err = b.setLimits(p.VHost, value)
		default:
			_, err = v.SetParameter(p.Component, p.Name, value)
		}
		if err != nil {
			return invalid(err, fmt.Sprintf("vhost: %q / component: %q / key: %q", p.VHost, p.Component, p.Name))
		}
	}
	return nil
}

// setLimits sets the limits of a virtual host. An empty list stands for an empty object.
func (b *Broker) setLimits(name string, value any) error {
	limits := vhost.Limits{}
	fields, ok := value.(map[string]any)
	// Erlang writes an object without fields as an empty list.
	if list, empty := value.([]any); !ok && !(empty && len(list) == 0) {
		return amqp.Invalid(fmt.Sprintf("limits should be an object, actually was %s", amqp.FormatTerm(value)))
	}
	for key, value := range fields {
		if !slices.Contains(vhost.LimitNames(), key) {
			return amqp.Invalid(fmt.Sprintf("Unrecognised terms [{<<\"%s\">>,%s}] in limits", key, amqp.FormatTerm(value)))
		}
		number, _ := value.(json.Number)
		n, err := number.Int64()
		if err != nil {
			return amqp.Invalid(fmt.Sprintf("%s should be a number, actually was %s", key, amqp.FormatTerm(value)))
		}
		limits[key] = n
	}
	return b.Server.SetVHostLimits(name, limits)
}

// invalid says which policy or parameter an error is about, if it is about what the file says of it.
func invalid(err error, about string) error {
	// Others already say what they are about, or have nothing to do with the entry.
	var wrong *amqp.ValidationError
	if !errors.As(err, &wrong) {
		return err
	}
	return &Refusal{Text: wrong.Error() + " (" + about + ")", cause: err}
}
