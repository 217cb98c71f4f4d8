package server

import (
	"strings"

	"leveret/amqp"
	"leveret/vhost"
)

// lineBreaks are taken out of names, as they always were.
var lineBreaks = strings.NewReplacer("\r", "", "\n", "")

// clean is a name as it is kept. RabbitMQ strips line breaks from names in declares and bindings too.
func clean(name string) string { return lineBreaks.Replace(name) }

// exchangeDeclare makes an exchange, or checks that the one there is equivalent; passive, only that there is one.
func (ch *channel) exchangeDeclare(m *amqp.ExchangeDeclare) error {
	c := ch.conn
	if m.Passive {
		return c.vhost.CheckExchange(m.Exchange, c.rights)
	}
	return c.vhost.DeclareExchange(vhost.ExchangeDeclare{
		Name: clean(m.Exchange), Type: m.Type, Durable: m.Durable, AutoDelete: m.AutoDelete, Internal: m.Internal, Arguments: m.Arguments,
	}, c.rights)
}

// exchangeDelete deletes one; that there is none is no error. What an operator made to last is worth a line of the log.
func (ch *channel) exchangeDelete(m *amqp.ExchangeDelete) error {
	c, name := ch.conn, clean(m.Exchange)
	lasting := lastingExchange(c.vhost.Exchange([]byte(name)))
	err := c.vhost.DeleteExchange(name, m.IfUnused, c.rights)
	if err == nil && lasting {
		c.audit("exchange.deleted", name)
	}
	return err
}

// exchangeBind binds an exchange to another, from which messages come.
func (ch *channel) exchangeBind(m *amqp.ExchangeBind) error {
	return ch.conn.vhost.BindExchange(clean(m.Destination), clean(m.Source), m.RoutingKey, m.Arguments, ch.conn.rights)
}

// exchangeUnbind takes a binding away; that it is not there is no error.
func (ch *channel) exchangeUnbind(m *amqp.ExchangeUnbind) error {
	return ch.conn.vhost.UnbindExchange(clean(m.Destination), clean(m.Source), m.RoutingKey, m.Arguments, ch.conn.rights)
}
