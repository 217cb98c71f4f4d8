package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"leveret/amqp"
	"leveret/queue"
	"leveret/vhost"
)

// What an operator changes while the broker runs. All of it may be called from any goroutine, and nothing of it outlives the process.

// Tuning is what clients are offered in connection.tune. It holds for connections that are opened from then on.
type Tuning struct {
	ChannelMax uint16        // channels of a connection; 0 is no limit
	FrameMax   uint32        // bytes; 0 is no limit
	Heartbeat  time.Duration // 0: none is proposed
}

// Tuning returns what clients are offered.
func (s *Server) Tuning() Tuning { return *s.tuning.Load() }

// SetTuning changes it.
func (s *Server) SetTuning(t Tuning) { s.tuning.Store(&t) }

// Suspend does what a stop does, as far as clients see it: nobody is let in any more, all connections are ended (320), and what is not durable is gone.
// It returns when they are gone, or their sockets closed when ctx ends. Resume goes on.
func (s *Server) Suspend(ctx context.Context) error {
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return nil
	}
	s.suspended = s.listeners
	s.closeListenersLocked()
	emptied := make(chan struct{})
	if s.emptied = emptied; len(s.connections) == 0 {
		close(emptied)
		s.emptied = nil
	}
	s.mu.Unlock()
	s.log.Warn("the broker is suspended")
	for _, c := range s.snapshot() {
		c.kill(amqp.NodeStopping())
	}
	select {
	case <-emptied:
	case <-ctx.Done():
		for _, c := range s.snapshot() {
			c.out.Conn.Close()
		}
		<-emptied
	}
	return s.dropTransient()
}

// dropTransient deletes the queues that would not outlive a restart.
func (s *Server) dropTransient() (err error) {
	for _, v := range s.VHosts() {
		var gone []string
		v.Queues(func(q *queue.Queue) bool {
			if !q.Durable() {
				gone = append(gone, q.Name())
			}
			return true
		})
		for _, name := range gone {
			_, failed := v.DeleteQueue(name, false, false, 0, vhost.Unrestricted{})
			err = errors.Join(err, failed)
		}
	}
	return err
}

// Suspended reports whether the server lets nobody in.
func (s *Server) Suspended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing
}

// Resume lets clients in again, at the addresses that were listened on before.
func (s *Server) Resume() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.suspended == nil || s.stopping.Load() {
		return nil
	}
	var list []listener
	for _, l := range s.suspended {
		again, err := net.Listen("tcp", l.Addr().String())
		if err != nil {
			for _, l := range list {
				l.Close()
			}
			return fmt.Errorf("listen for AMQP again: %w", err)
		}
		list = append(list, listener{again, l.tls})
	}
	s.listeners, s.suspended, s.closing = list, nil, false
	for _, l := range list {
		s.readers.Go(func() { s.accept(l) })
	}
	s.log.Warn("the broker goes on")
	return nil
}
