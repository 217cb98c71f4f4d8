package shovel

import (
	"fmt"
	"time"

	"github.com/rabbitmq/amqp091-go"
)

// settle acknowledges at the source what the target has confirmed. Confirms come in the order of the publishes, and that is the order of the
// deliveries, so their tags are the same. All confirms that are there are taken at once, for one acknowledgement.
func (s *session) settle(c amqp091.Confirmation) error {
	var last uint64
	n := 0
	for ok := true; ok; c, ok = s.confirmed() {
		if !c.Ack {
			s.refused = append(s.refused, c.DeliveryTag)
			if n > 0 {
				break // what is acknowledged up to here must not take the refused one along
			}
			continue
		}
		s.pending--
		last = c.DeliveryTag
		n++
		if len(s.refused) > 0 {
			break // one by one, as an acknowledgement of many would settle those that are to go back
		}
	}
	if n == 0 {
		return nil
	}
	if err := s.source.Ack(last, n > 1); err != nil {
		return fmt.Errorf("acknowledge: %w", err)
	}
	s.moved(n)
	return nil
}

// confirmed returns one more confirm if it is there already.
func (s *session) confirmed() (amqp091.Confirmation, bool) {
	select {
	case c, ok := <-s.confirms:
		return c, ok
	default:
		return amqp091.Confirmation{}, false
	}
}

// comebackTime is how long the source waits for messages that the target has refused. Until then they count as under way, so a target that takes
// nothing for long is not asked again and again.
func (s *session) comebackTime() time.Duration {
	if s.order.reconnect > 0 {
		return s.order.reconnect
	}
	return defaultReconnect
}

// giveBack returns to the source what the target has refused, to be tried again.
func (s *session) giveBack() error {
	for _, tag := range s.refused {
		if err := s.source.Nack(tag, false, true); err != nil {
			return fmt.Errorf("return: %w", err)
		}
		s.pending--
		switch {
		case s.last:
			s.left--
		case s.budget >= 0:
			s.budget++
		}
	}
	if len(s.refused) > 0 {
		s.log.Warn("the shovel's target has refused messages, they are tried again", "messages", len(s.refused))
	}
	s.refused = s.refused[:0]
	return nil
}
