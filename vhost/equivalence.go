package vhost

import (
	"leveret/amqp"
	"leveret/queue"
)

// equivalentQueue compares a declare with what is there: the owner, the flags, and those arguments that this type of queue knows. Others
// may differ.
func (v *VHost) equivalentQueue(have queue.Options, want QueueDeclare, owner Owner) error {
	if have.Exclusive != want.Exclusive || have.Exclusive && have.Owner != uint64(owner) {
		return amqp.LockedQueue(want.Name, v.opts.Name)
	}
	resource := v.queueResource(want.Name)
	if want.Durable != have.Durable {
		return amqp.Inequivalent("durable", resource, want.Durable, have.Durable)
	}
	if want.AutoDelete != have.AutoDelete {
		return amqp.Inequivalent("auto_delete", resource, want.AutoDelete, have.AutoDelete)
	}
	// Arguments are compared as the type that is there knows them, not as the one that is asked for.
	kind := v.kindOf(have)
	for i := range arguments {
		a := &arguments[i]
		if !a.knownTo(kind) {
			continue
		}
		if a.comparable != nil {
			if err := equivalentArgument(a.name, resource, a.comparable(want.Arguments), a.comparable(have.Arguments)); err != nil {
				return err
			}
			continue
		}
		if err := equivalentArgument(a.name, resource, want.Arguments, have.Arguments); err != nil {
			return err
		}
	}
	return nil
}
