package admin

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"leveret/ctl"

	"github.com/spf13/cobra"
)

// statusCommand is the broker at a glance: who, how long, how much, and what is wrong.
func (s *session) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Aliases: []string{"overview"}, Short: "Tell how the broker is", Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return s.status(cmd) },
	}
}

// status puts the overview and the node together.
func (s *session) status(cmd *cobra.Command) error {
	var overview ctl.Object
	raw, err := s.get(cmd.Context(), "/overview", &overview)
	if err != nil {
		return err
	}
	if s.json {
		return printJSON(cmd.OutOrStdout(), raw)
	}
	// Two calls, as only the first knows what the node is called.
	var node ctl.Object
	if _, err := s.get(cmd.Context(), ctl.Path("nodes", overview.Text("node")), &node); err != nil {
		return err
	}
	return s.print(cmd.OutOrStdout(), statusTable(overview, node))
}

// productOf is what runs there, and as which version of RabbitMQ it speaks to tools. RabbitMQ itself lists its applications too, and many of them.
func productOf(overview, node ctl.Object) string {
	as := overview.Text("product_name") + " " + overview.Text("product_version")
	applications, _ := node["applications"].([]any)
	// The name is RabbitMQ's, for the tools that insist on it; what runs there stands among the applications.
	if len(applications) != 1 {
		return as
	}
	one, _ := applications[0].(map[string]any)
	return strings.TrimSpace(ctl.Text(one["name"])+" "+ctl.Text(one["version"])) + ", as " + as
}

// statusTable has a line for each fact: its name, and the value with what it is measured against.
func statusTable(overview, node ctl.Object) *ctl.Table {
	t := new(ctl.Table)
	line := func(title, format string, args ...any) {
		t.Rows = append(t.Rows, []string{title, fmt.Sprintf(format, args...)})
	}
	line("node", "%s", overview.Text("node"))
	line("version", "%s", productOf(overview, node))
	// The API counts ms.
	line("up", "%v", (time.Duration(node.Number("uptime")) * time.Millisecond).Round(time.Second))
	line("memory", "%s of %s%s", ctl.Bytes(node.Number("mem_used")), ctl.Bytes(node.Number("mem_limit")), alarm(node["mem_alarm"]))
	line("disk free", "%s, at least %s%s", ctl.Bytes(node.Number("disk_free")), ctl.Bytes(node.Number("disk_free_limit")), alarm(node["disk_free_alarm"]))
	// RabbitMQ, which this tool works with too, limits sockets; this broker does not.
	if total := node.Number("sockets_total"); total > 0 {
		line("sockets", "%s of %.0f", node.Text("sockets_used"), total)
	}
	for _, kind := range []string{"connections", "channels", "exchanges", "queues", "consumers"} {
		line(kind, "%s", overview.Text("object_totals."+kind))
	}
	line("messages", "%.0f ready, %.0f unacked", overview.Number("queue_totals.messages_ready"), overview.Number("queue_totals.messages_unacknowledged"))
	line("published", "%.0f/s", overview.Number("message_stats.publish_details.rate"))
	line("delivered", "%.0f/s", overview.Number("message_stats.deliver_get_details.rate"))
	listeners, _ := overview["listeners"].([]any)
	for _, l := range listeners {
		l, _ := l.(map[string]any)
		line("listener", "%s %s", ctl.Text(l["protocol"]), net.JoinHostPort(ctl.Text(l["ip_address"]), ctl.Text(l["port"])))
	}
	return t
}

// alarm is what is added to the number whose limit is passed.
func alarm(on any) string {
	if on == true {
		return ", ALARM: publishers are held"
	}
	return ""
}

// alarmsCommand by itself is a health check; below it are commands that raise an alarm, to see what clients do then.
func (s *session) alarmsCommand() *cobra.Command {
	cmd := group("alarms", "Tell which alarms hold publishers; exit code 65 if any does", s.alarmCommand("raise", http.MethodPut, "Hold publishers as if memory or disk were short", "the alarm for %s is raised"),
		s.alarmCommand("clear", http.MethodDelete, "End an alarm that was raised so", "the alarm for %s is not raised any more"))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return s.check(cmd, "no alarms", "alarms") }
	return cmd
}

// alarmCommand raises an alarm, or ends it, to try out what clients do.
func (s *session) alarmCommand(verb, method, short, done string) *cobra.Command {
	resources := []string{"memory", "disk"}
	return &cobra.Command{
		Use: verb + " memory|disk", Short: short, Args: usage(cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs)), ValidArgs: resources,
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, _, err := s.call(cmd.Context(), method, ctl.Path("leveret", "alarms", args[0]), nil); err != nil {
				return err
			}
			return s.say(cmd, done, args[0])
		},
	}
}

// checks are the health checks of the API.
// Their names have underscores here, as commands do, and hyphens in the API; both are understood.
var checks = []struct{ name, short, argument string }{
	{"alarms", "no alarm anywhere", ""},
	{"local_alarms", "no alarm on this node", ""},
	{"virtual_hosts", "all virtual hosts run", ""},
	{"ready_to_serve_clients", "clients are let in", ""},
	{"is_in_service", "the node is in service", ""},
	{"port_listener", "something listens on a port", "PORT"},
	{"protocol_listener", "something listens for a protocol", "PROTOCOL"},
	{"certificate_expiration", "no certificate ends soon", "WITHIN UNIT"},
	{"below_node_connection_limit", "further connections are taken", ""},
	{"node_is_quorum_critical", "no queue would stop with this node", ""},
	{"reached_target_cluster_size", "all nodes are there", ""},
}

// healthCommand by itself asks what a load balancer would: whether clients are let in.
func (s *session) healthCommand() *cobra.Command {
	cmd := group("health_check", "Ask for the broker's health; exit code 65 if it is bad")
	cmd.Aliases = []string{"health", "health-check"}
	cmd.Args = usage(cobra.NoArgs)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return s.check(cmd, "ok", "ready-to-serve-clients") }
	for _, c := range checks {
		path := strings.ReplaceAll(c.name, "_", "-")
		cmd.AddCommand(&cobra.Command{
			Use: strings.TrimSpace(c.name + " " + c.argument), Aliases: names(c.name, path), Short: "Check that " + c.short, Args: usage(cobra.ExactArgs(len(strings.Fields(c.argument)))),
			RunE: func(cmd *cobra.Command, args []string) error {
				return s.check(cmd, "ok", append([]string{path}, args...)...)
			},
		})
	}
	return cmd
}

// check asks one health check.
func (s *session) check(cmd *cobra.Command, well string, parts ...string) error {
	raw, _, err := s.call(cmd.Context(), http.MethodGet, "/health/checks"+ctl.Path(parts...), nil)
	if err != nil {
		return unhealthy(err)
	}
	if s.json {
		return printJSON(cmd.OutOrStdout(), raw)
	}
	return s.say(cmd, "%s", well)
}

// unhealthy adds to a check's reason which alarms there are, or which port or protocol nobody listens for.
// So that one line says what to look after: an orchestrator's log has no more.
func unhealthy(err error) error {
	refused, ok := err.(*ctl.Refusal)
	if !ok {
		return err
	}
	var answer struct {
		Alarms  []ctl.Object
		Missing any
	}
	// What can't be decoded is some proxy's answer; then the reason is all that there is.
	if ctl.Decode(refused.Body, &answer) == nil {
		if answer.Missing != nil {
			refused.Reason += ": " + ctl.Text(answer.Missing)
		}
		for _, a := range answer.Alarms {
			refused.Reason += ": " + a.Text("resource") + " on " + a.Text("node")
		}
	}
	return refused
}
