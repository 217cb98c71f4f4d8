package rabbitmqctl

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"

	"leveret/ctl"
)

// diagnosticVerbs are those of rabbitmq-diagnostics, which container health checks call.
var diagnosticVerbs = []verb{
	{name: "ping", doing: "Will ping the node", run: ping},
	{name: "check_running", doing: "Checking if the broker runs", run: checkRunning},
	// RabbitMQ tells the two apart by their output; the exit code is what scripts use.
	{name: "is_running", doing: "Asking if the broker runs", run: checkRunning},
	{name: "is_booting", doing: "Asking if the broker boots", run: func(s *session, _ []string) error {
		if err := s.get("/version", nil); err != nil {
			return err
		}
		// While a broker starts it does not listen, so whoever is answered is answered by one that has.
		return s.result("RabbitMQ on the node is fully booted")
	}},
	{name: "alarms", doing: "Alarms", run: alarms},
	{name: "check_alarms", doing: "Asking for alarms", run: func(s *session, _ []string) error { return s.check("no alarms", "alarms") }},
	{name: "check_local_alarms", doing: "Asking for local alarms", run: func(s *session, _ []string) error { return s.check("no local alarms", "local-alarms") }},
	{name: "check_virtual_hosts", doing: "Checking the virtual hosts", run: func(s *session, _ []string) error { return s.check("all virtual hosts run", "virtual-hosts") }},
	{name: "check_port_listener", args: "<port>", doing: "Asking for a listener on port {0}", run: func(s *session, args []string) error {
		return s.check("a listener is on port "+args[0], "port-listener", args[0])
	}},
	{name: "check_protocol_listener", args: "<protocol>", doing: "Asking for a listener for {0}", run: func(s *session, args []string) error {
		return s.check("a listener is there for "+args[0], "protocol-listener", args[0])
	}},
	{name: "check_port_connectivity", doing: "Testing connections to all listeners", options: []option{{"address", "", "host to connect to instead"}}, run: checkConnectivity},
	{name: "check_certificate_expiration", doing: "Checking the certificates", options: []option{{"within", "4", "how many units"}, {"unit", "weeks", "days, weeks, months or years"}},
		run: func(s *session, _ []string) error {
			return s.check("no certificate ends within that time", "certificate-expiration", s.flag("within"), s.flag("unit"))
		}},
	{name: "check_if_node_is_quorum_critical", doing: "Checking the quorum", run: func(s *session, _ []string) error { return s.check("it is not critical", "node-is-quorum-critical") }},
	{name: "check_for_quorum_queues_without_an_elected_leader", doing: "Checking the leaders of quorum queues", options: []option{{"across-all-vhosts", "false", "in all virtual hosts"}},
		run: func(s *session, _ []string) error {
			return s.check("each has one", "quorum-queues-without-elected-leaders", "all-vhosts")
		}},
	// Nothing is deprecated here.
	{name: "check_if_any_deprecated_features_are_used", doing: "Checking for deprecated features", run: func(s *session, _ []string) error {
		return s.result("no deprecated feature is used")
	}},
	{name: "check_if_metadata_store_is_initialized", doing: "Checking the metadata store", run: func(s *session, _ []string) error {
		return s.check("it is initialized", "metadata-store", "initialized")
	}},
	{name: "check_if_metadata_store_is_initialized_with_data", doing: "Checking the metadata store", run: func(s *session, _ []string) error {
		return s.check("it is initialized", "metadata-store", "initialized", "with-data")
	}},
	{name: "listeners", doing: "Listeners", run: func(s *session, _ []string) error {
		var overview ctl.Object
		if err := s.get("/overview", &overview); err != nil {
			return err
		}
		return s.say("%s", strings.TrimSuffix(listenerLines(overview), "\n"))
	}},
	{name: "erlang_version", run: func(s *session, _ []string) error {
		_, node, err := s.overviewAndNode()
		if err != nil {
			return err
		}
		return s.say("%s", node.Text("erlang_version"))
	}},
	{name: "list_node_auth_attempt_stats", doing: "Listing authentication attempts", run: authAttempts},
	// In a container that is where RabbitMQ logs too.
	{name: "log_location", run: func(s *session, _ []string) error { return s.say("<stdout>") }},
	// Older ones are not offered, whatever the settings say.
	{name: "tls_versions", doing: "Listing TLS versions", run: func(s *session, _ []string) error { return s.say("tlsv1.3\ntlsv1.2") }},
	{name: "server_version", doing: "Asking for the version", run: version},
	{name: "memory_breakdown", doing: "Reporting memory breakdown", options: []option{{"unit", "", "taken for compatibility"}}, run: memoryBreakdown},
	{name: "os_env", doing: "Environment", run: nothing},
}

// result is what a check says when all is well.
func (s *session) result(text string) error {
	switch {
	// Health checks of orchestrators read it.
	case s.formatter == "json":
		message, _ := json.Marshal(text) // texts always can be
		return s.say(`{"result":"ok","message":%s}`, message)
	case s.quiet || s.silent:
		return nil
	}
	return s.say("%s", text)
}

// ping finds out whether the broker answers; no user is needed for it.
func ping(s *session, _ []string) error {
	if err := s.get("/version", nil); err != nil {
		return err
	}
	if s.silent {
		return nil
	}
	return s.say("Ping succeeded")
}

// checkRunning fails while the broker is suspended, which RabbitMQ's stop_app is.
func checkRunning(s *session, _ []string) error {
	if err := s.get("/health/checks/is-in-service", nil); err != nil {
		return err
	}
	return s.result("RabbitMQ on the node is fully booted and running")
}

// check asks one of the API's health checks.
// What it finds wrong ends with the exit code for that, and with the reason that the API gives.
func (s *session) check(well string, parts ...string) error {
	err := s.get("/health/checks"+ctl.Path(parts...), nil)
	var refused *ctl.Refusal
	if errors.As(err, &refused) && refused.Status == http.StatusServiceUnavailable {
		return refused
	}
	if err != nil {
		return err
	}
	return s.result(well)
}

// alarms lists them and succeeds in any case; check_alarms is the verb that fails.
func alarms(s *session, _ []string) error {
	_, node, err := s.overviewAndNode()
	if err != nil {
		return err
	}
	return s.say("%s", or(strings.Join(alarmsOf(node), "\n"), "no alarms"))
}

// checkConnectivity connects to each listener.
// By TCP alone: a handshake would be a failed login in the log of the broker.
func checkConnectivity(s *session, _ []string) error {
	var overview ctl.Object
	if err := s.get("/overview", &overview); err != nil {
		return err
	}
	var failed []string
	for _, l := range listeners(overview) {
		host := or(s.flag("address"), reachable(l.Text("ip_address")))
		conn, err := new(net.Dialer).DialContext(s.ctx, "tcp", net.JoinHostPort(host, l.Text("port")))
		if err != nil {
			// All are tried, so that one run tells everything.
			failed = append(failed, l.Text("protocol")+": "+err.Error())
			continue
		}
		conn.Close()
	}
	if len(failed) > 0 {
		return &ctl.Unavailable{Cause: errors.New(strings.Join(failed, "; "))}
	}
	return s.result("Successfully connected to all listeners")
}

// reachable turns an address to listen on into one to connect to.
// What listens on all addresses is reached on this machine's own.
func reachable(host string) string {
	switch host {
	case "", "0.0.0.0", "::":
		return "localhost"
	}
	return host
}

// memoryBreakdown prints what takes the memory, in bytes, in order of names.
// Of the parts that RabbitMQ tells apart there are few here: queues, and all.
func memoryBreakdown(s *session, _ []string) error {
	name, err := s.nodeName()
	if err != nil {
		return err
	}
	var answer ctl.Object
	if err := s.get(ctl.Path("nodes", name, "memory"), &answer); err != nil {
		return err
	}
	parts, _ := answer["memory"].(map[string]any)
	out := columnsAndRows{columns: []string{"part", "bytes"}}
	for _, part := range sorted(parts) {
		out.rows = append(out.rows, []any{part, parts[part]})
	}
	return s.print(&out)
}

// authAttempts lists how many logins there were by protocol.
func authAttempts(s *session, _ []string) error {
	name, err := s.nodeName()
	if err != nil {
		return err
	}
	var found []ctl.Object
	if err := s.get(ctl.Path("auth", "attempts", name), &found); err != nil {
		return err
	}
	return s.print(tabled(found, "protocol", "auth_attempts", "auth_attempts_failed", "auth_attempts_succeeded"))
}
