package management

import (
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
	"net/http"
	"net/url"
	"strings"

	"leveret/amqp"
	"leveret/exchange"
	"leveret/queue"
	"leveret/vhost"
)

var bindingRoutes = []route{
	{path: "/bindings", group: "Bindings", operations: []operation{
		{http.MethodGet, managementTag, (*call).listBindings, "all bindings", "", false},
	}},
	{path: "/bindings/{vhost}", group: "Bindings", operations: []operation{
		{http.MethodGet, vhostUser, (*call).listBindings, "the bindings of a virtual host", "", false},
	}},
	{path: "/bindings/{vhost}/e/{exchange}/{kind}/{destination}", group: "Bindings", operations: []operation{
		{http.MethodGet, vhostUser, (*call).bindingsBetween, "the bindings from an exchange to a queue (kind q) or an exchange (kind e)", "", false},
		{http.MethodPost, vhostUser, (*call).bind, "make a binding", "routing_key arguments", false},
	}},
	{path: "/bindings/{vhost}/e/{exchange}/{kind}/{destination}/{props}", group: "Bindings", operations: []operation{
		{http.MethodGet, vhostUser, (*call).getBinding, "one binding, by its properties_key", "", false},
		{http.MethodDelete, vhostUser, (*call).unbind, "remove a binding", "", false},
	}},
}

// binding is a binding with its ends.
type binding struct {
	// The default exchange has the empty name here, and amq.default in paths.
	vhost, source, destination string
	toExchange                 bool   // else to a queue
	key                        string // the binding key; the API calls it routing_key
	arguments                  amqp.Table
	hash                       string // of the arguments, empty without
}

// newBinding is a binding as an exchange knows it, with its names. The hash is of the canonical form of its arguments, in which the order of the
// fields does not count.
func newBinding(v *vhost.VHost, source string, b *exchange.Binding) binding {
	n := binding{vhost: v.Name(), source: source, destination: b.Destination.Name(), toExchange: b.ToExchange(), key: b.Key, arguments: b.Arguments}
	if len(b.Arguments) > 0 {
		n.hash = argumentsHash(b.CanonicalArguments())
	}
	return n
}

// implicit is the binding of every queue to the default exchange.
func implicit(v *vhost.VHost, name string) binding {
	// AMQP 0-9-1, exchange "": each queue is bound to it by its name, and nobody can change that.
	return binding{vhost: v.Name(), destination: name, key: name}
}

// argumentsHash tells bindings apart that differ in their arguments alone.
func argumentsHash(canonical string) string {
	// 32 bits are what RabbitMQ's hash has too. Bindings between the same two ends with the same key that differ in their arguments are
	// few, and the hash only has to tell these apart.
	h := fnv.New32a()
	h.Write([]byte(canonical))
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, h.Sum32()))
}

// propertiesKey is what a binding is called in paths: its key, percent-encoded, and the hash of its arguments.
func (b *binding) propertiesKey() string {
	// A tilde separates the key from the hash, so one in the key has to be encoded though URLs do not ask for it.
	key := strings.ReplaceAll(url.QueryEscape(b.key), "~", "%7E")
	if b.hash == "" && key != "" {
		return key
	}
	return key + "~" + b.hash
}

// kind is what the destination is, by the word that stands in answers; paths have its first letter.
func (b *binding) kind() string {
	if b.toExchange {
		return "exchange"
	}
	return "queue"
}

// show is a binding as every list and GET shows it.
func (b *binding) show() object {
	return object{
		{"source", b.source}, {"vhost", b.vhost}, {"destination", b.destination}, {"destination_type", b.kind()}, {"routing_key", b.key},
		{"arguments", b.arguments}, {"properties_key", b.propertiesKey()},
	}
}

// replyBindings lists bindings, in order of their source.
func (c *call) replyBindings(list []binding) (reply, error) {
	return listing[binding]{
		items: list,
		id: func(b binding) identity {
			// All that tells one binding from another, so that pages and sorting have one order.
			return identity{b.vhost, strings.Join([]string{b.source, b.kind(), b.destination, b.key, b.hash}, "\x00")}
		},
		show: func(b binding) object { return b.show() },
	}.reply(c)
}

// listBindings lists those of the virtual hosts that the user sees, with those that queues have to the default exchange.
func (c *call) listBindings() (reply, error) {
	var list []binding
	for _, v := range c.vhostsNamed() {
		list = append(list, implicitBindings(v)...)
		v.Exchanges(func(x *exchange.Exchange) bool {
			list = append(list, bindingsOf(v, x)...)
			return true
		})
	}
	return c.replyBindings(list)
}

// implicitBindings are one for each queue.
func implicitBindings(v *vhost.VHost) (list []binding) {
	v.Queues(func(q *queue.Queue) bool {
		list = append(list, implicit(v, q.Name()))
		return true
	})
	return list
}

// bindingsOf are those of an exchange as source, of this moment.
func bindingsOf(v *vhost.VHost, x *exchange.Exchange) (list []binding) {
	bindings := x.Bindings()
	for i := range bindings {
		list = append(list, newBinding(v, x.Name(), &bindings[i]))
	}
	return list
}

// bindingsFrom lists the bindings of an exchange as source; those of one that is not there are none.
func (c *call) bindingsFrom() (reply, error) {
	name := c.exchange("exchange")
	if name == "" {
		return c.replyBindings(implicitBindings(c.vhost))
	}
	x := c.vhost.Exchange([]byte(name))
	// RabbitMQ answers with an empty list here, where GET of the exchange itself answers 404.
	if x == nil {
		return ok([]object{})
	}
	return c.replyBindings(bindingsOf(c.vhost, x))
}

// bindingsToExchange lists the bindings of an exchange as destination. There is none from the default exchange to an exchange.
func (c *call) bindingsToExchange() (reply, error) {
	return c.replyBindings(bindingsTo(c.vhost, c.exchange("exchange"), true))
}

// bindingsToQueue lists the bindings to a queue: also the one to the default exchange of a queue that is not there.
func (c *call) bindingsToQueue() (reply, error) {
	name := c.path("queue")
	return c.replyBindings(append(bindingsTo(c.vhost, name, false), implicit(c.vhost, name)))
}

// bindingsTo finds the bindings to a destination in all exchanges: the virtual host knows them by source alone.
func bindingsTo(v *vhost.VHost, name string, toExchange bool) (list []binding) {
	d := destination(v, name, toExchange)
	if d == nil {
		return nil
	}
	v.Exchanges(func(x *exchange.Exchange) bool {
		list = append(list, bindingsBetween(v, x, d)...)
		return true
	})
	return list
}

// bindingsBetween are those from one exchange to one destination: several, if their keys or arguments differ.
func bindingsBetween(v *vhost.VHost, x *exchange.Exchange, d exchange.Destination) (list []binding) {
	bindings := x.BindingsTo(d)
	for i := range bindings {
		list = append(list, newBinding(v, x.Name(), &bindings[i]))
	}
	return list
}

// destination finds the queue or exchange of a name, nil if there is none.
func destination(v *vhost.VHost, name string, toExchange bool) exchange.Destination {
	if toExchange {
		if x := v.Exchange([]byte(name)); x != nil {
			return x
		}
	} else if q := findQueue(v, name); q != nil {
		return q
	}
	return nil
}

// toExchange reads the kind of a destination in a path.
func (c *call) toExchange() (bool, error) {
	switch c.path("kind") {
	case "e":
		return true, nil
	case "q":
		return false, nil
	}
	return false, notFound()
}

// destinationName is the name of the destination that the path gives.
func (c *call) destinationName(toExchange bool) string {
	if toExchange {
		return c.exchange("destination")
	}
	return c.path("destination")
}

// between are the bindings that the path is about.
func (c *call) between() ([]binding, error) {
	toExchange, err := c.toExchange()
	if err != nil {
		return nil, err
	}
	name := c.destinationName(toExchange)
	d := destination(c.vhost, name, toExchange)
	x := c.vhost.Exchange([]byte(c.exchange("exchange")))
	switch {
	case d == nil || x == nil:
		return nil, nil
	// The bindings to the default exchange are stored nowhere: routing there is by the queue's name.
	case x.Name() == "" && !toExchange:
		return []binding{implicit(c.vhost, name)}, nil
	}
	return bindingsBetween(c.vhost, x, d), nil
}

// bindingsBetween lists them. Ends that are not there have none, which is no error for RabbitMQ.
func (c *call) bindingsBetween() (reply, error) {
	list, err := c.between()
	if err != nil {
		return reply{}, err
	}
	return c.replyBindings(list)
}

// binding is the one that the path names.
func (c *call) binding() (*binding, error) {
	list, err := c.between()
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].propertiesKey() == c.path("props") {
			return &list[i], nil
		}
	}
	return nil, notFound()
}

// getBinding shows the one that the path names by its properties_key.
func (c *call) getBinding() (reply, error) {
	b, err := c.binding()
	if err != nil {
		return reply{}, err
	}
	return ok(columnsOf(c).one(b.show()))
}

// bind makes a binding. Where it is afterwards is told relative to the path, its name encoded once more.
func (c *call) bind() (reply, error) {
	if err := c.roomToDeclare(); err != nil {
		return reply{}, err
	}
	toExchange, err := c.toExchange()
	if err != nil {
		return reply{}, err
	}
	o, err := c.body()
	if err != nil {
		return reply{}, err
	}
	key, err := o.text("routing_key", "")
	if err != nil {
		return reply{}, err
	}
	// Checked here, since AMQP's decoder would have done it before.
	if len(key) > maxShortString {
		return reply{}, tooLong("routing_key", key)
	}
	given, _ := o.get("arguments")
	arguments, err := fieldTable(given)
	if err != nil {
		return reply{}, err
	}
	// Made from what was asked for: who binds twice the same is told the same name.
	b := binding{destination: c.destinationName(toExchange), key: key, arguments: arguments}
	if len(arguments) > 0 {
		b.hash = argumentsHash((&exchange.Binding{Arguments: arguments}).CanonicalArguments())
	}
	source := c.exchange("exchange")
	if toExchange {
		err = c.vhost.BindExchange(b.destination, source, key, arguments, c.rights())
	} else {
		err = c.vhost.BindQueue(b.destination, source, key, arguments, nobody, c.rights())
	}
	if err != nil {
		return reply{}, err
	}
	// Clients resolve it against the path of the request, which ends in the destination.
	location := url.PathEscape(c.path("destination")) + "/" + url.QueryEscape(b.propertiesKey())
	return reply{status: http.StatusCreated, location: location}, nil
}

// nobody owns no exclusive queue: calls of the API come from no connection.
const nobody vhost.Owner = 0

// unbind removes it, with the rights that queue.unbind or exchange.unbind ask for over AMQP.
func (c *call) unbind() (reply, error) {
	b, err := c.binding()
	if err != nil {
		return reply{}, err
	}
	if b.toExchange {
		err = c.vhost.UnbindExchange(b.destination, b.source, b.key, b.arguments, c.rights())
	} else {
		err = c.vhost.UnbindQueue(b.destination, b.source, b.key, b.arguments, nobody, c.rights())
	}
	if err == nil {
		c.audit("binding.deleted", "vhost", c.vhost.Name(), "source", b.source, "destination", b.destination, "routing_key", b.key)
	}
	return done(err)
}
