package rabbitmqctl

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"leveret/ctl"
)

// list is a verb that lists objects.
type list struct {
	verb    string                                 // what RabbitMQ calls it
	doing   string                                 // said before; see verb
	path    func(s *session, args []string) string // of the list in the API; nil: the tool knows by itself
	columns []string                               // without arguments
	fixed   bool                                   // it takes no columns
	args    string                                 // of a fixed one
	fields  map[string]string                      // columns that the API calls otherwise
	texts   []string                               // columns that are JSON as a text
	shape   func(o ctl.Object)                     // completes an object; nil: as it is
}

// listVerbs are all of them.
func listVerbs() []verb {
	var all []verb
	for _, l := range lists {
		v := verb{name: l.verb, doing: l.doing, args: "[column] [...]", run: l.run}
		if l.fixed {
			v.args = l.args
		}
		all = append(all, v)
	}
	return all
}

// inVHost is a path that ends in the virtual host.
func inVHost(parts ...string) func(*session, []string) string {
	return func(s *session, _ []string) string { return ctl.Path(append(slices.Clone(parts), s.vhost)...) }
}

// at is a path that is the same for all virtual hosts.
func at(parts ...string) func(*session, []string) string {
	return func(*session, []string) string { return ctl.Path(parts...) }
}

var lists = []list{
	// The first line is RabbitMQ's, which asks each node for its queues.
	{verb: "list_queues", doing: "Timeout: {timeout} seconds ...\nListing queues for vhost {vhost}", path: inVHost("queues"), columns: []string{"name", "messages"},
		shape: func(o ctl.Object) { o["pid"] = pid(o.Text("node"), o.Text("name")) }},
	{verb: "list_exchanges", doing: "Listing exchanges for vhost {vhost}", path: inVHost("exchanges"), columns: []string{"name", "type"}},
	{verb: "list_bindings", doing: "Listing bindings for vhost {vhost}", path: inVHost("bindings"),
		columns: []string{"source_name", "source_kind", "destination_name", "destination_kind", "routing_key", "arguments"},
		fields:  map[string]string{"source_name": "source", "destination_name": "destination", "destination_kind": "destination_type"},
		shape:   func(o ctl.Object) { o["source_kind"] = "exchange" }},
	{verb: "list_connections", doing: "Listing connections", path: at("connections"), columns: []string{"user", "peer_host", "peer_port", "state"},
		shape: func(o ctl.Object) { o["pid"] = pid(o.Text("node"), o.Text("name")) }},
	// The pid of a channel and that of its connection, by which scripts join the two lists.
	{verb: "list_channels", doing: "Listing channels", path: at("channels"), columns: []string{"pid", "user", "consumer_count", "messages_unacknowledged"},
		shape: func(o ctl.Object) {
			o["pid"], o["connection"] = pid(o.Text("node"), o.Text("name")), pid(o.Text("node"), o.Text("connection_details.name"))
		}},
	{verb: "list_consumers", doing: "Listing consumers in vhost {vhost}", path: inVHost("consumers"),
		columns: []string{"queue_name", "channel_pid", "consumer_tag", "ack_required", "prefetch_count", "active", "arguments"},
		fields:  map[string]string{"queue_name": "queue.name"},
		shape: func(o ctl.Object) {
			o["channel_pid"] = pid(o.Text("channel_details.node"), o.Text("channel_details.name"))
		}},
	{verb: "list_vhosts", doing: "Listing vhosts", path: at("vhosts"), columns: []string{"name"}},
	// In brackets, as an Erlang list of atoms is printed.
	{verb: "list_users", doing: "Listing users", path: at("users"), columns: []string{"user", "tags"}, fixed: true, fields: map[string]string{"user": "name"},
		shape: func(o ctl.Object) { o["tags"] = "[" + o.Text("tags") + "]" }},
	{verb: "list_hashes", doing: "Listing supported hashing algorithms", columns: []string{"algorithm"}, fixed: true},
	{verb: "list_permissions", doing: "Listing permissions for vhost {vhost}", columns: []string{"user", "configure", "write", "read"}, fixed: true,
		path: func(s *session, _ []string) string { return ctl.Path("vhosts", s.vhost, "permissions") }},
	{verb: "list_user_permissions", doing: "Listing permissions for user {0}", columns: []string{"vhost", "configure", "write", "read"}, fixed: true, args: "<user>",
		path: func(_ *session, args []string) string { return ctl.Path("users", args[0], "permissions") }},
	{verb: "list_topic_permissions", doing: "Listing topic permissions for vhost {vhost}", columns: []string{"user", "exchange", "write", "read"}, fixed: true,
		path: func(s *session, _ []string) string { return ctl.Path("vhosts", s.vhost, "topic-permissions") }},
	{verb: "list_user_topic_permissions", doing: "Listing topic permissions for user {0}", columns: []string{"vhost", "exchange", "write", "read"}, fixed: true, args: "<user>",
		path: func(_ *session, args []string) string { return ctl.Path("users", args[0], "topic-permissions") }},
	// The definition is JSON as a text, even in JSON: so RabbitMQ has it.
	{verb: "list_policies", doing: "Listing policies for vhost {vhost}", path: inVHost("policies"),
		columns: []string{"vhost", "name", "pattern", "apply-to", "definition", "priority"}, fixed: true, texts: []string{"definition"}},
	{verb: "list_operator_policies", doing: "Listing operator policy overrides for vhost {vhost}", path: inVHost("operator-policies"),
		columns: []string{"vhost", "name", "pattern", "apply-to", "definition", "priority"}, fixed: true, texts: []string{"definition"}},
	// The API has no path for all of one virtual host: run picks those.
	{verb: "list_parameters", doing: "Listing runtime parameters for vhost {vhost}", path: at("parameters"), columns: []string{"component", "name", "value"}, fixed: true, texts: []string{"value"}},
	{verb: "list_global_parameters", doing: "Listing global runtime parameters", path: at("global-parameters"), columns: []string{"name", "value"}, fixed: true, texts: []string{"value"}},
	{verb: "list_vhost_limits", doing: "Listing limits for vhost {vhost}", path: inVHost("vhost-limits"), columns: []string{"vhost", "limits"}, fixed: true,
		fields: map[string]string{"limits": "value"}, texts: []string{"limits"}},
	{verb: "list_user_limits", doing: "Listing limits of users", path: at("user-limits"), columns: []string{"user", "limits"}, fixed: true,
		fields: map[string]string{"limits": "value"}, texts: []string{"limits"}},
	{verb: "list_feature_flags", doing: "Listing feature flags", path: at("feature-flags"), columns: []string{"name", "state"}},
	{verb: "list_deprecated_features", doing: "Listing deprecated features", path: at("deprecated-features"), columns: []string{"name", "state"}},
}

// hashes are how passwords are kept.
var hashes = []string{"rabbit_password_hashing_sha512", "rabbit_password_hashing_sha256", "rabbit_password_hashing_md5"}

// run lists, with the columns that are asked for. They are looked up in the API's answer under RabbitMQ's names for them.
func (l *list) run(s *session, args []string) error {
	columns := l.columns
	if !l.fixed && len(args) > 0 {
		// What is named replaces the default columns, in the order that it is named in.
		columns = nil
		for _, arg := range args { // "name,messages" is taken as well as "name messages"
			columns = append(columns, strings.FieldsFunc(arg, func(r rune) bool { return r == ',' || r == ' ' })...)
		}
	}
	objects, err := l.objects(s, args)
	if err != nil {
		return err
	}
	if err := l.known(columns, objects); err != nil {
		return err
	}
	out := columnsAndRows{columns: columns}
	for _, o := range objects {
		// The API lists a component's parameters in a virtual host, and all of them everywhere, but not all in one virtual host.
		if l.verb == "list_parameters" && o.Text("vhost") != s.vhost {
			continue
		}
		if l.shape != nil {
			// Before the columns are looked up, as it makes some of them.
			l.shape(o)
		}
		row := make([]any, len(columns))
		for i, name := range columns {
			// A path: effective names may lie deeper in the API's objects.
			row[i] = o.At(or(l.fields[name], name))
			if slices.Contains(l.texts, name) {
				text, err := json.Marshal(row[i])
				if err != nil {
					return err
				}
				row[i] = string(text)
			}
		}
		out.rows = append(out.rows, row)
	}
	return s.print(&out)
}

// absentKeys are columns that RabbitMQ has and that objects here lack, always or at times.
// Asking for one is no mistake: the cell is empty.
var absentKeys = strings.Fields(`policy operator_policy effective_policy_definition pid owner_pid exclusive_consumer_pid exclusive_consumer_tag slave_pids synchronised_slave_pids
	leader members online messages_ready_ram messages_unacknowledged_ram messages_ram messages_persistent message_bytes_ram message_bytes_persistent
	head_message_timestamp disk_reads disk_writes consumer_utilisation consumer_capacity single_active_consumer_tag mirror_pids
	peer_cert_subject peer_cert_issuer peer_cert_validity ssl_protocol ssl_key_exchange ssl_cipher ssl_hash last_blocked_by last_blocked_age ssl_login_name
	channel_pid connection source_kind user_who_performed_action client_flow reductions garbage_collection transactional open_files internal_owner`)

// known refuses columns that nothing has. Where nothing is listed it can't be told.
func (l *list) known(columns []string, objects []ctl.Object) error {
	// So a script that asks for nonsense of an empty broker is not told.
	if len(objects) == 0 {
		return nil
	}
	var unknown []string
	for _, name := range columns {
		field := or(l.fields[name], name)
		// A field that is null is there too.
		has := func(o ctl.Object) bool {
			_, own := o[field]
			return own || o.At(field) != nil
		}
		if !slices.Contains(absentKeys, name) && !slices.ContainsFunc(objects, has) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		return &failure{"Error (argument validation): Info key(s) " + strings.Join(unknown, ",") + " are not supported", ctl.ExitUsage}
	}
	return nil
}

// objects asks for what is to be listed.
// In the order of the API, by virtual host and name, which RabbitMQ's tool does not promise.
func (l *list) objects(s *session, args []string) (objects []ctl.Object, err error) {
	// The one list that needs no broker.
	if l.path == nil {
		for _, name := range hashes {
			objects = append(objects, ctl.Object{"algorithm": name})
		}
		return objects, nil
	}
	return objects, s.get(l.path(s, args), &objects)
}

// pid is a token for an object, of the form that RabbitMQ's process ids have. It is made of the name alone, so whoever lists the objects can tell again which
// one is meant.
func pid(node, name string) string {
	return fmt.Sprintf("<%s.1.%d.0>", node, crc32.ChecksumIEEE([]byte(name)))
}
