package management

import (
	"net"
	"runtime"
	"strconv"
	"strings"

	"leveret/exchange"
	"leveret/queue"
	"leveret/vhost"
)

// retention says for how many seconds curves can be had.
var retention = object{
	{"global", []any{600, 3600, 28800, 86400}}, {"basic", []any{600, 3600}}, {"detailed", []any{600}},
}

// overview is the whole broker at a glance.
func (c *call) overview() (reply, error) {
	w, err := windowsOf(c)
	if err != nil {
		return reply{}, err
	}
	a := c.api
	o := object{
		{"management_version", a.options.ProductVersion}, {"rates_mode", "basic"}, {"sample_retention_policies", retention},
		{"exchange_types", exchangeTypes()}, {"product_version", a.options.ProductVersion}, {"product_name", "RabbitMQ"},
		{"rabbitmq_version", a.options.ProductVersion}, {"broker", "Leveret"}, {"broker_version", a.options.Version},
		{"cluster_name", a.clusterName()}, {"cluster_tags", a.clusterTags()}, {"node_tags", object{}},
		{"default_queue_type", "classic"},
		{"erlang_version", runtime.Version()}, {"erlang_full_version", runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH},
		{"crypto_lib_version", "Go crypto/tls"},
		{"disable_stats", false}, {"enable_queue_totals", false}, {"is_op_policy_updating_enabled", true},
		{"require_definition_json_extension", false},
		{"object_totals", c.objectTotals()}, {"node", a.options.Node},
	}
	// Some agents ask every second for the version alone, and say so.
	// Nothing of it is measured then.
	if c.asked("disable_stats") {
		return ok(columnsOf(c).whole().one(o))
	}
	st := a.server.Stats()
	// Counters of now, and rates of the samples: the two need not agree to the message.
	values, h := a.nodeSample(&st), a.rates.past(nodeKey{}, w.any())
	messages := publishCounters.addTo(nil, values[nodePublishAt:], h, nodePublishAt, w.messages)
	messages = deliveryCounters.addTo(messages, values[nodeDeliverAt:], h, nodeDeliverAt, w.messages)
	messages = storeCounters.addTo(messages, values[nodeStoreAt:], h, nodeStoreAt, w.messages)
	o = append(o,
		field{"message_stats", messages},
		field{"churn_rates", churnCounters.addTo(nil, values[nodeChurnAt:], h, nodeChurnAt, w.messages)},
		field{"queue_totals", lengthCounters.addTo(nil, values[nodeLengthAt:], h, nodeLengthAt, w.lengths)},
		field{"statistics_db_event_queue", 0},
		field{"listeners", a.listeners()}, field{"contexts", a.contexts()},
	)
	return ok(columnsOf(c).whole().one(o))
}

// objectTotals counts what the user may see.
// Connections and channels are the user's own unless it may see all; the rest is of the virtual hosts that it may open.
func (c *call) objectTotals() object {
	var exchanges, queues, consumers int
	for _, v := range c.visible() {
		counts := v.Counts()
		exchanges += counts.Exchanges
		queues += counts.Queues
		// As of each queue's last turn: nobody is asked or held up.
		v.Queues(func(q *queue.Queue) bool {
			consumers += q.Stats().Consumers
			return true
		})
	}
	connections, channels := len(c.connections()), len(c.channels())
	return object{
		{"channels", channels}, {"connections", connections}, {"consumers", consumers}, {"exchanges", exchanges}, {"queues", queues},
	}
}

// exchangeTypes are the kinds of exchanges that can be declared.
func exchangeTypes() []object {
	var list []object
	for _, t := range exchangeTypeNames {
		if exchange.KnownType(t) == nil { // nil: no error, it is known
			list = append(list, object{{"name", t}, {"description", exchangeTypeDescriptions[t]}, {"enabled", true}})
		}
	}
	return list
}

// exchangeTypeNames are those that clients may ask for; which of them this build knows is asked of the exchanges.
var exchangeTypeNames = []string{
	"direct", "fanout", "headers", "topic", "x-consistent-hash", "x-modulus-hash", "x-random", "x-local-random", "x-recent-history",
	"x-delayed-message",
}

// exchangeTypeDescriptions are for people, in the list of types that clients can declare.
var exchangeTypeDescriptions = map[string]string{
	"direct":            "routes by the whole routing key",
	"fanout":            "routes to everything that is bound",
	"headers":           "routes by headers of the message",
	"topic":             "routes by patterns of the routing key",
	"x-consistent-hash": "spreads messages by a hash, and moves few when bindings change",
	"x-modulus-hash":    "spreads messages by a hash",
	"x-random":          "routes to one of the bindings at random",
	"x-local-random":    "routes to one of the bindings at random",
	"x-recent-history":  "routes to everything, and gives new bindings the last messages",
	"x-delayed-message": "routes each message after the delay that it asks for",
}

// listeners are the addresses that the broker listens on.
func (a *API) listeners() []object {
	list := []object{}
	for _, l := range a.options.Listeners() {
		host, port := splitAddress(l.Address)
		list = append(list, object{
			{"node", a.options.Node}, {"protocol", l.Protocol}, {"ip_address", host}, {"port", port}, {"tls", l.TLS},
		})
	}
	return list
}

// contexts are the HTTP listeners, as web applications. Ports are texts there.
// Health checks find the port of the API by them.
func (a *API) contexts() []object {
	list := []object{}
	for _, l := range a.options.Listeners() {
		description, isWeb := contextDescriptions[l.Protocol]
		if !isWeb {
			continue
		}
		host, port := splitAddress(l.Address)
		o := object{
			{"ssl_opts", []any{}}, {"node", a.options.Node}, {"description", description}, {"path", "/"}, {"ip", host}, {"port", strconv.Itoa(port)},
			{"cowboy_opts", "[]"}, {"tls", l.TLS},
		}
		if strings.Contains(l.Protocol, "/") {
			o.add("protocol", "'"+l.Protocol+"'") // as RabbitMQ prints it, and for this context alone
		}
		list = append(list, o)
	}
	return list
}

// contextDescriptions are RabbitMQ's names for its web applications, by protocol: tools look for the API's port by them.
var contextDescriptions = map[string]string{
	"http": "RabbitMQ Management", "https": "RabbitMQ Management", "http/prometheus": "RabbitMQ Prometheus", "https/prometheus": "RabbitMQ Prometheus",
}

// splitAddress is the address of a listener in two parts.
func splitAddress(address string) (host string, port int) {
	host, text, _ := net.SplitHostPort(address)
	port, _ = strconv.Atoi(text)
	return host, port
}

// vhostsNamed are the virtual hosts of the path, or all that the user sees if it names none.
func (c *call) vhostsNamed() []*vhost.VHost {
	if c.vhost != nil {
		return []*vhost.VHost{c.vhost}
	}
	return c.visible()
}
