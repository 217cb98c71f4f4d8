package vhost

import (
	"leveret/exchange"
	"leveret/queue"
)

// PolicyFor is what the policies say of a queue: which apply, and which do not though they match. Not to be changed.
func (v *VHost) PolicyFor(q *queue.Queue) *Applied { return appliedTo(v.queues, q.Name()) }

// PolicyForExchange is PolicyFor for an exchange.
func (v *VHost) PolicyForExchange(x *exchange.Exchange) *Applied {
	return appliedTo(v.exchanges, x.Name())
}

// appliedTo finds what applies to a queue or an exchange without a lock; what is not there has no policy.
func appliedTo[T any](n *names[T], name string) *Applied {
	if e := n.find(name); e != nil {
		if a := e.applied.Load(); a != nil {
			return a
		}
	}
	return untouched
}

// applyPolicies tells all queues and exchanges what the policies say now. No lock is held. Two changes of policies at a time may do this
// beside each other: whoever told an object last looks whether it told the newest.
func (v *VHost) applyPolicies() {
	for _, e := range v.queues.list() {
		if q := e.bearer.Load(); q != nil {
			v.obey(e, q)
		}
	}
	for _, e := range v.exchanges.list() {
		if x := e.bearer.Load(); x != nil {
			v.obeyExchange(e, x)
		}
	}
}

// obey tells a queue, which is visible, what the policies say of it.
func (v *VHost) obey(e *entry[queue.Queue], q *queue.Queue) {
	opts := q.Options()
	kind := v.kindOf(opts)
	before := e.applied.Load()
	for told := (*policySet)(nil); told != v.policies.Load(); {
		told = v.policies.Load()
		a := told.apply(kind, opts.Name)
		e.applied.Store(a)
		w := wishes{kind, opts.Arguments, a.Effective}
		s := w.settings()
		if s != q.Settings() {
			v.warnDeadLetters(opts.Name, w, s)
		}
		q.Apply(s)
	}
	v.tellPolicy(opts.Name, before, e.applied.Load())
}

// obeyExchange is obey for an exchange. What would change nothing is left out, as it takes the exchange's turn.
func (v *VHost) obeyExchange(e *entry[exchange.Exchange], x *exchange.Exchange) {
	first := true
	for told := (*policySet)(nil); told != v.policies.Load(); first = false {
		told = v.policies.Load()
		a := told.apply(theExchanges, x.Name())
		if before := e.applied.Swap(a); first && before != nil && before.exchange() == a.exchange() {
			continue
		}
		if err := v.ApplyExchangePolicy(x, a.exchange()); err != nil {
			v.opts.Log.Error("a policy is not in force", "vhost", v.opts.Name, "exchange", x.Name(), "policy", a.Policy, "error", err)
		}
	}
}

// overtaken tells an exchange that has just become visible of changes of the policies that it was made with. The caller has the
// exchange's turn.
func (v *VHost) overtaken(e *entry[exchange.Exchange], x *exchange.Exchange, told *policySet) error {
	for told != v.policies.Load() {
		told = v.policies.Load()
		a := told.apply(theExchanges, x.Name())
		e.applied.Store(a)
		if err := v.settleExchange(x, a.exchange()); err != nil {
			return err
		}
	}
	return nil
}
