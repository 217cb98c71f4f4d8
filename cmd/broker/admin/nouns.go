package admin

// nouns are all kinds of objects.
var nouns = []noun{
	{
		// A declare of a queue that is there checks that it is equivalent, as the protocol's does: hence fixed.
		name: "queue", plural: "queues", short: "queues", fixed: true,
		list: "/queues/{vhost}", item: "/queues/{vhost}/{name}",
		columns: []column{{"vhost", "vhost"}, {"name", "name"}, {"type", "type"}, {"ready", "messages_ready"}, {"unacked", "messages_unacknowledged"},
			{"consumers", "consumers"}, {"(policy)", "policy"}, {"(delayed)", "messages_delayed|some"}, {"(state)", "state"}},
		fields: []field{
			{name: "name", help: "the queue's name"},
			{name: "type", key: "type", help: "classic, quorum or stream", choices: []string{"classic", "quorum", "stream"}},
			{name: "durable", key: "durable", help: "keep it over a restart", kind: boolean, fallback: "true"},
			{name: "auto-delete", key: "auto_delete", help: "delete it with its last consumer", kind: boolean, fallback: "false"},
			{name: "arguments", key: "arguments", help: `further arguments, {"x-max-length": 1000}`, kind: object, fallback: "{}"},
		},
		query:    []field{{name: "if-empty", help: "only if it holds no messages", kind: boolean}, {name: "if-unused", help: "only if it has no consumers", kind: boolean}},
		complete: typeToArgument,
	},
	{
		// The default exchange has no name, and in paths of the API that of amq.default.
		name: "exchange", plural: "exchanges", short: "exchanges", fixed: true,
		list: "/exchanges/{vhost}", item: "/exchanges/{vhost}/{name}",
		columns: []column{{"vhost", "vhost"}, {"name", "name"}, {"type", "type"}, {"durable", "durable"}, {"auto-delete", "auto_delete"},
			{"(internal)", "internal"}, {"(policy)", "policy"}},
		fields: []field{
			{name: "name", help: "the exchange's name"},
			{name: "type", key: "type", help: "direct, fanout, topic, headers, ...", fallback: "direct", choices: exchangeTypes},
			{name: "durable", key: "durable", help: "keep it over a restart", kind: boolean, fallback: "true"},
			{name: "auto-delete", key: "auto_delete", help: "delete it with its last binding", kind: boolean, fallback: "false"},
			{name: "internal", key: "internal", help: "clients may not publish to it", kind: boolean, fallback: "false"},
			{name: "arguments", key: "arguments", help: `further arguments, {"alternate-exchange": "rest"}`, kind: object, fallback: "{}"},
		},
		query: []field{{name: "if-unused", help: "only if nothing is bound to it", kind: boolean}},
	},
	{
		name: "binding", plural: "bindings", short: "bindings",
		list: "/bindings/{vhost}",
		columns: []column{{"vhost", "vhost"}, {"source", "source"}, {"destination", "destination"}, {"kind", "destination_type"}, {"routing key", "routing_key"},
			{"(arguments)", "arguments"}},
		readOnly: true, // what identifies a binding is in no path: see binding.go
	},
	{
		// Connections and channels are made by clients. `close connection` ends one.
		name: "connection", plural: "connections", short: "connections",
		list: "/connections", item: "/connections/{name}", readOnly: true, ofVHost: true,
		columns: []column{{"name", "name"}, {"client", "user_provided_name"}, {"user", "user"}, {"vhost", "vhost"}, {"channels", "channels"}, {"(state)", "state"}},
		fields:  []field{{name: "name", help: "the connection's name"}},
	},
	{
		name: "channel", plural: "channels", short: "channels",
		list: "/channels", item: "/channels/{name}", readOnly: true, ofVHost: true,
		columns: []column{{"name", "name"}, {"user", "user"}, {"consumers", "consumer_count"}, {"prefetch", "prefetch_count"}, {"unacked", "messages_unacknowledged"},
			{"(unconfirmed)", "messages_unconfirmed"}, {"(state)", "state"}},
		fields: []field{{name: "name", help: "the channel's name"}},
	},
	{
		// A consumer by itself has no path to be shown at: a tag is unique on its channel alone.
		name: "consumer", plural: "consumers", short: "consumers", list: "/consumers/{vhost}", readOnly: true,
		columns: []column{{"queue", "queue.name"}, {"tag", "consumer_tag"}, {"channel", "channel_details.name"}, {"prefetch", "prefetch_count"},
			{"(ack)", "ack_required"}, {"(active)", "active"}},
	},
	{
		// Kept for scripts that look for the node's figures where RabbitMQ's tools have them.
		name: "node", plural: "nodes", short: "nodes: there is one", list: "/nodes", item: "/nodes/{name}", readOnly: true,
		columns: []column{{"name", "name"}, {"running", "running"}, {"memory", "mem_used|bytes"}, {"memory alarm", "mem_alarm"}, {"disk free", "disk_free|bytes"},
			{"disk alarm", "disk_free_alarm"}, {"(sockets)", "sockets_used"}},
		fields: []field{{name: "name", help: "the node's name"}},
	},
	{
		// Likewise: upgrade scripts look whether all are enabled.
		name: "feature_flag", plural: "feature_flags", short: "feature flags: all are on", list: "/feature-flags", readOnly: true,
		columns: []column{{"name", "name"}, {"state", "state"}, {"(stability)", "stability"}},
	},
	{
		name: "deprecated_feature", plural: "deprecated_features", short: "deprecated features: none is used", list: "/deprecated-features", readOnly: true,
		columns: []column{{"name", "name"}, {"state", "state"}},
	},
}

// exchangeTypes are those that there are.
var exchangeTypes = []string{"direct", "fanout", "topic", "headers", "x-consistent-hash", "x-modulus-hash", "x-random", "x-local-random", "x-recent-history",
	"x-delayed-message", "x-jms-topic"}

// typeToArgument: the API knows a queue's type as an argument.
func typeToArgument(body map[string]any) {
	if kind, ok := body["type"]; ok {
		arguments, _ := body["arguments"].(map[string]any)
		arguments["x-queue-type"] = kind
		delete(body, "type")
	}
}

// In three tables, as one file would be too long.
func init() { nouns = append(append(nouns, rightsNouns...), shovelNoun) }
