package server

import (
	"net"

	"leveret/amqp"
	"leveret/queue"
)

// ConsumerStatus is a consumer at one moment.
type ConsumerStatus struct {
	Tag        string
	Queue      *queue.Queue
	Consumer   *queue.Consumer // to tell it from others; nothing else may be done with it
	Connection string
	Channel    uint16
	Peer       net.Addr
	User       string
	NoAck      bool
	Exclusive  bool
	Prefetch   int // 0: no limit
	Priority   int
	Timeout    int64      // ms that it may keep a message by what itself, its queue or the configuration says
	Arguments  amqp.Table // must not be changed
}

// Consumers returns all consumers but those of direct replies, in no order. Any goroutine may call it.
func (s *Server) Consumers() []ConsumerStatus {
	var list []ConsumerStatus
	for _, c := range s.snapshot() {
		if c.visible.open.Load() {
			list = c.consumerStatuses(list)
		}
	}
	return list
}

// consumerStatuses leaves out those of direct replies, which have no queue.
func (c *connection) consumerStatuses(list []ConsumerStatus) []ConsumerStatus {
	o := &c.out
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, ch := range o.channels {
		for _, consumer := range ch.consumers {
			if consumer.Queue() != nil {
				list = append(list, consumer.status())
			}
		}
	}
	return list
}

func (c *consumer) status() ConsumerStatus {
	at := c.channel.conn
	return ConsumerStatus{
		Tag: c.Tag, Queue: c.Queue(), Consumer: &c.Consumer, Connection: at.name, Channel: c.channel.number, Peer: at.out.Conn.RemoteAddr(),
		User: at.user.Name(), NoAck: c.NoAck, Exclusive: c.Exclusive, Prefetch: c.EffectivePrefetch(), Priority: c.Priority, Arguments: c.Arguments,
		Timeout: c.statedTimeout(),
	}
}

// statedTimeout is the consumer's timeout in ms. That of the configuration is told for all queues, as it is by RabbitMQ, though it is not applied to all.
func (c *consumer) statedTimeout() int64 {
	if c.timeout != noTimeout {
		return c.timeout
	}
	if of := c.Queue().Settings().ConsumerTimeout; of >= 0 {
		return of
	}
	return c.channel.conn.server.options.ConsumerTimeout.Milliseconds()
}

// ChannelName is the name of the channel that the consumer is on.
func (c *ConsumerStatus) ChannelName() string { return channelName(c.Connection, c.Channel) }
