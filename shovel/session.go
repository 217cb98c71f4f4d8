package shovel

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rabbitmq/amqp091-go"
)

// session is one run of a shovel with both sides connected. All but the connections' callbacks is done by the worker's goroutine.
type session struct {
	*worker
	from, to       *endpoint
	source, target *amqp091.Channel
	deliveries     <-chan amqp091.Delivery
	confirms       chan amqp091.Confirmation // has room for all that can be under way, so that it never holds up the connection
	forwarded      amqp091.Table             // for the header that tells the way; nil: none
	budget         int64                     // how many may be published yet; negative: as many as come
	pending        int                       // published and not settled
	window         int                       // the most that may be pending
	last           bool                      // what is pending is the last
	refused        []uint64                  // by the target; they go back to the source after a while
}

// session connects both sides and moves messages. It returns nil when all are moved that were to be, and ctx's error when that ends.
func (w *worker) session(ctx context.Context) error {
	s := &session{worker: w, window: w.order.prefetch}
	if s.window == 0 {
		s.window = defaultPrefetch
	}
	var err error
	name := fmt.Sprintf("Shovel %s in %s", w.order.name, w.order.vhost)
	if s.from, err = connect(ctx, w.broker, w.order.source.uris, name); err != nil {
		return fmt.Errorf("connect to the source: %w", err)
	}
	defer s.from.close()
	if s.to, err = connect(ctx, w.broker, w.order.target.uris, name); err != nil {
		return fmt.Errorf("connect to the target: %w", err)
	}
	var watching sync.WaitGroup
	defer watching.Wait()
	defer s.to.close()
	blocked := s.to.NotifyBlocked(make(chan amqp091.Blocking))
	watching.Go(func() { // by itself, as a blocked target is what the session's goroutine may be stuck with
		for b := range blocked {
			w.note(func(st *Status) { st.Blocked = b.Active })
		}
	})
	// A target that takes nothing must not keep the shovel from ending.
	defer context.AfterFunc(ctx, func() { s.to.raw.SetWriteDeadline(time.Now().Add(closeTime)) })()
	if err := s.openTarget(); err != nil {
		return fmt.Errorf("target: %w", err)
	}
	queue, err := s.openSource()
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	return s.move(ctx, queue)
}

// move moves messages from the queue until the session is over.
func (s *session) move(ctx context.Context, queue string) error {
	s.budget = s.left
	if s.left == 0 {
		return nil
	}
	sourceGone := s.source.NotifyClose(make(chan *amqp091.Error, 1))
	targetGone := s.target.NotifyClose(make(chan *amqp091.Error, 1))
	var err error
	o := s.order
	s.deliveries, err = s.source.ConsumeWithContext(ctx, queue, o.source.consumer, o.mode == noAck, false, false, false, o.source.consumerArgs)
	if err != nil {
		return fmt.Errorf("consume: %w", err)
	}
	s.note(func(st *Status) { st.State, st.SourceURI, st.TargetURI = Running, s.from.uri, s.to.uri })
	s.tell(Running, "")
	s.log.Info("shovel runs", "from", s.from.uri, "to", s.to.uri)
	comeback := time.NewTicker(s.comebackTime())
	defer comeback.Stop()
	for s.left != 0 {
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e := <-sourceGone:
			return gone("source", e)
		case e := <-targetGone:
			return gone("target", e)
		case d, ok := <-s.next():
			if !ok {
				return errors.New("the source ended the consumer")
			}
			err = s.forward(&d)
		case c, ok := <-s.confirms:
			if !ok {
				return gone("target", <-targetGone)
			}
			err = s.settle(c)
		case <-comeback.C:
			err = s.giveBack()
		case <-s.over: // what is under way is the last
			s.over, s.last, s.budget, s.left = nil, true, 0, int64(s.pending)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// gone says that a side is lost, e is nil if it left without a word.
func gone(side string, e *amqp091.Error) error {
	if e == nil {
		return fmt.Errorf("the %s is gone", side)
	}
	return fmt.Errorf("the %s is gone: %w", side, e)
}

// next is where the next message comes from, nil while none may be published.
func (s *session) next() <-chan amqp091.Delivery {
	if s.budget == 0 || s.pending >= s.window {
		return nil
	}
	return s.deliveries
}

// forward publishes a message.
func (s *session) forward(d *amqp091.Delivery) error {
	t := &s.order.target
	exchange, key := t.address(d)
	if err := s.target.PublishWithContext(context.Background(), exchange, key, false, false, t.publishing(d, s.forwarded, time.Now())); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	if s.budget > 0 {
		s.budget--
	}
	switch s.order.mode {
	case onConfirm:
		s.pending++
		s.note(func(st *Status) { st.Pending = s.pending })
		return nil
	case onPublish:
		if err := d.Ack(false); err != nil {
			return fmt.Errorf("acknowledge: %w", err)
		}
	}
	s.moved(1)
	return nil
}

// moved counts messages that are the target's now.
func (s *session) moved(n int) {
	if s.left > 0 {
		s.left -= int64(n)
	}
	s.note(func(st *Status) {
		st.Forwarded += uint64(n)
		st.Remaining, st.Pending = s.left, s.pending
	})
}
