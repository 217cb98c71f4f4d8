package server

import (
	"strings"

	"leveret/amqp"
	"leveret/vhost"
)

// lineBreaks are taken out of names, as they always were.
var lineBreaks = strings.NewReplacer("\r", "", "\n", "")

func clean(name string) string { return lineBreaks.Replace(name) }

func (ch *channel) exchangeDeclare(m *amqp.ExchangeDeclare) error {
	c := ch.conn
	if m.Passive {
		return c.vhost.CheckExchange(m.Exchange, c.rights)
	}
	return c.vhost.DeclareExchange(vhost.ExchangeDeclare{
		Name: clean(m.Exchange), Type: m.Type, Durable: m.Durable, AutoDelete: m.AutoDelete, Internal: m.Internal, Arguments: m.Arguments,
	}, c.rights)
}

func (ch *channel) exchangeDelete(m *amqp.ExchangeDelete) error {
	return ch.conn.vhost.DeleteExchange(clean(m.Exchange), m.IfUnused, ch.conn.rights)
}

func (ch *channel) exchangeBind(m *amqp.ExchangeBind) error {
	return ch.conn.vhost.BindExchange(clean(m.Destination), clean(m.Source), m.RoutingKey, m.Arguments, ch.conn.rights)
}

func (ch *channel) exchangeUnbind(m *amqp.ExchangeUnbind) error {
	return ch.conn.vhost.UnbindExchange(clean(m.Destination), clean(m.Source), m.RoutingKey, m.Arguments, ch.conn.rights)
}
