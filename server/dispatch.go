package server

import (
	"errors"

	"leveret/amqp"
	"leveret/frame"
	"leveret/queue"
)

// handleFrame works on one frame.
func (c *connection) handleFrame(f frame.Frame) {
	if c.state == stateClosing {
		c.closingFrame(f)
		return
	}
	var err error
	switch {
	case f.Type == frame.TypeHeartbeat:
		return
	case f.Channel == 0:
		err = c.connectionMethod(f)
	case c.state != stateRunning:
		c.log.Warn("frame on a channel before the connection was opened")
		c.finish(lingerSilent)
		return
	default:
		if err = c.channelFrame(f); err != nil {
			c.fail(c.channels[f.Channel], err)
			return
		}
	}
	if err != nil {
		c.fail(nil, err)
	}
}

// closingFrame handles a frame after connection.close was sent: nothing but the end of the dialogue counts.
func (c *connection) closingFrame(f frame.Frame) {
	if f.Type != frame.TypeMethod || f.Channel != 0 {
		return
	}
	switch f.MethodID() {
	case amqp.MethodConnectionClose, amqp.MethodConnectionCloseOk:
		if err := c.connectionMethod(f); err != nil {
			c.finish(lingerSilent)
		}
	}
}

// channelMethod handles a method on a channel that is open or closing. The methods of the hot path are decoded into memory that is used
// again; for all others, what was gathered goes to the queues first, so that order holds.
func (c *connection) channelMethod(ch *channel, id amqp.MethodID, arguments []byte) error {
	if ch.closing {
		return c.closingMethod(ch, id, arguments)
	}
	if ch.tx != nil && ch.committing() {
		return amqp.UnexpectedDuringCommit().At(id)
	}
	switch id {
	case amqp.MethodBasicPublish:
		return c.beginPublish(ch, arguments)
	case amqp.MethodBasicAck:
		return c.basicAck(ch, arguments)
	case amqp.MethodBasicNack:
		return c.basicNack(ch, arguments)
	case amqp.MethodBasicReject:
		return c.basicReject(ch, arguments)
	}
	m := amqp.NewMethod(id)
	if m == nil {
		return amqp.UnknownMethod(id)
	}
	if err := m.Decode(arguments); err != nil {
		return err
	}
	if id.Content() {
		ch.content.dropContent(id)
		return nil
	}
	c.handOver()
	if c.state != stateRunning {
		return nil
	}
	if ch.closing { // a settle before it was wrong
		return c.closingMethod(ch, id, arguments)
	}
	if id == amqp.MethodQueueDelete {
		c.out.holdNotices()
		defer c.out.sendNotices()
	}
	reply, err := ch.call(m)
	if err != nil {
		return at(c.translate(err, m), id)
	}
	if reply != nil {
		c.out.reply(ch.number, reply)
	}
	return nil
}

// call runs a method and returns its reply, nil for none.
func (ch *channel) call(m amqp.Method) (amqp.Method, error) {
	switch m := m.(type) {
	case *amqp.ChannelOpen:
		return nil, amqp.SecondChannelOpen()
	case *amqp.ChannelClose:
		return ch.channelClose()
	case *amqp.ChannelCloseOk:
		return nil, nil
	case *amqp.ChannelFlow:
		return ch.channelFlow(m)
	case *amqp.AccessRequest:
		return &amqp.AccessRequestOk{Ticket: 1}, nil
	case *amqp.ExchangeDeclare:
		return unless(m.NoWait, &amqp.ExchangeDeclareOk{}, ch.exchangeDeclare(m))
	case *amqp.ExchangeDelete:
		return unless(m.NoWait, &amqp.ExchangeDeleteOk{}, ch.exchangeDelete(m))
	case *amqp.ExchangeBind:
		return unless(m.NoWait, &amqp.ExchangeBindOk{}, ch.exchangeBind(m))
	case *amqp.ExchangeUnbind:
		return unless(m.NoWait, &amqp.ExchangeUnbindOk{}, ch.exchangeUnbind(m))
	case *amqp.QueueDeclare:
		return ch.queueDeclare(m)
	case *amqp.QueueBind:
		return unless(m.NoWait, &amqp.QueueBindOk{}, ch.queueBind(m))
	case *amqp.QueueUnbind:
		return &amqp.QueueUnbindOk{}, ch.queueUnbind(m)
	case *amqp.QueuePurge:
		return ch.queuePurge(m)
	case *amqp.QueueDelete:
		return ch.queueDelete(m)
	}
	return ch.callBasic(m)
}

// callBasic is call for the classes basic, confirm and tx.
func (ch *channel) callBasic(m amqp.Method) (amqp.Method, error) {
	switch m := m.(type) {
	case *amqp.BasicQos:
		return nil, ch.basicQos(m)
	case *amqp.BasicConsume:
		return nil, ch.basicConsume(m)
	case *amqp.BasicCancel:
		return nil, ch.basicCancel(m)
	case *amqp.BasicCancelOk:
		return nil, nil
	case *amqp.BasicGet:
		return ch.basicGet(m)
	case *amqp.BasicRecover:
		return nil, ch.basicRecover(m.Requeue, &amqp.BasicRecoverOk{})
	case *amqp.BasicRecoverAsync:
		return nil, ch.basicRecover(m.Requeue, nil)
	case *amqp.ConfirmSelect:
		return unless(m.NoWait, &amqp.ConfirmSelectOk{}, ch.confirmSelect())
	case *amqp.TxSelect:
		return &amqp.TxSelectOk{}, ch.txSelect()
	case *amqp.TxCommit:
		return nil, ch.txCommit()
	case *amqp.TxRollback:
		return &amqp.TxRollbackOk{}, ch.txRollback()
	}
	return nil, amqp.UnimplementedMethod()
}

// unless returns the reply, or none when the client does not wait for it.
func unless(noWait bool, reply amqp.Method, err error) (amqp.Method, error) {
	if noWait || err != nil {
		return nil, err
	}
	return reply, nil
}

// closingMethod handles a method after channel.close was sent: all is dropped but the end of the dialogue. The content of a publish
// still has to follow the rules.
func (c *connection) closingMethod(ch *channel, id amqp.MethodID, arguments []byte) error {
	switch {
	case id == amqp.MethodChannelOpen:
		return amqp.SecondChannelOpen().At(id)
	case id == amqp.MethodChannelCloseOk:
		c.dropChannel(ch)
	case id == amqp.MethodChannelClose:
		c.dropChannel(ch)
		c.closed = append(c.closed, ch.number)
		c.out.reply(ch.number, &amqp.ChannelCloseOk{})
	case id.Content():
		ch.content.dropContent(id)
	}
	return nil
}

// dropChannel makes a channel's number free.
func (c *connection) dropChannel(ch *channel) {
	delete(c.channels, ch.number)
	ch.forgetSources()
	if c.last == ch {
		c.last = nil
	}
}

// at fills in the failing method of a protocol error.
func at(err error, id amqp.MethodID) error {
	var e *amqp.Error
	if errors.As(err, &e) && e.Class == 0 {
		return e.At(id)
	}
	return err
}

// translate turns what a queue says of itself into the protocol's words: a queue that closed meanwhile is not there.
func (c *connection) translate(err error, m amqp.Method) error {
	if !errors.Is(err, queue.ErrClosed) {
		return err
	}
	name := ""
	switch m := m.(type) {
	case *amqp.BasicConsume:
		name = m.Queue
	case *amqp.BasicGet:
		name = m.Queue
	case *amqp.QueuePurge:
		name = m.Queue
	}
	return amqp.NoQueue(name, c.vhost.Name())
}
