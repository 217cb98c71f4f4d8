package server

import (
	"leveret/amqp"
	"leveret/exchange"
)

// inspect checks the properties that mean something to the broker, in the order that clients rely on, and rewrites the message where the
// broker has to change it. r is the remembered route, or x the exchange.
func (c *connection) inspect(ch *channel, m amqp.Message, x *exchange.Exchange, r *route) (*route, amqp.Message, error) {
	p := &c.publisher
	index := &p.index
	given := m
	properties, err := ch.ownProperties(m.Properties(), index)
	if err != nil {
		return nil, nil, err
	}
	if len(properties) != len(m.Properties()) || &properties[0] != &m.Properties()[0] {
		m = m.WithProperties(properties) // before it is routed: an exchange may keep it
	}
	if index.Has(amqp.FlagExpiration) {
		ms, err := amqp.ParseExpiration(index.Expiration)
		if err != nil {
			return nil, nil, err
		}
		m.SetExpiration(ms)
	}
	if hasHeader(index, "x-dead-letter-exchange") {
		m.SetOwnDeadLetter()
	}
	extra, blind, err := p.extraKeys()
	if err != nil {
		return nil, nil, err
	}
	if len(extra) > 0 {
		r = nil // the remembered route is that of the routing key alone
	}
	if r == nil {
		if r, err = c.resolve(ch, x, m, extra); err != nil {
			return nil, nil, err
		}
	}
	if err := c.checkUserID(index); err != nil {
		return nil, nil, err
	}
	switch {
	case blind != nil:
		return r, p.rewrite(m, amqp.RemoveHeader(nil, properties, index, "BCC"), blind), nil
	case &m[0] != &given[0]:
		return r, m, nil
	}
	return r, nil, nil
}

// ownProperties returns the properties as the broker passes them on: without a second word of flags, and with the channel's address for
// direct replies where the client asks for them. The index is that of the result.
func (ch *channel) ownProperties(raw []byte, index *amqp.PropertyIndex) ([]byte, error) {
	given := raw
	if raw[1]&moreFlags != 0 {
		all, err := amqp.DecodeProperties(raw)
		if err != nil {
			return nil, err
		}
		raw = all.AppendTo(nil)
	}
	if string(index.ReplyTo) == replyQueue {
		if ch.reply == nil {
			return nil, amqp.NoReplyConsumer()
		}
		if err := amqp.ScanProperties(raw, index); err != nil {
			return nil, err
		}
		raw = amqp.ReplaceReplyTo(nil, raw, index, ch.reply.address)
	}
	if len(given) == len(raw) && &given[0] == &raw[0] {
		return raw, nil
	}
	return raw, amqp.ScanProperties(raw, index)
}

// rewrite makes a copy of a message with other properties, and with its blind keys.
func (p *publisher) rewrite(m amqp.Message, properties []byte, blind [][]byte) amqp.Message {
	body := m.Body()
	size := amqp.MessageHeadSize + len(m.Address()) + len(properties) + len(body)
	n := append(make(amqp.Message, 0, size), m[:amqp.MessageHeadSize+len(m.Address())]...)
	n = append(n, properties...)
	n.SetPropertyLength(len(properties))
	return append(amqp.AppendBlindKeys(n, blind...), body...)
}

// extraKeys returns the routing keys of the CC and BCC headers, and those of the BCC header alone, which nobody may see; they are nil without one.
//
// [basic.publish CC, BCC]: an extension of RabbitMQ: arrays of strings; other items are ignored, other types an error.
func (p *publisher) extraKeys() (keys, blind [][]byte, err error) {
	if !hasHeader(&p.index, "CC") && !hasHeader(&p.index, "BCC") {
		return nil, nil, nil
	}
	headers, _, err := amqp.DecodeTable(p.index.Headers)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range [...]string{"CC", "BCC"} {
		v, ok := headers.Get(name)
		if !ok {
			continue
		}
		before := len(keys)
		list, ok := v.(amqp.Array)
		if !ok {
			return nil, nil, amqp.UnacceptableHeader(name, amqp.TypeName(v))
		}
		for _, item := range list {
			if key, ok := item.(string); ok {
				keys = append(keys, []byte(key))
			}
		}
		if name == "BCC" {
			blind = append([][]byte{}, keys[before:]...)
		}
	}
	return keys, blind, nil
}

// checkUserID: nobody may publish in another user's name, impersonators aside.
func (c *connection) checkUserID(index *amqp.PropertyIndex) error {
	if !index.Has(amqp.FlagUserID) || string(index.UserID) == c.user.Name() || c.user.HasTag("impersonator") {
		return nil
	}
	return amqp.UserIDMismatch(string(index.UserID), c.user.Name())
}

// hasHeader tells whether a message has a header, without decoding the others.
func hasHeader(index *amqp.PropertyIndex, name string) bool {
	if index.Headers == nil {
		return false
	}
	_, _, ok := amqp.FindField(index.Headers, name)
	return ok
}
