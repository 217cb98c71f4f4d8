package vhost

import (
	"leveret/amqp"
	"leveret/exchange"
	"leveret/queue"
)

// tell emits an event about something in this virtual host.
func (v *VHost) tell(key string, properties func() amqp.Table) {
	v.opts.Events.Emit(key, func() amqp.Table {
		return append(properties(), amqp.Field{Name: "vhost", Value: v.opts.Name})
	})
}

// actor is the user who has these rights, if they are a user's.
func actor(r Rights) amqp.Table {
	if user, ok := r.(interface{ User() string }); ok {
		return amqp.Table{{Name: "user_who_performed_action", Value: user.User()}}
	}
	return nil
}

// tellQueue emits an event of a queue; r is nil where nobody in particular is the cause.
func (v *VHost) tellQueue(key string, q *queue.Queue, r Rights) {
	v.tell(key, func() amqp.Table {
		o := q.Options()
		return append(amqp.Table{
			{Name: "name", Value: o.Name}, {Name: "durable", Value: o.Durable}, {Name: "auto_delete", Value: o.AutoDelete},
			{Name: "exclusive", Value: o.Exclusive}, {Name: "type", Value: string(v.kindOf(o))}, {Name: "arguments", Value: o.Arguments},
		}, actor(r)...)
	})
}

// tellExchange is tellQueue for an exchange.
func (v *VHost) tellExchange(key string, x *exchange.Exchange, r Rights) {
	v.tell(key, func() amqp.Table {
		o := x.Options()
		return append(amqp.Table{
			{Name: "name", Value: o.Name}, {Name: "type", Value: o.Type}, {Name: "durable", Value: o.Durable},
			{Name: "auto_delete", Value: o.AutoDelete}, {Name: "internal", Value: o.Internal}, {Name: "arguments", Value: o.Arguments},
		}, actor(r)...)
	})
}

// tellBinding is tellQueue for a binding.
func (v *VHost) tellBinding(key string, x *exchange.Exchange, b *exchange.Binding, r Rights) {
	v.tell(key, func() amqp.Table {
		kind := "queue"
		if b.ToExchange() {
			kind = "exchange"
		}
		return append(amqp.Table{
			{Name: "source_name", Value: x.Name()}, {Name: "source_kind", Value: "exchange"}, {Name: "destination_name", Value: b.Destination.Name()},
			{Name: "destination_kind", Value: kind}, {Name: "routing_key", Value: b.Key}, {Name: "arguments", Value: b.Arguments},
		}, actor(r)...)
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

// TellShovel emits the event of a shovel's new state, with the reason if it is terminated.
func (v *VHost) TellShovel(name, state, reason string) {
	v.tell("shovel.worker.status", func() amqp.Table {
		t := amqp.Table{{Name: "name", Value: name}, {Name: "status", Value: state}}
		if reason != "" {
			t = append(t, amqp.Field{Name: "reason", Value: reason})
		}
		return t
	})
}

// TellShovelRemoved emits the event of a shovel that is gone.
func (v *VHost) TellShovelRemoved(name string) {
	v.tell("shovel.worker.removed", func() amqp.Table { return amqp.Table{{Name: "name", Value: name}} })
}
