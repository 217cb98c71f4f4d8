package vhost

import "leveret/amqp"

// tell emits an event about something in this virtual host.
func (v *VHost) tell(key string, properties func() amqp.Table) {
	v.opts.Events.Emit(key, func() amqp.Table {
		return append(properties(), amqp.Field{Name: "vhost", Value: v.opts.Name})
	})
}

// tellParameter emits the event of a parameter that was set, or removed if the value is nil.
func (v *VHost) tellParameter(component, name string, kept any) {
	subject, happened := "parameter", "set"
	if component == policyComponent {
		subject = "policy"
	}
	if kept == nil {
		happened = "cleared"
	}
	v.tell(subject+"."+happened, func() amqp.Table {
		t := amqp.Table{{Name: "name", Value: name}}
		if component != policyComponent {
			t = append(t, amqp.Field{Name: "component", Value: component})
		}
		switch kept := kept.(type) {
		case nil:
		case *policy:
			for _, key := range []string{"pattern", "apply-to", "priority", "definition"} {
				t = append(t, amqp.Field{Name: key, Value: fieldValue(kept.fields()[key])})
			}
		default:
			t = append(t, amqp.Field{Name: "value", Value: fieldValue(kept)})
		}
		return t
	})
}

// tellPolicy emits the event of a queue of which the policies say something else than before. One that was just made is told nothing of.
func (v *VHost) tellPolicy(queue string, before, now *Applied) {
	if before == nil || before.same(now) {
		return
	}
	key := "queue.policy.updated"
	if now.Policy == "" && now.Operator == "" {
		key = "queue.policy.cleared"
	}
	v.tell(key, func() amqp.Table {
		return amqp.Table{
			{Name: "name", Value: queue}, {Name: "policy", Value: now.Policy}, {Name: "operator_policy", Value: now.Operator},
			{Name: "effective_policy_definition", Value: fieldValue(now.Effective)},
		}
	})
}
