package vhost

import (
	"errors"

	"leveret/amqp"
	"leveret/exchange"
	"leveret/queue"
	"leveret/store"
)

// DeleteExchange deletes an exchange, its bindings in both directions, and the auto-delete exchanges that lose their last binding with
// it. That there is no such exchange is no error; with ifUnused a binding as source is a 406.
//
// [exchange.delete]: names that are never deleted are refused before anybody looks whether they exist.
func (v *VHost) DeleteExchange(name string, ifUnused bool, r Rights) error {
	if name == "" {
		return amqp.DefaultExchange()
	}
	if reserved(name) {
		return amqp.SystemExchange(name, v.opts.Name)
	}
	if err := r.Configure(amqp.ExchangeResource, name); err != nil {
		return err
	}
	_, x := v.liveExchange(name)
	if x == nil {
		return nil
	}
	loose, deleted, err := v.removeExchange(x, ifUnused)
	if !deleted {
		return amqp.ExchangeInUse(name, v.opts.Name)
	}
	return v.removeLoose(loose, err)
}

// DeleteQueue deletes a queue with its bindings, and the auto-delete exchanges that lose their last binding with it, and returns the number
// of ready messages. That there is no such queue is no error; a condition that does not hold is a 406.
func (v *VHost) DeleteQueue(name string, ifUnused, ifEmpty bool, owner Owner, r Rights) (ready int, err error) {
	if err := r.Configure(amqp.QueueResource, name); err != nil {
		return 0, err
	}
	_, q, err := v.liveQueue(name)
	if q == nil {
		return 0, err
	}
	if err := v.checkOwner(q, owner); err != nil {
		return 0, err
	}
	ready, err = q.Delete(ifUnused, ifEmpty)
	if err != nil && !errors.Is(err, queue.ErrClosed) {
		return 0, err
	}
	return ready, v.Retire(q)
}

// Retire takes away the name and the bindings of a queue that has closed itself. It may be called several times and by several
// goroutines; all return when the name is free. An error is the store's: the queue is gone, but may be there again after a restart.
func (v *VHost) Retire(q *queue.Queue) error {
	e := v.queues.find(q.Name())
	if e == nil {
		return nil
	}
	loose, err := v.removeQueue(e, q)
	return v.removeLoose(loose, err)
}

// removeQueue is Retire without what follows for exchanges: it returns those whose last binding went with the queue.
func (v *VHost) removeQueue(e *entry[queue.Queue], q *queue.Queue) (loose []*exchange.Exchange, err error) {
	e.turn.Lock()
	defer e.turn.Unlock()
	if e.bearer.Load() != q {
		return nil, nil // it was retired before
	}
	// In memory first: nothing may route to a queue that is no more, whatever becomes of its records.
	changes, loose := v.unbindSources(&e.place, q)
	if q.Durable() {
		changes = append(changes, v.forgetQueue(q.Name()))
		if q.Stats().Paused {
			changes = append(changes, v.pauseRecord(q, false))
		}
	}
	err = v.commit(changes)
	if q.Durable() {
		v.opts.Store.DropQueue(q.Options().ID)
		v.dropWindow(q.Window())
	}
	v.owned.remove(q)
	v.queues.release(q.Name(), e)
	v.opts.Churn.remove()
	v.tellQueue("queue.deleted", q, nil)
	return loose, err
}

// DeleteOwned deletes the exclusive queues of a connection that ends. An error is the store's.
func (v *VHost) DeleteOwned(owner Owner) error {
	var failed error
	for _, q := range v.owned.of(owner) {
		_, _ = q.Delete(false, false) // without a condition it can only be closed already
		failed = errors.Join(failed, v.Retire(q))
	}
	return failed
}

// removeExchange deletes an exchange and returns those whose last binding went with it. deleted is false if it is in use and may not be
// then.
func (v *VHost) removeExchange(x *exchange.Exchange, ifUnused bool) (loose []*exchange.Exchange, deleted bool, err error) {
	e := v.exchanges.find(x.Name())
	if e == nil {
		return nil, true, nil
	}
	e.turn.Lock()
	if e.bearer.Load() != x {
		e.turn.Unlock()
		return nil, true, nil // it was deleted before
	}
	// In memory first: from here on nobody binds to x, so the list of its bindings is complete, but for those whose record is on its way
	// to the disk. These find x deleted afterwards, and take their record back.
	bindings, deleted := x.Delete(ifUnused)
	if !deleted {
		e.turn.Unlock()
		return nil, false, nil
	}
	e.bearer.Store(nil) // from here on who looks for the name waits
	changes, loose := v.unbindSources(&e.place, x)
	for i := range bindings {
		if v.lasting(x, bindings[i].Destination) {
			changes = append(changes, v.forgetBinding(x.Name(), &bindings[i]))
		}
	}
	if x.Options().Durable {
		changes = append(changes, v.forgetExchange(x.Name()))
	}
	err = errors.Join(v.commit(changes), v.removeDelayQueue(x))
	v.dropWindow(x.Settings().Window)
	v.exchanges.release(x.Name(), e)
	e.turn.Unlock() // the destinations have turns of their own, and nobody holds two
	for i := range bindings {
		v.dropSource(bindings[i].Destination, x)
		v.tellBinding("binding.deleted", x, &bindings[i], nil)
	}
	v.tellExchange("exchange.deleted", x, nil)
	return loose, true, err
}

// removeLoose deletes auto-delete exchanges whose last binding as source has gone, and those that this concerns in turn. A binding that
// was made meanwhile keeps an exchange. failed is an error from before; errors do not stop the rest.
//
// [exchange.declare auto-delete]
func (v *VHost) removeLoose(loose []*exchange.Exchange, failed error) error {
	for len(loose) > 0 {
		more, _, err := v.removeExchange(loose[0], true)
		failed = errors.Join(failed, err)
		loose = append(loose[1:], more...)
	}
	return failed
}

// unbindSources removes all bindings to a destination, whose turn the caller has. It returns the records to delete, and the exchanges that
// are to go because this was their last binding.
func (v *VHost) unbindSources(p *place, d exchange.Destination) (changes []store.Change, loose []*exchange.Exchange) {
	for _, x := range p.sources {
		lasting := v.lasting(x, d)
		if lasting || v.opts.Events.Wanted("binding.deleted") {
			bindings := x.BindingsTo(d)
			for i := range bindings {
				if lasting {
					changes = append(changes, v.forgetBinding(x.Name(), &bindings[i]))
				}
				v.tellBinding("binding.deleted", x, &bindings[i], nil)
			}
		}
		if x.UnbindAll(d) > 0 && isLoose(x) {
			loose = append(loose, x)
		}
	}
	p.sources = nil
	return changes, loose
}

// isLoose tells of an exchange that just lost a binding whether it is to go.
func isLoose(x *exchange.Exchange) bool { return x.Options().AutoDelete && x.Len() == 0 }

// dropSource forgets that an exchange, which is gone, had bindings to a destination.
func (v *VHost) dropSource(d exchange.Destination, x *exchange.Exchange) {
	var p *place
	if q, ok := d.(*queue.Queue); ok {
		if e := v.queues.find(q.Name()); e != nil {
			p = &e.place
		}
	} else if e := v.exchanges.find(d.Name()); e != nil {
		p = &e.place
	}
	if p != nil {
		p.turn.Lock()
		p.removeSource(x)
		p.turn.Unlock()
	}
}
