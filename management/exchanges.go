package management

import (
	"net/http"

	"leveret/amqp"
	"leveret/exchange"
	"leveret/vhost"
)

var exchangeRoutes = []route{
	{path: "/exchanges", group: "Exchanges", operations: []operation{
		{http.MethodGet, managementTag, (*call).listExchanges, "all exchanges", "", false},
	}},
	{path: "/exchanges/{vhost}", group: "Exchanges", operations: []operation{
		{http.MethodGet, vhostUser, (*call).listExchanges, "the exchanges of a virtual host", "", false},
	}},
	{path: "/exchanges/{vhost}/{exchange}", group: "Exchanges", operations: []operation{
		{http.MethodGet, vhostUser, (*call).getExchange, "one exchange; the default exchange is amq.default", "", false},
		{http.MethodPut, vhostUser, (*call).putExchange, "declare an exchange", "type durable auto_delete internal arguments", false},
		{http.MethodDelete, vhostUser, (*call).deleteExchange, "delete an exchange; if-unused=true: only without bindings", "", false},
	}},
	{path: "/exchanges/{vhost}/{exchange}/bindings/source", group: "Exchanges", operations: []operation{
		{http.MethodGet, vhostUser, (*call).bindingsFrom, "the bindings from an exchange", "", false},
	}},
	{path: "/exchanges/{vhost}/{exchange}/bindings/destination", group: "Exchanges", operations: []operation{
		{http.MethodGet, vhostUser, (*call).bindingsToExchange, "the bindings to an exchange", "", false},
	}},
}

// exchangeIn is an exchange with its virtual host.
type exchangeIn struct {
	vhost *vhost.VHost
	*exchange.Exchange
}

// listExchanges lists those of all virtual hosts that the user sees, or of the one in the path.
func (c *call) listExchanges() (reply, error) {
	w, err := windowsOf(c)
	if err != nil {
		return reply{}, err
	}
	var list []exchangeIn
	for _, v := range c.vhostsNamed() {
		v.Exchanges(func(x *exchange.Exchange) bool {
			list = append(list, exchangeIn{v, x})
			return true
		})
	}
	return listing[exchangeIn]{
		items: list,
		id:    func(x exchangeIn) identity { return identity{x.vhost.Name(), x.Name()} },
		show:  func(x exchangeIn) object { return c.api.exchange(x, w.messages) },
		paged: true,
	}.reply(c)
}

// getExchange shows one. incoming and outgoing would be message rates by channel and queue; of those there are counters alone, which are Prometheus': clients expect the fields.
func (c *call) getExchange() (reply, error) {
	w, err := windowsOf(c)
	if err != nil {
		return reply{}, err
	}
	x := c.vhost.Exchange([]byte(c.exchange("exchange")))
	if x == nil {
		return reply{}, notFound()
	}
	o := c.api.exchange(exchangeIn{c.vhost, x}, w.messages)
	o = append(o, field{"incoming", []any{}}, field{"outgoing", []any{}})
	return ok(columnsOf(c).one(o))
}

// An exchange counts what came in and what went out, once a queue: three queues are three.
var exchangeCounters = counters{"publish_in", "publish_out"}

// exchangeSample is an exchange's counters: exchangeCounters.
func exchangeSample(x *exchange.Exchange) []uint64 {
	t := x.Traffic()
	return []uint64{t.In, t.Out}
}

// exchange shows an exchange.
func (a *API) exchange(x exchangeIn, w *window) object {
	opts := x.Options()
	o := object{
		{"name", opts.Name}, {"vhost", x.vhost.Name()}, {"type", opts.Type}, {"durable", opts.Durable}, {"auto_delete", opts.AutoDelete},
		// Who declared what is not kept, so RabbitMQ's name for nobody in particular stands there.
		{"internal", opts.Internal}, {"arguments", opts.Arguments}, {"user_who_performed_action", internalUser},
	}
	// Left out where there is none, as RabbitMQ's list does.
	if policy := x.vhost.PolicyForExchange(x.Exchange).Policy; policy != "" {
		o.add("policy", policy)
	}
	// Left out until the first message, which many thousand exchanges never see.
	if values := exchangeSample(x.Exchange); anyCount(values) {
		o.add("message_stats", exchangeCounters.addTo(nil, values, a.rates.past(x.Exchange, w), 0, w))
	}
	return o
}

// internalUser is who made what nobody in particular has made.
const internalUser = "rmq-internal"

// putExchange declares an exchange with the user's rights, and with the same comparison as over AMQP if it is there: 400 with AMQP's text
// if it differs.
func (c *call) putExchange() (reply, error) {
	if err := c.roomToDeclare(); err != nil {
		return reply{}, err
	}
	name := c.exchange("exchange")
	o, err := c.body()
	if err != nil {
		return reply{}, err
	}
	d, err := exchangeDeclare(name, o)
	if err != nil {
		return reply{}, err
	}
	// The status alone depends on it: the declare compares.
	existed := c.vhost.Exchange([]byte(name)) != nil
	return put(!existed, c.vhost.DeclareExchange(d, c.rights()))
}

// exchangeDeclare reads what a client wants an exchange to be. Unlike with AMQP it does not last if nothing is said.
func exchangeDeclare(name string, o object) (d vhost.ExchangeDeclare, err error) {
	d.Name = name
	if err = shortEnough(amqp.ExchangeResource, name); err != nil {
		return d, err
	}
	kind, isGiven := o.get("type")
	// A type that is no text is as unknown as one that nobody knows.
	if d.Type, _ = kind.(string); isGiven && d.Type == "" {
		return d, badRequest(amqp.InvalidExchangeType(termText(kind)).Explanation())
	}
	if !isGiven {
		// RabbitMQ's default, where AMQP has none.
		d.Type = "direct"
	}
	for _, flag := range []struct {
		name string
		to   *bool
	}{{"durable", &d.Durable}, {"auto_delete", &d.AutoDelete}, {"internal", &d.Internal}} {
		if *flag.to, err = o.boolean(flag.name, false); err != nil {
			return d, err
		}
	}
	arguments, _ := o.get("arguments")
	if d.Arguments, err = fieldTable(arguments); err != nil {
		return d, err
	}
	if exchange.KnownType(d.Type) != nil {
		return d, badRequest(amqp.InvalidExchangeType(d.Type).Explanation()) // here any unknown type is called invalid
	}
	return d, nil
}

// deleteExchange deletes one; if it has bindings and if-unused is asked for, AMQP's error becomes 400.
func (c *call) deleteExchange() (reply, error) {
	name := c.exchange("exchange")
	if c.vhost.Exchange([]byte(name)) == nil {
		return reply{}, notFound()
	}
	err := c.vhost.DeleteExchange(name, c.asked("if-unused"), c.rights())
	if err == nil {
		c.audit("exchange.deleted", "vhost", c.vhost.Name(), "name", name)
	}
	return done(err)
}
