package rabbitmqctl

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"leveret/ctl"
)

// nodeVerbs are about the broker as a whole. What has no path in RabbitMQ's API is below /leveret.
var nodeVerbs = []verb{
	{name: "status", doing: "Status of the node", run: status, options: []option{{"unit", "", "taken for compatibility"}}},
	{name: "cluster_status", doing: "Cluster status of the node", run: clusterStatus},
	{name: "environment", doing: "Application environment of the node", run: environment},
	{name: "report", doing: "Reporting server status", run: report},
	{name: "version", run: version},
	{name: "set_cluster_name", args: "<name>", doing: "Setting cluster name to {0}", run: func(s *session, args []string) error {
		return s.put("/cluster-name", map[string]any{"name": args[0]})
	}},
	{name: "stop_app", doing: "Stopping the broker's application", run: func(s *session, _ []string) error { return s.put("/leveret/app", map[string]any{"running": false}) }},
	{name: "start_app", doing: "Starting the broker's application", run: func(s *session, _ []string) error { return s.put("/leveret/app", map[string]any{"running": true}) }},
	// The process id was one to wait for; the API answers before the end.
	{name: "stop", args: "[pid]", doing: "Stopping and halting the node", run: shutdown},
	{name: "shutdown", doing: "Shutting down the node", run: shutdown, options: []option{{"wait", "true", "taken for compatibility"}}},
	{name: "wait", args: "[pidfile]", doing: "Waiting for the node", options: []option{{"pid", "", "taken for compatibility"}}, run: await},
	{name: "await_startup", doing: "Waiting for the node", run: await},
	// A cluster of one has all its nodes as soon as it answers.
	{name: "await_online_nodes", args: "<count>", doing: "Waiting for {0} nodes", run: await},
	{name: "set_vm_memory_high_watermark", args: "<fraction> [bytes]", doing: "Setting memory threshold to {0}", run: setMemoryWatermark},
	{name: "set_disk_free_limit", args: "<bytes> [fraction]", doing: "Setting disk free limit to {0}", run: setDiskLimit},
	// RabbitMQ has a level for each category; here there is one for all.
	{name: "set_log_level", args: "<level> [level]", doing: `Setting log level to "{0}"`, run: func(s *session, args []string) error {
		return s.put("/leveret/log-level", map[string]any{"level": args[len(args)-1]}) // a category may stand before it
	}},
	{name: "force_gc", doing: "Collecting garbage", run: func(s *session, _ []string) error { return s.post("/leveret/collect-garbage", nil) }},
	{name: "rotate_logs", doing: "Rotating logs", run: nothing},
	{name: "enable_feature_flag", args: "<flag>", doing: "Enabling feature flag {0}", run: nothing},
	// Success would be a lie: nothing was thrown away, no cluster was joined.
	{name: "reset", run: alone}, {name: "force_reset", run: alone}, {name: "join_cluster", args: "<node>", run: alone}, {name: "forget_cluster_node", args: "<node>", run: alone},
	{name: "eval", args: "<expression>", run: eval},
}

// nothing is done by verbs for what is always so here: feature flags are on, and logs go to the output.
func nothing(*session, []string) error { return nil }

// shutdown ends the process.
func shutdown(s *session, _ []string) error { return s.post("/leveret/stop", nil) }

// overviewAndNode are what most tells of a node.
// Two calls: the overview knows the node's name, by which the API knows the node.
func (s *session) overviewAndNode() (overview, node ctl.Object, err error) {
	if err = s.get("/overview", &overview); err == nil {
		err = s.get(ctl.Path("nodes", overview.Text("node")), &node)
	}
	return overview, node, err
}

// status prints the sections that people and scripts look for in RabbitMQ's, with its titles.
func status(s *session, _ []string) error {
	overview, node, err := s.overviewAndNode()
	if err != nil {
		return err
	}
	if s.formatter == "json" {
		out := columnsAndRows{columns: []string{"node", "rabbitmq_version", "uptime", "running", "mem_used", "mem_limit", "disk_free", "listeners", "totals"}}
		out.rows = [][]any{{overview["node"], overview["rabbitmq_version"], node["uptime"], true, node["mem_used"], node["mem_limit"], node["disk_free"],
			overview["listeners"], overview["object_totals"]}}
		return s.print(&out)
	}
	var b strings.Builder
	// Titles and names are RabbitMQ's to the letter: monitoring scripts search for them.
	section := func(title string) { fmt.Fprintf(&b, "\n%s\n\n", title) }
	line := func(name string, v any) { fmt.Fprintf(&b, "%s: %v\n", name, v) }
	section("Runtime")
	line("OS PID", node.Text("os_pid"))
	line("Uptime (seconds)", int(node.Number("uptime")/1000)) // the API counts ms
	line("Node name", overview.Text("node"))
	line("RabbitMQ version", overview.Text("rabbitmq_version"))
	section("Alarms")
	b.WriteString(or(strings.Join(alarmsOf(node), "\n"), "(none)") + "\n")
	section("Memory")
	line("Total memory used", ctl.Bytes(node.Number("mem_used")))
	line("Memory high watermark", ctl.Bytes(node.Number("mem_limit")))
	section("Free Disk Space")
	line("Low free disk space watermark", ctl.Bytes(node.Number("disk_free_limit")))
	line("Free disk space", ctl.Bytes(node.Number("disk_free")))
	section("Totals")
	line("Connection count", overview.Text("object_totals.connections"))
	line("Queue count", overview.Text("object_totals.queues"))
	section("Listeners")
	b.WriteString(listenerLines(overview))
	return s.say("%s", strings.Trim(b.String(), "\n"))
}

// alarmsOf are sentences about what is short.
func alarmsOf(node ctl.Object) []string {
	var all []string
	if node["mem_alarm"] == true {
		all = append(all, "Memory alarm on node "+node.Text("name"))
	}
	if node["disk_free_alarm"] == true {
		all = append(all, "Free disk space alarm on node "+node.Text("name"))
	}
	return all
}

// listeners are where the broker listens.
func listeners(overview ctl.Object) []ctl.Object {
	list, _ := overview["listeners"].([]any)
	var all []ctl.Object
	for _, l := range list {
		if o, ok := l.(map[string]any); ok {
			all = append(all, o)
		}
	}
	return all
}

// listenerLines are the lines about listeners that several verbs print.
func listenerLines(overview ctl.Object) string {
	var b strings.Builder
	for _, l := range listeners(overview) {
		fmt.Fprintf(&b, "Interface: %s, port: %s, protocol: %s\n", hostOf(l), l.Text("port"), l.Text("protocol"))
	}
	return b.String()
}

// hostOf is a listener's address as it stands in URLs.
func hostOf(l ctl.Object) string {
	host := l.Text("ip_address")
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// clusterStatus tells of a cluster of one.
// Its form is that of a cluster, as tools wait for their node in the list of running ones.
func clusterStatus(s *session, _ []string) error {
	overview, node, err := s.overviewAndNode()
	if err != nil {
		return err
	}
	name := overview.Text("node")
	if s.formatter == "json" {
		out := columnsAndRows{columns: []string{"cluster_name", "disk_nodes", "ram_nodes", "running_nodes", "partitions", "alarms"}}
		var alarms []any
		for _, a := range alarmsOf(node) {
			alarms = append(alarms, a)
		}
		out.rows = [][]any{{overview["cluster_name"], []any{name}, []any{}, []any{name}, map[string]any{}, alarms}}
		return s.print(&out)
	}
	return s.say("Basics\n\nCluster name: %s\n\nDisk Nodes\n\n%s\n\nRunning Nodes\n\n%s\n\nAlarms\n\n%s\n\nNetwork Partitions\n\n(none)\n\nListeners\n\n%s",
		overview.Text("cluster_name"), name, name, or(strings.Join(alarmsOf(node), "\n"), "(none)"), strings.TrimSuffix(listenerLines(overview), "\n"))
}

// environment prints the effective settings.
func environment(s *session, _ []string) error {
	raw, _, err := s.client.Call(s.ctx, "GET", "/config/effective", nil)
	if err != nil {
		return err
	}
	return s.say("%s", strings.TrimSpace(string(raw)))
}

// report is what one would ask for when something is wrong.
// It goes on through all lists that need no argument; the first that fails ends it, since the broker is gone then.
func report(s *session, _ []string) error {
	if err := status(s, nil); err != nil {
		return err
	}
	for _, l := range lists {
		if !strings.HasSuffix(l.args, ">") && l.path != nil {
			if err := s.say("\n%s", l.verb); err != nil {
				return err
			}
			if err := l.run(s, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// version is that of RabbitMQ whose tool this stands for.
func version(s *session, _ []string) error {
	var overview ctl.Object
	if err := s.get("/overview", &overview); err != nil {
		return err
	}
	return s.say("%s", overview.Text("rabbitmq_version"))
}

// awaitInterval is the time between two attempts to reach the broker.
const awaitInterval = 200 * time.Millisecond

// await waits until clients are let in.
// It has no limit of its own: --timeout is RabbitMQ's for it, and what is answered before is no failure.
func await(s *session, args []string) error {
	if len(args) > 0 {
		// The argument of wait and of await_startup is a file of a process that need not be here.
		if n, err := strconv.Atoi(args[0]); err == nil && n > 1 && s.cmd.Name() == "await_online_nodes" {
			return &ctl.Refusal{Reason: "there is one node, and no more will come"}
		}
	}
	tick := time.NewTicker(awaitInterval)
	defer tick.Stop()
	for {
		err := s.get("/health/checks/ready-to-serve-clients", nil)
		if err == nil {
			return nil
		}
		select {
		case <-s.ctx.Done():
			// What it failed with last says more than that time is up.
			return &ctl.Unavailable{Cause: err, Late: true}
		case <-tick.C:
		}
	}
}

// setMemoryWatermark takes a fraction of the memory, or "absolute" and bytes.
func setMemoryWatermark(s *session, args []string) error {
	body := map[string]any{}
	if args[0] == "absolute" {
		if len(args) < 2 {
			return &ctl.UsageError{Text: "set_vm_memory_high_watermark absolute takes a number of bytes"}
		}
		// The unit may be part of it, as in the configuration file.
		bytes, err := ctl.ParseBytes(args[1])
		if err != nil {
			return err
		}
		body["absolute"] = bytes
	} else {
		fraction, isFraction := fractionOf(args[0])
		if !isFraction {
			return &ctl.UsageError{Text: "the memory watermark is a fraction such as 0.4, or absolute and bytes"}
		}
		body["relative"] = fraction
	}
	return s.put("/leveret/memory-watermark", body)
}

// setDiskLimit takes bytes, or "mem_relative" and a fraction of the memory.
func setDiskLimit(s *session, args []string) error {
	// RabbitMQ's word, beside which "absolute" would be the default.
	if args[0] == "mem_relative" {
		fraction, isFraction := fractionOf(args[len(args)-1])
		if !isFraction {
			return &ctl.UsageError{Text: "set_disk_free_limit mem_relative takes a fraction"}
		}
		return s.put("/leveret/disk-free-limit", map[string]any{"mem_relative": fraction})
	}
	bytes, err := ctl.ParseBytes(args[0])
	if err != nil {
		return err
	}
	return s.put("/leveret/disk-free-limit", map[string]any{"bytes": bytes})
}

// fractionOf reads a share of the memory. Go takes words such as NaN and Inf for numbers too, which JSON can't carry and no limit can be.
func fractionOf(text string) (fraction float64, ok bool) {
	fraction, err := strconv.ParseFloat(text, 64)
	return fraction, err == nil && fraction >= 0 && !math.IsInf(fraction, 1)
}
