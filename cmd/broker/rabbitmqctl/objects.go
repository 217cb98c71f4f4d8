package rabbitmqctl

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"

	"leveret/ctl"
)

var permissionVerbs = []verb{
	{name: "set_permissions", args: "<user> <configure> <write> <read>", doing: `Setting permissions for user "{0}" in vhost "{vhost}"`, run: func(s *session, args []string) error {
		return s.setPermissions(s.vhost, args)
	}},
	// One call for each virtual host; it stops at the first that fails.
	{name: "set_permissions_globally", args: "<user> <configure> <write> <read>", doing: `Setting permissions for user "{0}" in all vhosts`, run: func(s *session, args []string) error {
		var vhosts []ctl.Object
		err := s.get("/vhosts", &vhosts)
		for _, v := range vhosts {
			if err == nil {
				err = s.setPermissions(v.Text("name"), args)
			}
		}
		return err
	}},
	{name: "clear_permissions", args: "<user>", doing: `Clearing permissions for user "{0}" in vhost "{vhost}"`, run: func(s *session, args []string) error {
		return mayLack(s.delete(ctl.Path("permissions", s.vhost, args[0])))
	}},
	{name: "set_topic_permissions", args: "<user> <exchange> <write> <read>", doing: `Setting topic permissions on "{1}" for user "{0}" in vhost "{vhost}"`, run: func(s *session, args []string) error {
		return s.put(ctl.Path("topic-permissions", s.vhost, args[0]), map[string]any{"exchange": args[1], "write": args[2], "read": args[3]})
	}},
	// Without an exchange, of all.
	{name: "clear_topic_permissions", args: "<user> [exchange]", doing: `Clearing topic permissions for user "{0}" in vhost "{vhost}"`, run: func(s *session, args []string) error {
		return mayLack(s.delete(ctl.Path(append([]string{"topic-permissions", s.vhost}, args...)...)))
	}},
}

// setPermissions sets all three expressions of a user in a virtual host.
func (s *session) setPermissions(vhost string, args []string) error {
	return s.put(ctl.Path("permissions", vhost, args[0]), map[string]any{"configure": args[1], "write": args[2], "read": args[3]})
}

// mayLack forgives that there is nothing to clear.
// RabbitMQ's tool succeeds then, and scripts clear before they set.
func mayLack(err error) error {
	if ctl.IsMissing(err) {
		return nil
	}
	return err
}

var vhostVerbs = []verb{
	{name: "add_vhost", args: "<vhost>", doing: `Adding vhost "{0}"`, options: []option{{"description", "", "a text for people"}, {"tags", "", "names with commas"}, {"default-queue-type", "", "type of queues that are declared without one"}},
		run: func(s *session, args []string) error { return s.putVHost(args[0]) }},
	{name: "update_vhost_metadata", args: "<vhost>", doing: `Updating metadata of vhost "{0}"`, options: []option{{"description", "", "a text for people"}, {"tags", "", "names with commas"}, {"default-queue-type", "", "type of queues that are declared without one"}},
		run: func(s *session, args []string) error {
			if err := s.get(ctl.Path("vhosts", args[0]), nil); err != nil {
				return err
			}
			return s.putVHost(args[0])
		}},
	{name: "set_vhost_tags", args: "<vhost> [tag] [...]", doing: `Setting tags for vhost "{0}"`, run: func(s *session, args []string) error {
		if err := s.get(ctl.Path("vhosts", args[0]), nil); err != nil {
			return err
		}
		return s.put(ctl.Path("vhosts", args[0]), map[string]any{"tags": strings.Join(args[1:], ",")})
	}},
	{name: "delete_vhost", args: "<vhost>", doing: `Deleting vhost "{0}"`, run: func(s *session, args []string) error { return s.delete(ctl.Path("vhosts", args[0])) }},
	// There is nothing to restart, but one that is not there is an error.
	{name: "restart_vhost", doing: `Restarting vhost "{vhost}"`, run: func(s *session, _ []string) error { return s.get(ctl.Path("vhosts", s.vhost), nil) }},
	{name: "set_vhost_limits", args: "<limits>", doing: `Setting vhost limits to "{0}" for vhost "{vhost}"`, run: func(s *session, args []string) error {
		return s.setLimits(args[0], "vhost-limits", s.vhost)
	}},
	{name: "clear_vhost_limits", doing: `Clearing vhost "{vhost}" limits`, run: func(s *session, _ []string) error {
		return s.clearLimits("all", []string{"max-connections", "max-queues", "max-messages", "max-bytes"}, "vhost-limits", s.vhost) // all: RabbitMQ has the first two alone
	}},
	{name: "enable_vhost_deletion_protection", args: "<vhost>", doing: `Protecting vhost "{0}" from deletion`, run: func(s *session, args []string) error {
		return s.post(ctl.Path("vhosts", args[0], "deletion", "protection"), nil)
	}},
	{name: "disable_vhost_deletion_protection", args: "<vhost>", doing: `Letting vhost "{0}" be deleted`, run: func(s *session, args []string) error {
		return s.delete(ctl.Path("vhosts", args[0], "deletion", "protection"))
	}},
	// A PUT of one field leaves the others.
	{name: "trace_on", doing: `Starting tracing for vhost "{vhost}"`, run: func(s *session, _ []string) error {
		return s.put(ctl.Path("vhosts", s.vhost), map[string]any{"tracing": true})
	}},
	{name: "trace_off", doing: `Stopping tracing for vhost "{vhost}"`, run: func(s *session, _ []string) error {
		return s.put(ctl.Path("vhosts", s.vhost), map[string]any{"tracing": false})
	}},
}

// putVHost makes a virtual host, or changes what was given and leaves the rest.
func (s *session) putVHost(name string) error {
	body := map[string]any{}
	for flag, key := range map[string]string{"description": "description", "tags": "tags", "default-queue-type": "default_queue_type"} {
		// An option that was not given and one that is empty can't be told apart, as in RabbitMQ: neither changes anything.
		if v := s.flag(flag); v != "" {
			body[key] = v
		}
	}
	return s.put(ctl.Path("vhosts", name), body)
}

// policyOptions are those of both kinds of policies.
var policyOptions = []option{{"priority", "0", "of those that fit, the highest applies"}, {"apply-to", "all", "all, queues, classic_queues, quorum_queues, streams or exchanges"}}

var ruleVerbs = []verb{
	// The texts of the arguments are repeated to the letter, as RabbitMQ does.
	{name: "set_policy", args: "<name> <pattern> <definition>", doing: `Setting policy "{0}" for pattern "{1}" to "{2}" with priority "{priority}" for vhost "{vhost}"`, options: policyOptions,
		run: func(s *session, args []string) error { return s.setPolicy("policies", args) }},
	{name: "clear_policy", missing: noParameter, args: "<name>", doing: `Clearing policy "{0}" on vhost "{vhost}"`, run: func(s *session, args []string) error { return s.delete(ctl.Path("policies", s.vhost, args[0])) }},
	{name: "set_operator_policy", args: "<name> <pattern> <definition>", doing: `Setting operator policy override "{0}" for pattern "{1}" to "{2}" with priority "{priority}" for vhost "{vhost}"`, options: policyOptions,
		run: func(s *session, args []string) error { return s.setPolicy("operator-policies", args) }},
	{name: "clear_operator_policy", missing: noParameter, args: "<name>", doing: `Clearing operator policy "{0}" on vhost "{vhost}"`, run: func(s *session, args []string) error {
		return s.delete(ctl.Path("operator-policies", s.vhost, args[0]))
	}},
	{name: "set_parameter", args: "<component> <name> <value>", doing: `Setting runtime parameter "{1}" for component "{0}" in vhost "{vhost}"`, run: func(s *session, args []string) error {
		return s.putJSON(args[2], "value", ctl.Path("parameters", args[0], s.vhost, args[1]), map[string]any{})
	}},
	{name: "clear_parameter", missing: noParameter, args: "<component> <name>", doing: `Clearing runtime parameter "{1}" for component "{0}" on vhost "{vhost}"`, run: func(s *session, args []string) error {
		return s.delete(ctl.Path("parameters", args[0], s.vhost, args[1]))
	}},
	{name: "set_global_parameter", args: "<name> <value>", doing: `Setting global runtime parameter "{0}"`, run: func(s *session, args []string) error {
		return s.putJSON(args[1], "value", ctl.Path("global-parameters", args[0]), map[string]any{})
	}},
	{name: "clear_global_parameter", missing: noParameter, args: "<name>", doing: `Clearing global runtime parameter "{0}"`, run: func(s *session, args []string) error {
		return s.delete(ctl.Path("global-parameters", args[0]))
	}},
}

// setPolicy sets a policy of either kind. The definition goes on as it was written; the broker validates it.
// priority is a text here and a number there: what is no JSON number would break the body.
func (s *session) setPolicy(kind string, args []string) error {
	body := map[string]any{"pattern": args[1], "apply-to": s.flag("apply-to"), "priority": json.RawMessage(s.flag("priority"))}
	if !json.Valid([]byte(s.flag("priority"))) {
		return &ctl.UsageError{Text: "--priority is a number"}
	}
	return s.putJSON(args[2], "definition", ctl.Path(kind, s.vhost, args[0]), body)
}

// putJSON puts a body of which one field was given as JSON.
// The text itself is sent: to decode and encode it would change the order of keys and round large numbers.
func (s *session) putJSON(given, field, path string, body map[string]any) error {
	if !json.Valid([]byte(given)) {
		return &ctl.Refusal{Reason: field + " is no JSON: " + given}
	}
	body[field] = json.RawMessage(given)
	return s.put(path, body)
}

// matchingPolicies lists the policies that fit a queue, the one that applies first.
func matchingPolicies(s *session, args []string) error {
	var found ctl.Object
	// Our own path: RabbitMQ computes it on the node.
	if err := s.get(ctl.Path("queues", s.vhost, args[0], "policy"), &found); err != nil {
		return err
	}
	out := columnsAndRows{columns: []string{"name", "applies"}}
	for _, kind := range []string{"policy", "operator_policy"} {
		if found[kind] != nil {
			out.rows = append(out.rows, []any{found[kind], true})
		}
	}
	skipped, _ := found["policy_skipped"].([]any)
	for _, p := range skipped {
		if p, ok := p.(map[string]any); ok {
			out.rows = append(out.rows, []any{p["name"], false})
		}
	}
	return s.print(&out)
}

var objectVerbs = []verb{
	{name: "list_policies_that_match", missing: noQueue, args: "<queue>", doing: `Listing policies that match queue '{0}' in vhost '{vhost}'`, run: matchingPolicies},
	{name: "delete_queue", missing: noQueue, args: "<queue>", doing: `Deleting queue '{0}' on vhost '{vhost}'`, options: []option{{"if-empty", "false", "only if it holds no messages"}, {"if-unused", "false", "only if it has no consumers"}},
		run: deleteQueue},
	{name: "purge_queue", missing: noQueue, args: "<queue>", doing: `Purging queue '{0}' in vhost '{vhost}'`, run: func(s *session, args []string) error {
		return s.delete(ctl.Path("queues", s.vhost, args[0], "contents"))
	}},
	{name: "close_connection", args: "<pid> <reason>", doing: `Closing connection {0}, reason: {1}`, run: closeConnection},
	{name: "close_all_connections", args: "<reason>", doing: `Closing connections, reason: {0}`, options: []option{{"limit", "0", "how many at most"}, {"per-connection-delay", "0", "taken for compatibility"}, {"global", "false", "those of all virtual hosts"}}, run: closeAllConnections},
	{name: "close_all_user_connections", args: "<user> <reason>", doing: `Closing connections of user {0}, reason: {1}`, run: func(s *session, args []string) error {
		return s.delete(ctl.Path("connections", "username", args[0]))
	}},
	{name: "export_definitions", args: "[file]", run: exportDefinitions, options: []option{{"format", "json", "json alone"}}},
	{name: "import_definitions", args: "[file]", doing: "Importing definitions", run: importDefinitions, options: []option{{"format", "json", "json alone"}, {"skip-if-unchanged", "false", "taken for compatibility"}}},
}

// deleteQueue tells how many messages went with the queue, which the API does not: they are counted just before.
func deleteQueue(s *session, args []string) error {
	path, between := ctl.Path("queues", s.vhost, args[0]), "?"
	var queue ctl.Object
	if err := s.get(path, &queue); err != nil {
		return err
	}
	for _, name := range []string{"if-empty", "if-unused"} {
		if s.flag(name) == "true" {
			path += between + name + "=true"
			between = "&"
		}
	}
	if err := s.delete(path); err != nil {
		return inUse(err)
	}
	return s.hint("Queue was successfully deleted with %.0f messages", queue.Number("messages_ready"))
}

// inUse is RabbitMQ's word for why a queue is not deleted.
func inUse(err error) error {
	for reason, text := range map[string]string{"not empty": "Queue is not empty", "in use": "Queue is in use"} {
		if strings.HasSuffix(err.Error(), reason) {
			return &failure{text, ctl.ExitUsage}
		}
	}
	return err
}

// closeConnection closes the connection whose token, or name, is given.
func closeConnection(s *session, args []string) error {
	var open []ctl.Object
	if err := s.get("/connections", &open); err != nil {
		return err
	}
	for _, c := range open {
		if name := c.Text("name"); name == args[0] || pid(c.Text("node"), name) == args[0] {
			return s.delete(ctl.Path("connections", name))
		}
	}
	return &ctl.Refusal{Status: http.StatusNotFound, Reason: "there is no connection " + args[0]}
}

// closeAllConnections closes those of all virtual hosts, as long as none is named.
func closeAllConnections(s *session, _ []string) error {
	path := "/connections"
	if s.cmd.Flags().Changed("vhost") {
		path = ctl.Path("vhosts", s.vhost, "connections")
	}
	var open []ctl.Object
	if err := s.get(path, &open); err != nil {
		return err
	}
	closed := 0
	for _, c := range open {
		if s.flag("limit") == ctl.Text(float64(closed)) && closed > 0 {
			break
		}
		if err := mayLack(s.delete(ctl.Path("connections", c.Text("name")))); err != nil {
			return err
		}
		closed++
	}
	if s.quiet {
		return nil
	}
	return s.say("Closed %d connections", closed)
}

// exportDefinitions writes to a file, or to the output for "-".
func exportDefinitions(s *session, args []string) error {
	raw, _, err := s.client.Call(s.ctx, http.MethodGet, "/definitions", nil)
	if err != nil {
		return err
	}
	if len(args) == 0 || args[0] == "-" {
		return s.say("%s", raw)
	}
	return os.WriteFile(args[0], raw, 0o600) // hashes of passwords are in it
}

// importDefinitions reads from a file, or from the input.
func importDefinitions(s *session, args []string) error {
	name := "/dev/stdin"
	if len(args) > 0 && args[0] != "-" {
		name = args[0]
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return &ctl.UsageError{Text: strings.TrimSpace(err.Error())}
	}
	return s.post("/definitions", text)
}
