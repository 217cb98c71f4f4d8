package shovel

import (
	"errors"
	"fmt"

	"github.com/rabbitmq/amqp091-go"
)

// openTarget opens the channel to publish on, and makes sure that the queue is there.
func (s *session) openTarget() error {
	t := &s.order.target
	if t.queue != "" {
		if _, err := ensureQueue(s.to, t.queue, t.predeclared, t.queueArgs); err != nil {
			return err
		}
	}
	var err error
	if s.target, err = s.to.Channel(); err != nil {
		return err
	}
	if t.predeclared && t.exchange != nil && *t.exchange != "" {
		if err := s.target.ExchangeDeclarePassive(*t.exchange, amqp091.ExchangeDirect, true, false, false, false, nil); err != nil {
			return err
		}
	}
	if t.forwards {
		s.forwarded = s.order.forwarded(s.node, s.from.uri, s.to.uri)
	}
	if s.order.mode != onConfirm {
		return nil
	}
	if err := s.target.Confirm(false); err != nil {
		return err
	}
	s.confirms = s.target.NotifyPublish(make(chan amqp091.Confirmation, s.window))
	return nil
}

// openSource opens the channel to consume on, and returns the queue to consume from. At the first session it finds out how many messages
// there are to move.
func (s *session) openSource() (queue string, err error) {
	from := &s.order.source
	messages := 0
	if from.queue != "" {
		if messages, err = ensureQueue(s.from, from.queue, from.predeclared, from.queueArgs); err != nil {
			return "", err
		}
	}
	if !s.ended {
		s.left, s.ended = int64(messages), true
		s.note(func(st *Status) { st.Remaining = s.left })
	}
	if s.source, err = s.from.Channel(); err != nil {
		return "", err
	}
	if err := s.source.Qos(s.order.prefetch, 0, false); err != nil {
		return "", err
	}
	if from.queue != "" {
		return from.queue, nil
	}
	own, err := s.source.QueueDeclare("", false, false, true, false, from.queueArgs)
	if err != nil {
		return "", err
	}
	return own.Name, s.source.QueueBind(own.Name, from.key, from.exchange, false, nil)
}

// ensureQueue declares a queue unless there is one, whatever its arguments, and returns how many messages are in it. A predeclared one has to be
// there.
func ensureQueue(e *endpoint, name string, predeclared bool, args amqp091.Table) (messages int, err error) {
	ch, err := e.Channel()
	if err != nil {
		return 0, err
	}
	q, err := ch.QueueDeclarePassive(name, true, false, false, false, nil)
	if err == nil {
		return q.Messages, ch.Close()
	}
	var refusal *amqp091.Error
	if predeclared || !errors.As(err, &refusal) || refusal.Code != amqp091.NotFound {
		return 0, err
	}
	if ch, err = e.Channel(); err != nil { // the last one was closed by the error
		return 0, err
	}
	if _, err := ch.QueueDeclare(name, true, false, false, false, args); err != nil {
		return 0, fmt.Errorf("declare queue '%s': %w", name, err)
	}
	return 0, ch.Close()
}
