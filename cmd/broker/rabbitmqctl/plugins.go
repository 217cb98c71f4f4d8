package rabbitmqctl

import (
	"slices"
	"strings"

	"leveret/ctl"
)

// builtIn are the plugins of RabbitMQ whose work this broker does by itself: scripts that enable them may go on.
var builtIn = strings.Fields(`rabbitmq_consistent_hash_exchange rabbitmq_delayed_message_exchange rabbitmq_event_exchange rabbitmq_management rabbitmq_management_agent
	rabbitmq_message_deduplication rabbitmq_peer_discovery_k8s rabbitmq_prometheus rabbitmq_random_exchange rabbitmq_recent_history_exchange rabbitmq_sharding
	rabbitmq_shovel rabbitmq_shovel_management`)

// pluginVerbs are those of rabbitmq-plugins. There is nothing to switch on or off; what is not here can't be enabled, and the tool says so.
var pluginVerbs = []verb{
	{name: "list", args: "[pattern]", doing: "Listing plugins", options: []option{
		{"enabled", "false", "all are"}, {"implicitly-enabled", "false", "none is"}, {"verbose", "false", "taken for compatibility"}, {"minimal", "false", "names alone"},
	}, run: listPlugins},
	{name: "enable", args: "<plugin> [...]", doing: "Enabling plugins", options: []option{{"all", "false", "all that are here"}}, run: enablePlugins},
	{name: "set", args: "<plugin> [...]", doing: "Enabling plugins", run: enablePlugins},
	// What is built in goes on: a script that switches something off has lost nothing.
	{name: "disable", args: "<plugin> [...]", doing: "Disabling plugins", options: []option{{"all", "false", "taken for compatibility"}}, run: nothing},
	{name: "is_enabled", args: "<plugin> [...]", doing: "Asking whether plugins are enabled", run: enablePlugins},
	{name: "directories", run: nothing},
}

// listPlugins prints the plugins that RabbitMQ would need for what is built in; E stands for enabled, * for running.
func listPlugins(s *session, args []string) error {
	for _, name := range builtIn {
		if len(args) > 0 && !strings.Contains(name, args[0]) {
			continue
		}
		line := "[E*] " + name
		if s.flag("minimal") == "true" || s.silent {
			line = name
		}
		if err := s.say("%s", line); err != nil {
			return err
		}
	}
	return nil
}

// enablePlugins makes sure that all plugins are among those that are here.
// It is is_enabled too, whose answer is the exit code.
func enablePlugins(s *session, args []string) error {
	var unknown []string
	for _, arg := range args {
		for name := range strings.SplitSeq(arg, ",") {
			if !slices.Contains(builtIn, name) {
				unknown = append(unknown, name)
			}
		}
	}
	if len(unknown) > 0 {
		return &failure{"Error:\nThe following plugins are not here: " + strings.Join(unknown, ", "), ctl.ExitSoftware}
	}
	return s.hint("The following plugins are built in: %s", strings.Join(args, ", "))
}
