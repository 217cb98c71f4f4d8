package rabbitmqctl_test

import (
	"strings"
	"testing"

	"leveret/ctl/ctltest"
)

// TestOutput: scripts read these texts, so they are compared to the byte.
func TestOutput(t *testing.T) {
	a := ctltest.New(t, answers)
	const table = "name\tmessages\njobs\t3\na\\tb\t0\n"
	tests := []struct{ args, want string }{
		{"list_queues", "Timeout: 60.0 seconds ...\nListing queues for vhost / ...\n" + table},
		{"list_queues -q", table},
		{"-q list_queues -n rabbit@other", table},
		{"list_queues -s", "jobs\t3\na\\tb\t0\n"},
		{"list_queues -q --no-table-headers", "jobs\t3\na\\tb\t0\n"},
		{"list_queues -q name,durable policy arguments", "name\tdurable\tpolicy\targuments\njobs\ttrue\t\t[{\"x-max-length\",10},{\"x-overflow\",\"drop-head\"}]\na\\tb\tfalse\t\t[]\n"},
		{"list_queues --formatter json name arguments", "[\n{\"name\":\"jobs\",\"arguments\":{\"x-max-length\":10,\"x-overflow\":\"drop-head\"}}\n,{\"name\":\"a\\tb\",\"arguments\":{}}\n]\n"},
		{"list_queues --formatter csv", "name,messages\njobs,3\na\\tb,0\n"},
		{"list_queues --formatter erlang", "[[{name,\"jobs\"},{messages,3}],\n [{name,\"a\\tb\"},{messages,0}]]\n"},
		{"list_queues -q --formatter pretty_table", "┌──────┬──────────┐\n│ name │ messages │\n├──────┼──────────┤\n│ jobs │ 3        │\n│ a\\tb │ 0        │\n└──────┴──────────┘\n"},
		{"list_connections -q", "user\tpeer_host\tpeer_port\tstate\nguest\t127.0.0.1\t51234\trunning\n"},
		{"list_connections -q pid peer_port client_properties", "pid\tpeer_port\tclient_properties\n<leveret@h.1.2237316579.0>\t51234\t" +
			"[{\"capabilities\",[{\"basic.nack\",true}]},{\"connection_name\",\"app\"}]\n"},
		{"list_bindings -q", "source_name\tsource_kind\tdestination_name\tdestination_kind\trouting_key\targuments\norders\texchange\tjobs\tqueue\tk\t[]\n"},
		{"list_users", "Listing users ...\nuser\ttags\nguest\t[administrator, monitoring]\napp\t[]\n"},
		{"list_permissions", "Listing permissions for vhost / ...\nuser\tconfigure\twrite\tread\nguest\t.*\t.*\t.*\n"},
		{"list_parameters -q", "component\tname\tvalue\nshovel\ts\t{\"a\":1}\n"},
		{"list_policies", "Listing policies for vhost / ...\nvhost\tname\tpattern\tapply-to\tdefinition\tpriority\n/\tp\t^a\tqueues\t{\"max-length\":1}\t0\n"},
		{"list_policies -q --formatter json", "[\n{\"vhost\":\"/\",\"name\":\"p\",\"pattern\":\"^a\",\"apply-to\":\"queues\",\"definition\":\"{\\\"max-length\\\":1}\",\"priority\":0}\n]\n"},
		{"list_queues -p none", "Timeout: 60.0 seconds ...\nListing queues for vhost none ...\n"},
		{"list_queues -p none -q --formatter json", "[\n]\n"},
		{"list_queues -q name slave_pids", "name\tslave_pids\njobs\t\na\\tb\t\n"},
		{"list_vhost_limits -q", "vhost\tlimits\n/\t{\"max-queues\":5}\n"},
		{"set_policy p ^a {\"max-length\":1} --priority 3", "Setting policy \"p\" for pattern \"^a\" to \"{\"max-length\":1}\" with priority \"3\" for vhost \"/\" ...\n"},
		{"add_user app secret", "Adding user \"app\" ...\nDone. Don't forget to grant the user permissions to some virtual hosts! See 'rabbitmqctl help set_permissions' to learn more.\n"},
		{"add_user app secret -q", ""},
		{"delete_queue jobs", "Deleting queue 'jobs' on vhost '/' ...\nQueue was successfully deleted with 2 messages\n"},
		{"quorum_status jobs -q", "Node Name\tRaft State\tMembership\tLast Log Index\tCommit Index\tTerm\nleveret@h\tleader\tvoter\t0\t0\t1\n"},
		{"list_unresponsive_queues -q", ""},
		{"list_node_auth_attempt_stats -q", "protocol\tauth_attempts\tauth_attempts_failed\tauth_attempts_succeeded\namqp091\t3\t1\t2\n"},
		{"erlang_version", "go1.26\n"},
		{"list_hashes -q", "algorithm\nrabbit_password_hashing_sha512\nrabbit_password_hashing_sha256\nrabbit_password_hashing_md5\n"},
		{"list_vhosts", "Listing vhosts ...\nname\n/\nv\n"},
		{"add_vhost v", "Adding vhost \"v\" ...\n"},
		{"add_vhost v -q", ""},
		{"authenticate_user app secret", "Authenticating user \"app\" ...\nSuccess\n"},
		{"hash_password secret", "aGFzaA==\n"},
		{"close_all_connections over", "Closing connections, reason: over ...\nClosed 1 connections\n"},
		{"ping", "Will ping the node ...\nPing succeeded\n"},
		{"-q ping", "Ping succeeded\n"},
		{"check_running", "Checking if the broker runs ...\nRabbitMQ on the node is fully booted and running\n"},
		{"check_running --formatter json", "{\"result\":\"ok\",\"message\":\"RabbitMQ on the node is fully booted and running\"}\n"},
		{"check_running -q", ""},
		{"check_port_listener 5672", "Asking for a listener on port 5672 ...\na listener is on port 5672\n"},
		{"check_certificate_expiration --within 2 --unit months", "Checking the certificates ...\nno certificate ends within that time\n"},
		{"alarms -q", "Memory alarm on node leveret@h\n"},
		{"is_booting -q", ""},
		{"listeners -q", "Interface: 127.0.0.1, port: 1, protocol: amqp\nInterface: [::], port: 1, protocol: http\n"},
		{"memory_breakdown -q", "part\tbytes\nqueues\t10\ntotal\t20\n"},
		{"version", "4.3.6\n"},
		{"server_version -q", "4.3.6\n"},
		{"environment -q", "heartbeat = 60\n"},
		{"export_definitions -", "{\"queues\":[]}\n"},
		{"cluster_status --formatter json", "[\n{\"cluster_name\":\"c\",\"disk_nodes\":[\"leveret@h\"],\"ram_nodes\":[],\"running_nodes\":[\"leveret@h\"],\"partitions\":{},\"alarms\":[\"Memory alarm on node leveret@h\"]}\n]\n"},
	}
	for _, tt := range tests {
		if output, code := at(t, a, "", strings.Fields(tt.args)...); output != tt.want || code != 0 {
			t.Errorf("%s: exit code %d\n%q\nwant\n%q", tt.args, code, output, tt.want)
		}
	}
}

// TestStatus: the sections that people look for are there.
func TestStatus(t *testing.T) {
	a := ctltest.New(t, answers)
	for args, parts := range map[string][]string{
		"status -q":               {"Uptime (seconds): 61\n", "RabbitMQ version: 4.3.6\n", "Memory alarm on node leveret@h\n", "Total memory used: 1 MiB\n", "Queue count: 2\n"},
		"status --formatter json": {`"rabbitmq_version":"4.3.6"`, `"uptime":61000`},
		"cluster_status -q":       {"Cluster name: c\n", "Running Nodes\n\nleveret@h\n", "Interface: [::], port: 1, protocol: http\n"},
	} {
		output, code := at(t, a, "", strings.Fields(args)...)
		for _, part := range parts {
			if code != 0 || !strings.Contains(output, part) {
				t.Errorf("%s: exit code %d, no %q in\n%s", args, code, part, output)
			}
		}
	}
}

// TestPidsCloseConnections: what list_connections calls a connection, close_connection takes.
func TestPidsCloseConnections(t *testing.T) {
	a := ctltest.New(t, answers)
	listed, _ := at(t, a, "", "list_connections", "-s", "pid")
	a.Asked()
	output, code := at(t, a, "", "close_connection", strings.TrimSpace(listed), "over")
	if want := "GET /connections\nDELETE /connections/127.0.0.1:1%20-%3E%20127.0.0.1:5672"; a.Asked() != want || code != 0 {
		t.Errorf("exit code %d, %s", code, output)
	}
}
