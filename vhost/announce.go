package vhost

import (
	"time"

	"leveret/amqp"
	"leveret/queue"
	"leveret/store"
)

// The exchanges on which the broker tells of what it does. Clients bind to them, and can't publish there.
const (
	TraceExchange = "amq.rabbitmq.trace" // of messages, in the virtual host that they are in
	EventExchange = "amq.rabbitmq.event" // of what happens in the broker, in the default virtual host
	LogExchange   = "amq.rabbitmq.log"   // what is in the log, there too
)

// Tracing reports whether messages in this virtual host are to be traced. It costs an atomic load.
func (v *VHost) Tracing() bool { return v.metadata.Load().Tracing }

// Listened reports whether anything is bound to an exchange, so that it is worth while to announce something there.
func (v *VHost) Listened(exchange string) bool {
	x := v.Exchange([]byte(exchange))
	return x != nil && x.Len() > 0
}

// Announce publishes a message of the broker's own to one of its exchanges. It waits for nothing: messages for durable queues are on their
// way to the log when it returns. The key is cut to what a short string holds; the body is copied.
func (v *VHost) Announce(exchange, key string, p *amqp.Properties, body []byte) {
	x := v.Exchange([]byte(exchange))
	if x == nil {
		return
	}
	m := amqp.AppendMessageAddress(nil, []byte(exchange), []byte(key[:min(len(key), maxKey)]))
	properties := p.AppendTo(nil)
	m = append(append(m, properties...), body...)
	var index amqp.PropertyIndex
	if err := amqp.ScanProperties(properties, &index); err != nil {
		v.opts.Log.Error("a message of the broker's own was not published", "exchange", exchange, "key", key, "error", err)
		return
	}
	amqp.Message(m).SetProperties(len(properties), &index, time.Now().UnixMilli())
	var r Routing
	r.Keys, r.Headers = [][]byte{amqp.Message(m).RoutingKey()}, index.Headers
	v.Route(x, &r)
	v.hand(m, r.Queues)
}

// maxKey is how long, in bytes, a routing key may be.
const maxKey = 255

// hand pushes one message to queues, by way of the log if it belongs there.
func (v *VHost) hand(m amqp.Message, queues []*queue.Queue) {
	var logged store.Batch
	pairs := make([]int, len(queues)) // where each queue stands among the pairs of the log's record, -1 for nowhere
	for i, q := range queues {
		if pairs[i] = -1; !q.Logs(m) {
			continue
		}
		if logged.Len() == 0 {
			logged.Publish(m, 0)
		}
		pairs[i] = len(logged.Pairs())
		logged.To(q.Options().ID)
	}
	push := func() {
		for i, q := range queues {
			b := queue.NewBatch()
			b.Add(m, nil)
			receipt := q.Push(b)
			if receipt.Run {
				go q.Run()
			}
			if pairs[i] >= 0 {
				logged.Pairs()[pairs[i]].Seq = receipt.Place(0)
			}
		}
	}
	if logged.Len() > 0 {
		v.opts.Store.Append(&logged, push)
	} else {
		push()
	}
}
