package server

import "leveret/amqp"

// channelClose ends the channel as the client wishes: what it holds comes back before close-ok, and nothing is delivered after it.
func (ch *channel) channelClose() (amqp.Method, error) {
	c := ch.conn
	c.endChannel(ch)
	c.dropChannel(ch)
	c.closed = append(c.closed, ch.number)
	return &amqp.ChannelCloseOk{}, nil
}

// channelFlow: clients may ask for what is so anyway; a server that stops deliveries on demand is not expected by anyone.
func (ch *channel) channelFlow(m *amqp.ChannelFlow) (amqp.Method, error) {
	if !m.Active {
		return nil, amqp.FlowNotImplemented()
	}
	return &amqp.ChannelFlowOk{Active: true}, nil
}

// confirmSelect switches publisher confirms on. Asking twice is no harm and does not start the tags anew.
func (ch *channel) confirmSelect() error {
	if ch.tx != nil {
		return amqp.TxToConfirm()
	}
	if ch.confirming {
		return nil
	}
	ch.confirming = true
	o := &ch.conn.out
	o.mu.Lock()
	o.confirming = append(o.confirming, ch)
	o.mu.Unlock()
	return nil
}
