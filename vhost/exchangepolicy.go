package vhost

import (
	"leveret/amqp"
	"leveret/exchange"
)

// ExchangePolicy is what the policies that apply to an exchange say of it.
type ExchangePolicy struct {
	Alternate    string // the key alternate-exchange
	HasAlternate bool
	Delayed      bool // the key delayed-message
}

// exchangePolicy is what the policies say of an exchange of that name.
func (v *VHost) exchangePolicy(name string) ExchangePolicy {
	return v.policies.Load().apply(theExchanges, name).exchange()
}

// exchange is what of it concerns an exchange.
func (a *Applied) exchange() (p ExchangePolicy) {
	p.Alternate, p.HasAlternate = a.Effective[exchange.ArgAlternate].(string)
	p.Delayed, _ = a.Effective["delayed-message"].(bool)
	return p
}

// ApplyExchangePolicy puts into force what the policies say of an exchange now, as far as its arguments do not say otherwise. An error is the
// store's. An exchange that does not delay any more keeps its delay queue: what waits there is routed when it is due.
func (v *VHost) ApplyExchangePolicy(x *exchange.Exchange, p ExchangePolicy) error {
	e, live := v.lockExchange(x.Name())
	if live != x {
		if live != nil {
			e.turn.Unlock()
		}
		return nil // it was deleted meanwhile
	}
	defer e.turn.Unlock()
	return v.settleExchange(x, p)
}

// settleExchange gives an exchange its settings, and the queue it needs for them. The caller has the exchange's turn.
func (v *VHost) settleExchange(x *exchange.Exchange, p ExchangePolicy) error {
	opts := x.Options()
	s := exchange.SettingsOf(opts.Arguments)
	if _, given := opts.Arguments.Get(exchange.ArgAlternate); !given {
		s.Alternate, s.HasAlternate = p.Alternate, p.HasAlternate
	}
	s.Window = x.Settings().Window
	if x != v.standard && (p.Delayed || opts.Delays()) {
		q, err := v.delayQueue(x)
		if err != nil {
			return err
		}
		s.Delay = q
	}
	if s != x.Settings() {
		x.Apply(s)
	}
	return nil
}

// checkExtensions checks the arguments that make an exchange delay or look for duplicates.
func (v *VHost) checkExtensions(d ExchangeDeclare) error {
	r := v.exchangeResource(d.Name)
	for _, name := range []string{exchange.ArgDelayed, exchange.ArgDeduplication} {
		value, ok := d.Arguments.Get(name)
		if _, isBool := value.(bool); ok && !isBool {
			return amqp.InvalidArgumentType(name, r, value)
		}
	}
	opts := exchange.Options{Type: d.Type, Arguments: d.Arguments}
	if !opts.Deduplicates() {
		return nil
	}
	for _, a := range extensions {
		switch a.name {
		case exchange.ArgCacheSize, exchange.ArgCacheTTL, exchange.ArgDeduplicationField:
			if value, ok := d.Arguments.Get(a.name); ok {
				if err := a.check(r, a.name, value); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
