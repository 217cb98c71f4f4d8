package exchange

import "leveret/amqp"

// table is the routing table of one exchange type. The exchange calls add and remove under its lock, check and route under its read
// lock at least; keyed is asked once.
type table interface {
	// check refuses a binding whose key or arguments the type does not take, with an *amqp.Error 406.
	check(b *Binding) error
	// add takes in a binding that is not there yet; the table may keep the pointer.
	add(b *Binding)
	// remove takes out a binding that was added, given by the same pointer.
	remove(b *Binding)
	// route has r collect the destinations that r's message leads to.
	route(r *Routing)
	// keyed reports whether the routing keys alone decide, so that a route may be cached by them.
	keyed() bool
}

// recaller is a table that keeps messages for destinations that are bound later.
type recaller interface {
	// recall returns them, the oldest first. The exchange calls it under its lock.
	recall() []amqp.Message
}

// types holds how to make the table of each type. A type's file registers itself, from its init.
var types = map[string]func(arguments amqp.Table) (table, error){}

// KnownType returns nil for an exchange type that New can make, else the *amqp.Error that exchange.declare answers with.
//
// [exchange.declare type]
func KnownType(name string) error {
	if types[name] == nil {
		return unknownType(name)
	}
	return nil
}

// reservedWords are names which are something else in the broker, and so an invalid type where another name is an unknown one.
var reservedWords = map[string]bool{"": true, "queue": true, "exchange": true, "binding": true, "channel": true, "connection": true}

func unknownType(name string) error {
	if reservedWords[name] {
		return amqp.InvalidExchangeType(name)
	}
	return amqp.UnknownExchangeType(name)
}

func newTable(name string, arguments amqp.Table) (table, error) {
	make := types[name]
	if make == nil {
		return nil, unknownType(name)
	}
	return make(arguments)
}
