package management

import (
	"net/http"

	"leveret/amqp"
	"leveret/queue"
	"leveret/vhost"
)

var replayRoutes = []route{
	{path: "/queues/{vhost}/{queue}/replay", group: "Messages", operations: []operation{
		{http.MethodPost, administrator, (*call).replay,
			"send a queue's messages back to where they died, or to exchange and routing_key", "exchange routing_key count rate headers dry_run", false},
	}},
}

// replayOf reads what is to be sent where.
func replayOf(o object) (r vhost.Replay, err error) {
	_, elsewhere := o.get("exchange")
	// Without both, each message goes back to where its headers say that it died.
	if _, keyed := o.get("routing_key"); elsewhere || keyed {
		exchange, err := o.text("exchange", "")
		if err != nil {
			return r, err
		}
		key, err := o.text("routing_key", "")
		if err != nil {
			return r, err
		}
		// The API's name for it, amq.default.
		if exchange == defaultExchange {
			exchange = ""
		}
		r.To = &queue.Destination{Exchange: exchange, Key: key}
	}
	// 0 is no limit for both.
	for name, to := range map[string]*int{"count": &r.Limit, "rate": &r.Rate} {
		n, err := o.integer(name, 0)
		if err != nil {
			return r, err
		}
		if n < 0 {
			return r, badRequest(name + " must not be negative")
		}
		*to = int(n)
	}
	if r.DryRun, err = o.boolean("dry_run", false); err != nil {
		return r, err
	}
	r.Wanted, err = wantedHeaders(o)
	return r, err
}

// wantedHeaders makes a filter of the field headers, nil if there is none.
func wantedHeaders(o object) (func(queue.Peeked) bool, error) {
	v, given := o.get("headers")
	if !given {
		return nil, nil
	}
	fields, isObject := v.(object)
	if !isObject {
		return nil, badRequest("headers must be an object")
	}
	headers := make(map[string]string, len(fields))
	for _, f := range fields {
		// Headers are compared as texts, so that 5 in JSON is a header of any width that is 5.
		headers[f.name] = termText(f.value)
	}
	return func(p queue.Peeked) bool { return hasHeaders(p.Message, headers) }, nil
}

// replay sends messages on. It answers when that is done; a client that goes away ends it.
func (c *call) replay() (reply, error) {
	// The messages leave the queue: so the caller must be one who may read them.
	q, err := c.readableQueue()
	if err != nil {
		return reply{}, err
	}
	o, err := c.body()
	if err != nil {
		return reply{}, err
	}
	r, err := replayOf(o)
	if err != nil {
		return reply{}, err
	}
	// Before anything is moved: one that is not there would swallow all.
	if r.To != nil && c.vhost.Exchange([]byte(r.To.Exchange)) == nil {
		return reply{}, missing("exchange_not_found")
	}
	if r.To != nil {
		if err := c.rights().Write(amqp.ExchangeResource, r.To.Exchange); err != nil {
			return reply{}, err
		}
	}
	done, err := c.vhost.Replay(c.request.Context(), q, r)
	if err != nil {
		return reply{}, gone(err)
	}
	if !r.DryRun {
		c.audit("queue.replayed", "vhost", c.vhost.Name(), "name", q.Name(), "messages", done.Sent)
	}
	return ok(object{
		{"examined", done.Examined}, {"matched", done.Matched}, {"sent", done.Sent}, {"without_home", done.Homeless}, {"unroutable", done.Unroutable},
		{"dry_run", r.DryRun},
	})
}
