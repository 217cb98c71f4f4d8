package interop

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tool runs a program with the environment of an operator on the broker's machine, and returns what it printed and its exit code.
func (b *broker) tool(t *testing.T, program string, args ...string) (output string, code int) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "LEVERET_DATA_DIR="+filepath.Join(b.dir, "data"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// step is one command of a walk: what it prints contains want.
type step struct {
	args, want string
	code       int
}

// walk runs the steps in order.
func (b *broker) walk(t *testing.T, program string, before []string, steps []step) {
	t.Helper()
	for _, s := range steps {
		var args []string
		for arg := range strings.FieldsSeq(s.args) {
			args = append(args, strings.ReplaceAll(arg, "~", " "))
		}
		output, code := b.tool(t, program, append(before, args...)...)
		if code != s.code || !strings.Contains(output, s.want) {
			t.Errorf("%s: exit code %d, want %d; no %q in\n%s", s.args, code, s.code, s.want, output)
		}
	}
}

// TestCtlWalk goes through all verbs of broker ctl against the built binary, as an operator who has no password.
func TestCtlWalk(t *testing.T) {
	if brokerBinary == "" {
		return // a foreign broker has no control socket
	}
	b := ownBroker(t)
	file := filepath.Join(t.TempDir(), "definitions.json")
	b.walk(t, brokerBinary, []string{"ctl"}, []step{
		{"status", "published", 0},
		{"health_check", "ok", 0},
		{"health_check local_alarms", "ok", 0},
		{"alarms", "no alarms", 0},
		{"declare vhost v --description text", "vhost 'v' created", 0},
		{"declare user app --new-password secret --tags monitoring", "user 'app' created", 0},
		{"declare permissions app --configure ^a --write .* --read .* -V v", "permissions 'app' created", 0},
		{"declare exchange orders --type topic -V v", "exchange 'orders' created", 0},
		{"declare topic_permission app --exchange orders --write .* --read .* -V v", "topic_permission 'app' created", 0},
		{"declare queue jobs -V v", "queue 'jobs' created", 0},
		{"declare queue jobs -V v", "queue 'jobs' is there", 0},
		{"declare queue jobs --durable=false -V v", "inequivalent arg 'durable'", 65},
		{"declare binding --source orders --destination jobs --routing-key a.* -V v", "'jobs' is bound to 'orders'", 0},
		{"declare policy short --pattern ^jobs --definition {\"max-length\":100} -V v", "policy 'short' created", 0},
		{"declare operator_policy bound --pattern . --definition {\"max-length\":1000} -V v", "operator_policy 'bound' created", 0},
		{"declare vhost_limit max-queues --value 10 -V v", "vhost_limit 'max-queues' is set", 0},
		{"declare user_limit app max-connections --value 10", "user_limit 'app' 'max-connections' is set", 0},
		{"declare global_parameter note --value {\"a\":1}", "global_parameter 'note' created", 0},
		{"publish message --exchange orders --routing-key a.b --payload hello -V v", "published", 0},
		{"publish message --exchange orders --routing-key nowhere --payload hello -V v", "the message went to no queue", 65},
		{"publish message --routing-key jobs --payload second -V v", "published", 0},
		{"get messages jobs --count 2 -V v", "hello", 0},
		{"peek jobs --count 1 -V v", "hello", 0},
		{"unacked jobs -V v", "MESSAGE", 0},
		{"explain jobs -V v", "short", 0},
		{"pause jobs -V v", "paused", 0},
		{"resume jobs -V v", "resumed", 0},
		{"replay jobs --dry-run -V v", "0 of 2 messages would be sent; 2 more have no queue to go back to", 0},
		{"list queues -V v", "jobs  classic      2        0          0  short", 0},
		{"list queues --columns name,messages --json", "\"messages\"", 0},
		{"list exchanges -V v", "orders", 0},
		{"list bindings -V v", "a.*", 0},
		{"list vhosts", "text", 0},
		{"list users", "app    monitoring", 0},
		{"list permissions", "^a", 0},
		{"list topic_permissions", "orders", 0},
		{"list policies -V v", "max-length=100", 0},
		{"list operator_policies -V v", "max-length=1000", 0},
		{"list vhost_limits -V v", "max-queues=10", 0},
		{"list user_limits", "max-connections=10", 0},
		{"list global_parameters", "note", 0},
		{"list parameters", "COMPONENT", 0},
		{"list connections", "NAME", 0},
		{"list channels", "NAME", 0},
		{"list consumers", "QUEUE", 0},
		{"list nodes", "true", 0},
		{"show queue jobs -V v", "messages_ready", 0},
		{"show queue nowhere -V v", "there is no queue 'nowhere' in virtual host 'v'", 65},
		{"watch --rounds 1", "jobs", 0},
		{"definitions export " + file, "definitions are in", 0},
		{"purge queue jobs -V v", "queue 'jobs' is purged", 0},
		{"delete binding --source orders --destination jobs --routing-key a.* -V v", "not bound to 'orders' any more", 0},
		{"delete policy short -V v", "policy 'short' deleted", 0},
		{"delete operator_policy bound -V v", "operator_policy 'bound' deleted", 0},
		{"delete queue jobs --if-empty -V v", "queue 'jobs' deleted", 0},
		{"delete queue jobs -V v", "there is no queue 'jobs'", 65},
		{"delete queue jobs --idempotently -V v", "queue 'jobs' deleted", 0},
		{"delete exchange orders -V v", "exchange 'orders' deleted", 0},
		{"delete global_parameter note", "global_parameter 'note' deleted", 0},
		{"delete user app", "user 'app' deleted", 0},
		{"delete vhost v", "vhost 'v' deleted", 0},
		{"definitions import " + file, "definitions are imported", 0},
		{"list queues -V v", "jobs", 0},
		{"close user_connections nobody", "are closed", 0},
		{"list queues --url http://127.0.0.1:1", "the broker does not answer", 69},
		{"list teapots", "unknown command", 64},
	})
}

// TestRabbitmqctlWalk does the same for RabbitMQ's tool, by the link that a container image has.
func TestRabbitmqctlWalk(t *testing.T) {
	if brokerBinary == "" {
		return
	}
	b := ownBroker(t)
	tool := filepath.Join(t.TempDir(), "rabbitmqctl")
	if err := os.Symlink(brokerBinary, tool); err != nil {
		t.Fatal(err)
	}
	b.walk(t, tool, nil, []step{
		{"add_user app secret", "Adding user \"app\"", 0},
		{"add_user app secret -q", "User \"app\" already exists\n", 70},
		{"set_user_tags app management", "", 0},
		{"change_password app other", "", 0},
		{"authenticate_user app other", "Success", 0},
		{"authenticate_user app wrong", "failed to authenticate user \"app\"\ninvalid credentials", 65},
		{"add_vhost v", "", 0},
		{"set_permissions -p v app .* .* .*", "", 0},
		{"list_permissions -p v", "app\t.*\t.*\t.*", 0},
		{"list_user_permissions app", "v\t.*", 0},
		{"set_topic_permissions -p v app amq.topic ^{username} .*", "", 0},
		{"list_topic_permissions -p v", "amq.topic", 0},
		{"clear_topic_permissions -p v app", "", 0},
		{"set_policy -p v p ^x {\"max-length\":1}", "", 0},
		{"list_policies -p v", "{\"max-length\":1}", 0},
		{"clear_policy -p v p", "", 0},
		{"set_vhost_limits -p v {\"max-queues\":5}", "", 0},
		{"clear_vhost_limits -p v", "", 0},
		{"set_user_limits app {\"max-channels\":5}", "", 0},
		{"clear_user_limits app all", "", 0},
		{"trace_on -p v", "", 0},
		{"trace_off -p v", "", 0},
		{"list_queues -p v name messages consumers", "Listing queues for vhost v ...\n", 0},
		{"list_exchanges -p v", "amq.topic\ttopic", 0},
		{"list_connections -q pid peer_port client_properties", "", 0},
		{"close_all_connections over", "Closed 0 connections", 0},
		{"set_vm_memory_high_watermark 0.5", "", 0},
		{"eval rabbit_alarm:set_alarm({{resource_limit,~memory,~node()},~[]}).", "ok", 0},
		{"check_local_alarms", "alarms in effect", 69},
		{"eval rabbit_alarm:clear_alarm({resource_limit,~memory,~node()}).", "ok", 0},
		{"check_local_alarms", "no local alarms", 0},
		{"eval application:set_env(rabbit,~channel_max,~100).", "ok", 0},
		{"eval application:get_env(rabbit,~channel_max).", "{ok,100}", 0},
		{"-q ping", "Ping succeeded", 0},
		{"check_running", "fully booted and running", 0},
		{"check_port_connectivity", "Successfully connected", 0},
		{"status", "RabbitMQ version", 0},
		{"cluster_status", "Running Nodes", 0},
		{"stop_app", "", 0},
		{"start_app", "", 0},
		{"await_startup", "", 0},
		{"clear_permissions -p v app", "", 0},
		{"delete_vhost v", "", 0},
		{"delete_user app", "", 0},
		{"delete_user nobody", "User \"nobody\" does not exist\n", 67},
		{"set_permissions -p none app .* .* .*", "", 67}, // the user is gone by now
		{"delete_vhost none", "Virtual host 'none' does not exist\n", 65},
		{"list_queues -p none", "Virtual host 'none' does not exist\n", 65},
		{"delete_queue none", "Queue not found\n", 64},
		{"clear_policy none", "Parameter does not exist\n", 70},
		{"quorum_status none", "Queue not found\n", 64},
		{"list_node_auth_attempt_stats", "auth_attempts", 0},
		{"frobnicate", "not found", 64},
	})
}
