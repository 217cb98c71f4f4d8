package vhost

import (
	"errors"

	"leveret/amqp"
	"leveret/exchange"
)

// ExchangeDeclare is what a client asks for with exchange.declare.
type ExchangeDeclare struct {
	Name, Type string
	Durable    bool // it outlives the broker
	AutoDelete bool // it ends with its last binding as source
	Internal   bool // only other exchanges publish to it
	Arguments  amqp.Table
}

// DeclareExchange makes an exchange, or checks that the one there is equivalent. Errors are *amqp.Error 403 and 406, else the store's.
//
// [exchange.declare]: the type is looked at first, then the name, the right to configure it, then what is there.
func (v *VHost) DeclareExchange(d ExchangeDeclare, r Rights) error {
	if err := exchange.KnownType(d.Type); err != nil {
		return err
	}
	if d.Name == "" {
		return amqp.DefaultExchange()
	}
	if err := r.Configure(amqp.ExchangeResource, d.Name); err != nil {
		return err
	}
	for {
		if _, x := v.liveExchange(d.Name); x != nil {
			return v.equivalentExchange(x.Options(), d)
		}
		made, err := v.makeExchange(d, r)
		if made || err != nil {
			return err
		} // else another declare was faster
	}
}

// equivalentExchange compares a declare with what is there. Of the arguments only the alternate exchange counts.
func (v *VHost) equivalentExchange(have exchange.Options, want ExchangeDeclare) error {
	resource := v.exchangeResource(want.Name)
	for _, property := range []struct {
		name       string
		want, have any
	}{
		{"type", want.Type, have.Type},
		{"durable", want.Durable, have.Durable},
		{"auto_delete", want.AutoDelete, have.AutoDelete},
		{"internal", want.Internal, have.Internal},
	} {
		if property.want != property.have {
			return amqp.Inequivalent(property.name, resource, property.want, property.have)
		}
	}
	return equivalentArgument(exchange.ArgAlternate, resource, want.Arguments, have.Arguments)
}

// equivalentArgument compares one argument of a declare with that of what is there.
func equivalentArgument(name string, resource amqp.Resource, want, have amqp.Table) error {
	got, isGiven := want.Get(name)
	current, isThere := have.Get(name)
	switch {
	case isGiven && !isThere:
		return amqp.InequivalentAdded(name, resource, got)
	case isThere && !isGiven:
		return amqp.InequivalentMissing(name, resource, current)
	case isGiven && !amqp.EqualValue(got, current):
		return amqp.Inequivalent(name, resource, got, current)
	}
	return nil
}

// makeExchange declares an exchange that is not there. made is false without an error if the name was taken meanwhile.
func (v *VHost) makeExchange(d ExchangeDeclare, r Rights) (made bool, err error) {
	if reserved(d.Name) {
		return false, amqp.ReservedName(amqp.ExchangeResource, d.Name)
	}
	if err := v.checkAlternate(d, r); err != nil {
		return false, err
	}
	if err := v.checkExchangeLimit(d.Name); err != nil {
		return false, err
	}
	if err := v.checkExtensions(d); err != nil {
		return false, err
	}
	// Made before the name is reserved: the type may refuse the arguments, and then nothing has to be undone.
	x, err := v.newExchange(exchange.Options{
		Name: d.Name, Type: d.Type, Durable: d.Durable, AutoDelete: d.AutoDelete, Internal: d.Internal, Arguments: d.Arguments,
	}, 0)
	if err != nil {
		return false, err
	}
	e := v.exchanges.reserve(d.Name)
	if e == nil {
		return false, nil
	}
	defer e.turn.Unlock()
	if err := v.checkThere(); err != nil {
		v.exchanges.release(d.Name, e)
		return false, err
	}
	policies := v.policies.Load()
	if err := v.storeExchange(x); err != nil {
		v.exchanges.release(d.Name, e)
		return false, err
	}
	v.announceExchange(e, x)
	v.tellExchange("exchange.created", x, r)
	return true, v.overtaken(e, x, policies)
}

// storeExchange gives a new exchange its settings and makes it durable, if it is to be. After an error nothing of it is left.
func (v *VHost) storeExchange(x *exchange.Exchange) error {
	err := v.settleExchange(x, v.exchangePolicy(x.Name()))
	if err == nil && x.Options().Durable {
		err = v.opts.Store.Commit(v.exchangeRecord(x))
	}
	if err != nil {
		return errors.Join(err, v.removeDelayQueue(x))
	}
	return nil
}

// checkAlternate looks at the alternate-exchange argument of a new exchange: whoever names one sends there what comes here.
func (v *VHost) checkAlternate(d ExchangeDeclare, r Rights) error {
	value, ok := d.Arguments.Get(exchange.ArgAlternate)
	if !ok {
		return nil
	}
	alternate, ok := value.(string)
	if !ok {
		return amqp.InvalidArgumentType(exchange.ArgAlternate, v.exchangeResource(d.Name), value)
	}
	if err := r.Read(amqp.ExchangeResource, d.Name); err != nil {
		return err
	}
	return r.Write(amqp.ExchangeResource, alternate)
}

// newExchange makes an exchange with what its arguments ask for; window is the number of its window in the store, 0 if that has none yet.
func (v *VHost) newExchange(opts exchange.Options, window uint64) (*exchange.Exchange, error) {
	opts.Graph, opts.Resolve = &v.graph, v.alternate
	x, err := exchange.New(opts)
	if err != nil {
		return nil, err
	}
	s := x.Settings()
	if s.Window, err = v.exchangeWindow(&opts, window); err != nil {
		return nil, err
	}
	if s.Window != nil {
		x.Apply(s)
	}
	return x, nil
}

// alternate finds an alternate exchange. The default exchange is none: nothing is ever bound to it, and its routing by
// queue names is not for what other exchanges could not route.
func (v *VHost) alternate(name string) *exchange.Exchange { return v.Exchange([]byte(name)) }

// announceExchange makes a new exchange visible. It may be the alternate of others, whose routes are not valid any more.
func (v *VHost) announceExchange(e *entry[exchange.Exchange], x *exchange.Exchange) {
	e.bearer.Store(x)
	v.graph.Add(1)
	e.applied.Store(v.policies.Load().apply(theExchanges, x.Name()))
}

// CheckExchange is the passive exchange.declare: it returns nil if the exchange is there.
//
// [exchange.declare passive]: any right on the name will do.
func (v *VHost) CheckExchange(name string, r Rights) error {
	if name == "" {
		return amqp.DefaultExchange()
	}
	if err := anyRight(r, amqp.ExchangeResource, name); err != nil {
		return err
	}
	if v.Exchange([]byte(name)) == nil {
		return amqp.NoExchange(name, v.opts.Name)
	}
	return nil
}
