package vhost

import (
	"errors"
	"slices"

	"leveret/amqp"
	"leveret/exchange"
	"leveret/queue"
)

// BindQueue makes a binding from an exchange to a queue; one that is there already is left as it is. Errors are *amqp.Error 403, 404 (the
// exchange is named first), 405 and 406, else the store's.
//
// [queue.bind]: needs the right to write to the queue and to read from the exchange, a topic exchange also that on the key.
func (v *VHost) BindQueue(name, source, key string, args amqp.Table, owner Owner, r Rights) error {
	x, err := v.checkBinding(amqp.QueueResource, name, source, key, r)
	if err != nil {
		return err
	}
	if x == nil {
		return amqp.NoExchange(source, v.opts.Name)
	}
	// The turn is the destination's alone. If all who bind to one exchange took turns, their commits could not share a sync.
	e, q, err := v.lockQueue(name)
	if err != nil {
		return err
	}
	if q == nil {
		return amqp.NoQueue(name, v.opts.Name)
	}
	defer e.turn.Unlock()
	if err := v.checkOwner(q, owner); err != nil {
		return err
	}
	return v.bind(&e.place, x, exchange.Binding{Destination: q, Key: key, Arguments: args}, r)
}

// UnbindQueue removes a binding and with it the exchange, if it is an auto-delete one and this was its last. That there is no such
// binding, queue or exchange is no error.
func (v *VHost) UnbindQueue(name, source, key string, args amqp.Table, owner Owner, r Rights) error {
	x, err := v.checkBinding(amqp.QueueResource, name, source, key, r)
	if err != nil || x == nil {
		return err
	}
	e, q, err := v.lockQueue(name)
	if q == nil {
		return err
	}
	b := exchange.Binding{Destination: q, Key: key, Arguments: args}
	var loose []*exchange.Exchange
	if x.Has(b) {
		if err = v.checkOwner(q, owner); err == nil {
			loose, err = v.unbind(&e.place, x, b, r)
		}
	}
	e.turn.Unlock()
	return v.removeLoose(loose, err)
}

// BindExchange makes a binding from one exchange to another; one that is there already is left as it is. Errors are as with BindQueue.
//
// [exchange.bind]: an extension of RabbitMQ's
func (v *VHost) BindExchange(destination, source, key string, args amqp.Table, r Rights) error {
	x, err := v.checkBinding(amqp.ExchangeResource, destination, source, key, r)
	if err != nil {
		return err
	}
	if x == nil {
		return amqp.NoExchange(source, v.opts.Name)
	}
	e, d := v.lockExchange(destination)
	if d == nil {
		return amqp.NoExchange(destination, v.opts.Name)
	}
	defer e.turn.Unlock()
	return v.bind(&e.place, x, exchange.Binding{Destination: d, Key: key, Arguments: args}, r)
}

// UnbindExchange removes a binding between exchanges; otherwise it is like UnbindQueue.
func (v *VHost) UnbindExchange(destination, source, key string, args amqp.Table, r Rights) error {
	x, err := v.checkBinding(amqp.ExchangeResource, destination, source, key, r)
	if err != nil || x == nil {
		return err
	}
	e, d := v.lockExchange(destination)
	if d == nil {
		return nil
	}
	b := exchange.Binding{Destination: d, Key: key, Arguments: args}
	var loose []*exchange.Exchange
	if x.Has(b) {
		loose, err = v.unbind(&e.place, x, b, r)
	}
	e.turn.Unlock()
	return v.removeLoose(loose, err)
}

// checkBinding does what making and removing bindings begin with: rights and names. It returns the source, nil when it is not there.
func (v *VHost) checkBinding(kind amqp.ResourceKind, destination, source, key string, r Rights) (*exchange.Exchange, error) {
	if err := r.Write(kind, destination); err != nil {
		return nil, err
	}
	if source == "" || kind == amqp.ExchangeResource && destination == "" {
		return nil, amqp.DefaultExchange()
	}
	if err := r.Read(amqp.ExchangeResource, source); err != nil {
		return nil, err
	}
	x := v.Exchange([]byte(source))
	if x != nil && x.Options().Type == "topic" {
		if err := r.ReadTopic(source, key); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// bind makes a binding to a destination whose turn the caller has. The record comes first, so that what routes is durable.
func (v *VHost) bind(p *place, x *exchange.Exchange, b exchange.Binding, r Rights) error {
	if x.Has(b) {
		return nil
	}
	if err := v.checkBound(x, b); err != nil {
		return err // before anything is written
	}
	lasting := v.lasting(x, b.Destination)
	if lasting {
		if err := v.opts.Store.Commit(v.bindingRecord(x.Name(), &b)); err != nil {
			return err
		}
	}
	recalled, err := x.BindAndRecall(b)
	if err != nil && lasting { // the source was deleted meanwhile, which did not know of this record
		if undone := v.opts.Store.Commit(v.forgetBinding(x.Name(), &b)); undone != nil {
			return undone
		}
	}
	if errors.Is(err, exchange.ErrDeleted) {
		return amqp.NoExchange(x.Name(), v.opts.Name)
	}
	if err != nil {
		return err
	}
	p.addSource(x)
	v.tellBinding("binding.created", x, &b, r)
	v.recall(b.Destination, recalled)
	return nil
}

// checkBound returns what the exchange's type has against a binding. That only queues of one kind may be bound the type itself can't tell.
func (v *VHost) checkBound(x *exchange.Exchange, b exchange.Binding) error {
	if err := x.Check(b); err != nil || x.Options().Type != exchange.LocalRandom {
		return err
	}
	if kind := v.kindOf(b.Destination.(*queue.Queue).Options()); kind != classic {
		return amqp.QueueTypeNotValid(kind.module())
	}
	return nil
}

// unbind removes a binding that is there from a destination whose turn the caller has. If the source is to go with it, that is returned, to
// be removed when the turn is over.
func (v *VHost) unbind(p *place, x *exchange.Exchange, b exchange.Binding, r Rights) (loose []*exchange.Exchange, err error) {
	if v.lasting(x, b.Destination) {
		if err := v.opts.Store.Commit(v.forgetBinding(x.Name(), &b)); err != nil {
			return nil, err
		}
	}
	x.Unbind(b)
	v.tellBinding("binding.deleted", x, &b, r)
	if !x.Bound(b.Destination) {
		p.removeSource(x)
	}
	if isLoose(x) {
		loose = append(loose, x)
	}
	return loose, nil
}

// lasting reports whether bindings between these two outlive the broker: both ends do.
func (v *VHost) lasting(x *exchange.Exchange, d exchange.Destination) bool {
	if !x.Options().Durable {
		return false
	}
	if q, ok := d.(*queue.Queue); ok {
		return q.Durable()
	}
	return d.(*exchange.Exchange).Options().Durable
}

// addSource notes an exchange that is bound to this place, once, so that a deletion finds its bindings without a look at all
// exchanges. It is called with the turn held.
func (p *place) addSource(x *exchange.Exchange) {
	if !slices.Contains(p.sources, x) {
		p.sources = append(p.sources, x)
	}
}

// removeSource forgets it, when the last binding from it has gone.
func (p *place) removeSource(x *exchange.Exchange) {
	p.sources = slices.DeleteFunc(p.sources, func(other *exchange.Exchange) bool { return other == x })
}
