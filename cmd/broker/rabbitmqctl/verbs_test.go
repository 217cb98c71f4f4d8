package rabbitmqctl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leveret/cmd/broker/rabbitmqctl"
	"leveret/ctl/ctltest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(complete{m}) }

// called are the verbs that tests have called.
var called = map[string]bool{}

// complete demands of a whole run that no verb is without a test.
type complete struct{ *testing.M }

func (c complete) Run() int {
	code := c.M.Run()
	for _, cmd := range rabbitmqctl.New("rabbitmqctl").Commands() {
		if name := cmd.Name(); code == 0 && len(called) > 10 && !called[name] {
			os.Stderr.WriteString("no test calls " + name + "\n")
			defer os.Exit(1)
		}
	}
	return code
}

// at runs rabbitmqctl against the fake.
func at(t *testing.T, a *ctltest.API, input string, args ...string) (output string, code int) {
	t.Setenv("LEVERET_URL", a.URL)
	if len(args) > 0 {
		called[args[0]] = true
	}
	return ctltest.Run(rabbitmqctl.New("rabbitmqctl"), input, args...)
}

// answers are what the API says of a small broker.
var answers = map[string]string{
	"GET /overview": `{"node":"leveret@h","rabbitmq_version":"4.3.6","cluster_name":"c","object_totals":{"connections":1,"queues":2},
		"listeners":[{"protocol":"amqp","ip_address":"127.0.0.1","port":1},{"protocol":"http","ip_address":"::","port":1}]}`,
	"GET /nodes/leveret@h":        `{"name":"leveret@h","os_pid":"7","uptime":61000,"mem_used":1048576,"mem_limit":2097152,"disk_free":3145728,"disk_free_limit":1048576,"mem_alarm":true,"erlang_version":"go1.26"}`,
	"GET /nodes/leveret@h/memory": `{"memory":{"queues":10,"total":20}}`,
	"GET /queues/%2F": `[{"name":"jobs","messages":3,"messages_ready":2,"durable":true,"arguments":{"x-max-length":10,"x-overflow":"drop-head"},"node":"leveret@h"},
		{"name":"a\tb","messages":0,"messages_ready":0,"durable":false,"arguments":{},"policy":null}]`,
	"GET /connections": `[{"name":"127.0.0.1:1 -> 127.0.0.1:5672","node":"leveret@h","user":"guest","peer_host":"127.0.0.1","peer_port":51234,"state":"running",
		"client_properties":{"connection_name":"app","capabilities":{"basic.nack":true}}}]`,
	"GET /bindings/%2F":                                  `[{"source":"orders","destination":"jobs","destination_type":"queue","routing_key":"k","arguments":{}}]`,
	"GET /users":                                         `[{"name":"guest","tags":["administrator","monitoring"]},{"name":"app","tags":[]}]`,
	"GET /users/guest":                                   `{"name":"guest","password_hash":"aGFzaA==","hashing_algorithm":"rabbit_password_hashing_sha256","tags":["administrator","monitoring"]}`,
	"GET /vhosts":                                        `[{"name":"/"},{"name":"v"}]`,
	"GET /vhosts/v":                                      `{"name":"v"}`,
	"GET /vhosts/%2F":                                    `{"name":"/"}`,
	"GET /policies/%2F":                                  `[{"vhost":"/","name":"p","pattern":"^a","apply-to":"queues","definition":{"max-length":1},"priority":0}]`,
	"GET /queues/none":                                   `[]`,
	"GET /vhost-limits/%2F":                              `[{"vhost":"/","value":{"max-queues":5}}]`,
	"GET /queues/%2F/jobs":                               `{"name":"jobs","messages_ready":2}`,
	"GET /queues/v/jobs":                                 `{"name":"jobs","messages_ready":0}`,
	"GET /queues/%2F/busy":                               `{"name":"busy"}`,
	"DELETE /queues/%2F/busy?if-unused=true":             `400 {"error":"bad_request","reason":"queue 'busy' in vhost '/' in use"}`,
	"DELETE /queues/%2F/busy?if-empty=true":              `400 {"error":"bad_request","reason":"queue 'busy' in vhost '/' not empty"}`,
	"GET /queues/quorum/%2F/jobs/status":                 `[{"Node Name":"leveret@h","Raft State":"leader","Membership":"voter","Last Log Index":0,"Commit Index":0,"Term":1}]`,
	"GET /auth/attempts/leveret@h":                       `[{"protocol":"amqp091","auth_attempts":3,"auth_attempts_failed":1,"auth_attempts_succeeded":2}]`,
	"PUT /permissions/none/guest":                        `404 {"error":"not_found","reason":"vhost_not_found"}`,
	"PUT /permissions/%2F/nobody":                        `400 {"error":"bad_request","reason":"user_not_found"}`,
	"DELETE /vhosts/none":                                `404 {"error":"Object Not Found","reason":"Not Found"}`,
	"DELETE /users/nobody":                               `404 {"error":"Object Not Found","reason":"Not Found"}`,
	"DELETE /queues/%2F/none/contents":                   `404 {"error":"Object Not Found","reason":"Not Found"}`,
	"PUT /policies/%2F/bad":                              `400 {"error":"bad_request","reason":"Validation failed\n\n[{<<\"x\">>,1}] are not recognised policy settings\n"}`,
	"GET /vhosts/%2F/permissions":                        `[{"user":"guest","configure":".*","write":".*","read":".*"}]`,
	"GET /parameters":                                    `[{"vhost":"/","component":"shovel","name":"s","value":{"a":1}},{"vhost":"other","component":"x","name":"y","value":1}]`,
	"GET /auth/hash_password/secret":                     `{"ok":"aGFzaA=="}`,
	"GET /version":                                       `"4.3.6"`,
	"GET /health/checks/is-in-service":                   `{"status":"ok"}`,
	"GET /health/checks/ready-to-serve-clients":          `{"status":"ok"}`,
	"GET /health/checks/local-alarms":                    `503 {"status":"failed","reason":"There are alarms in effect on the node"}`,
	"GET /health/checks/port-listener/5672":              `{"status":"ok"}`,
	"GET /health/checks/certificate-expiration/2/months": `{"status":"ok"}`,
	"GET /leveret/environment/rabbit/channel_max":        `{"value":2047}`,
	"GET /leveret/environment/rabbit/loopback_users":     `{"value":["guest"]}`,
	"GET /config/effective":                              "heartbeat = 60\n",
	"GET /definitions":                                   `{"queues":[]}`,
	"DELETE /policies/%2F/none":                          `404 {"error":"not_found","reason":"Not Found"}`,
	"DELETE /permissions/%2F/nobody":                     `404 {"error":"not_found","reason":"Not Found"}`,
	"POST /login":                                        `401 {"error":"not_authorised","reason":"Not management user"}`,
}

// TestRequests: what each verb that changes something asks of the API.
func TestRequests(t *testing.T) {
	a := ctltest.New(t, answers)
	tests := []struct{ args, want string }{
		{"add_user app secret", "GET /users/app\nPUT /users/app {\"password\":\"secret\",\"tags\":\"\"}"},
		{"add_user app hash --pre-hashed-password", "GET /users/app\nPUT /users/app {\"password_hash\":\"hash\",\"tags\":\"\"}"},
		{"add_user app", "GET /users/app\nPUT /users/app {\"password\":\"from the input\",\"tags\":\"\"}"},
		{"delete_user app", "DELETE /users/app"},
		{"change_password guest new", "GET /users/guest\nPUT /users/guest {\"password\":\"new\",\"tags\":\"administrator,monitoring\"}"},
		{"clear_password guest", "GET /users/guest\nPUT /users/guest {\"hashing_algorithm\":\"rabbit_password_hashing_sha256\",\"tags\":\"administrator,monitoring\"}"},
		{"set_user_tags guest policymaker management", "GET /users/guest\nPUT /users/guest {\"hashing_algorithm\":\"rabbit_password_hashing_sha256\",\"password_hash\":\"aGFzaA==\",\"tags\":\"policymaker,management\"}"},
		{"authenticate_user app secret", "POST /login password=secret&username=app"},
		{"set_user_limits app {\"max-connections\":2}", "PUT /user-limits/app/max-connections {\"value\":2}"},
		{"clear_user_limits app all", "DELETE /user-limits/app/max-connections\nDELETE /user-limits/app/max-channels"},
		{"set_permissions -p v app ^a .* .*", "PUT /permissions/v/app {\"configure\":\"^a\",\"read\":\".*\",\"write\":\".*\"}"},
		{"set_permissions_globally app a b c", "GET /vhosts\nPUT /permissions/%2F/app {\"configure\":\"a\",\"read\":\"c\",\"write\":\"b\"}\nPUT /permissions/v/app {\"configure\":\"a\",\"read\":\"c\",\"write\":\"b\"}"},
		{"clear_permissions nobody", "DELETE /permissions/%2F/nobody"},
		{"set_topic_permissions -p v app amq.topic ^{username} r", "PUT /topic-permissions/v/app {\"exchange\":\"amq.topic\",\"read\":\"r\",\"write\":\"^{username}\"}"},
		{"clear_topic_permissions app amq.topic", "DELETE /topic-permissions/%2F/app/amq.topic"},
		{"add_vhost v --default-queue-type quorum", "PUT /vhosts/v {\"default_queue_type\":\"quorum\"}"},
		{"update_vhost_metadata v --description text --tags a,b", "GET /vhosts/v\nPUT /vhosts/v {\"description\":\"text\",\"tags\":\"a,b\"}"},
		{"delete_vhost v", "DELETE /vhosts/v"},
		{"set_vhost_limits -p v {\"max-queues\":-1}", "PUT /vhost-limits/v/max-queues {\"value\":-1}"},
		{"clear_vhost_limits -p v", "DELETE /vhost-limits/v/max-connections\nDELETE /vhost-limits/v/max-queues\nDELETE /vhost-limits/v/max-messages\nDELETE /vhost-limits/v/max-bytes"},
		{"enable_vhost_deletion_protection v", "POST /vhosts/v/deletion/protection"},
		{"disable_vhost_deletion_protection v", "DELETE /vhosts/v/deletion/protection"},
		{"restart_vhost -p v", "GET /vhosts/v"},
		{"trace_on -p v", "PUT /vhosts/v {\"tracing\":true}"},
		{"trace_off", "PUT /vhosts/%2F {\"tracing\":false}"},
		{"set_policy --priority 2 --apply-to queues p ^a {\"max-length\":1}", "PUT /policies/%2F/p {\"apply-to\":\"queues\",\"definition\":{\"max-length\":1},\"pattern\":\"^a\",\"priority\":2}"},
		{"clear_policy p", "DELETE /policies/%2F/p"},
		{"set_operator_policy p . {\"expires\":1}", "PUT /operator-policies/%2F/p {\"apply-to\":\"all\",\"definition\":{\"expires\":1},\"pattern\":\".\",\"priority\":0}"},
		{"clear_operator_policy p", "DELETE /operator-policies/%2F/p"},
		{"set_parameter shovel s {\"a\":1}", "PUT /parameters/shovel/%2F/s {\"value\":{\"a\":1}}"},
		{"clear_parameter shovel s", "DELETE /parameters/shovel/%2F/s"},
		{"set_global_parameter g [1]", "PUT /global-parameters/g {\"value\":[1]}"},
		{"clear_global_parameter g", "DELETE /global-parameters/g"},
		{"delete_queue jobs -p v --if-empty --if-unused", "GET /queues/v/jobs\nDELETE /queues/v/jobs?if-empty=true&if-unused=true"},
		{"purge_queue jobs", "DELETE /queues/%2F/jobs/contents"},
		{"close_all_connections over", "GET /connections\nDELETE /connections/127.0.0.1:1%20-%3E%20127.0.0.1:5672"},
		{"close_all_user_connections app over", "DELETE /connections/username/app"},
		{"set_cluster_name n", "PUT /cluster-name {\"name\":\"n\"}"},
		{"stop_app", "PUT /leveret/app {\"running\":false}"},
		{"start_app", "PUT /leveret/app {\"running\":true}"},
		{"stop", "POST /leveret/stop"},
		{"shutdown --wait", "POST /leveret/stop"},
		{"force_gc", "POST /leveret/collect-garbage"},
		{"set_log_level debug", "PUT /leveret/log-level {\"level\":\"debug\"}"},
		{"set_vm_memory_high_watermark 0.4", "PUT /leveret/memory-watermark {\"relative\":0.4}"},
		{"set_vm_memory_high_watermark 0.00000001", "PUT /leveret/memory-watermark {\"relative\":1e-8}"},
		{"set_vm_memory_high_watermark absolute 1GiB", "PUT /leveret/memory-watermark {\"absolute\":1073741824}"},
		{"set_disk_free_limit 50MB", "PUT /leveret/disk-free-limit {\"bytes\":50000000}"},
		{"set_disk_free_limit mem_relative 1.0", "PUT /leveret/disk-free-limit {\"mem_relative\":1}"},
		{"await_startup", "GET /health/checks/ready-to-serve-clients"},
		{"set_log_level connection debug", "PUT /leveret/log-level {\"level\":\"debug\"}"},
		{"set_vhost_tags v a b", "GET /vhosts/v\nPUT /vhosts/v {\"tags\":\"a,b\"}"},
		{"drain", "PUT /leveret/app {\"running\":false}"},
		{"revive", "PUT /leveret/app {\"running\":true}"},
		{"add_member jobs leveret@h", "POST /queues/quorum/%2F/jobs/replicas/add {\"node\":\"leveret@h\"}"},
		{"delete_member -p v jobs leveret@h", "DELETE /queues/quorum/v/jobs/replicas/delete {\"node\":\"leveret@h\"}"},
		{"grow leveret@h all", "POST /queues/quorum/replicas/on/leveret@h/grow {\"strategy\":\"all\"}"},
		{"shrink leveret@h", "DELETE /queues/quorum/replicas/on/leveret@h/shrink"},
		{"rebalance quorum", ""},
		{"rotate_logs", ""},
		{"enable_feature_flag all", ""},
	}
	for _, tt := range tests {
		output, code := at(t, a, "from the input\n", strings.Fields(tt.args)...)
		if asked := a.Asked(); asked != tt.want || code != 0 {
			t.Errorf("%s\nasked %s\nwant  %s\nexit code %d, printed %q", tt.args, asked, tt.want, code, output)
		}
	}
}

// TestEval: the expressions that are known, and that all others are refused.
func TestEval(t *testing.T) {
	a := ctltest.New(t, answers)
	tests := []struct {
		expression, want, output string
		code                     int
	}{
		{"rabbit_alarm:set_alarm({{resource_limit, memory, node()}, []}).", "PUT /leveret/alarms/memory", "ok\n", 0},
		{"rabbit_alarm:set_alarm({{resource_limit, disk, node()}, []}).", "PUT /leveret/alarms/disk", "ok\n", 0},
		{"rabbit_alarm:clear_alarm({resource_limit, disk, node()}).", "DELETE /leveret/alarms/disk", "ok\n", 0},
		{"application:set_env(rabbit, channel_max, 2047).", `PUT /leveret/environment/rabbit/channel_max {"value":2047}`, "ok\n", 0},
		{`application:set_env(rabbit, loopback_users, [<<"guest">>]).`, `PUT /leveret/environment/rabbit/loopback_users {"value":["guest"]}`, "ok\n", 0},
		{"application:set_env(rabbit, loopback_users, []).", `PUT /leveret/environment/rabbit/loopback_users {"value":[]}`, "ok\n", 0},
		{"application:set_env(rabbit, consumer_timeout, undefined).", `PUT /leveret/environment/rabbit/consumer_timeout {"value":null}`, "ok\n", 0},
		{"application:get_env(rabbit, channel_max).", "GET /leveret/environment/rabbit/channel_max", "{ok,2047}\n", 0},
		{"application:get_env(rabbit, loopback_users).", "GET /leveret/environment/rabbit/loopback_users", "{ok,[\"guest\"]}\n", 0},
		{"application:get_env(rabbit, nonsense).", "GET /leveret/environment/rabbit/nonsense", "undefined\n", 0},
		{"application:set_env(rabbit, channel_max, fun() -> 1 end).", "", "error: Error:\neval: fun() -> 1 end is no Erlang term\n", 65},
		{"os:cmd(\"rm -rf /\").", "", "error: Error:\neval: there is no Erlang here. Known are rabbit_alarm:set_alarm and clear_alarm, application:set_env and get_env\n", 65},
	}
	for _, tt := range tests {
		output, code := at(t, a, "", "eval", tt.expression)
		if asked := a.Asked(); asked != tt.want || output != tt.output || code != tt.code {
			t.Errorf("%s: asked %q, printed %q, exit code %d", tt.expression, asked, output, code)
		}
	}
}

// TestExitCodes are RabbitMQ's.
func TestExitCodes(t *testing.T) {
	a := ctltest.New(t, answers)
	tests := []struct {
		args   string
		code   int
		output string
	}{
		{"frobnicate", 64, "Command 'frobnicate' not found. See 'rabbitmqctl help'."},
		{"add_vhost", 64, "Error (argument validation): not enough arguments.\nUsage\n\nrabbitmqctl add_vhost <vhost>"},
		{"ping now", 64, "Error (argument validation): too many arguments.\nUsage\n\nrabbitmqctl ping"},
		{"list_queues --colour", 64, "Error (argument validation): Invalid options for this command:\nunknown flag: --colour"},
		{"list_queues name colour", 64, "Error (argument validation): Info key(s) colour are not supported"},
		{"list_queues --formatter xml", 64, "Error (argument validation): there is no formatter xml: table, pretty_table, json, csv, erlang"},
		{"set_policy --priority many p . {}", 64, "Error (argument validation): --priority is a number"},
		{"set_vm_memory_high_watermark much", 64, "Error (argument validation): the memory watermark is a fraction such as 0.4, or absolute and bytes"},
		{"set_vm_memory_high_watermark absolute", 64, "Error (argument validation): set_vm_memory_high_watermark absolute takes a number of bytes"},
		{"set_vm_memory_high_watermark -0.4", 64, "Error (argument validation): Invalid options"},
		{"set_vm_memory_high_watermark NaN", 64, "Error (argument validation): the memory watermark is a fraction such as 0.4, or absolute and bytes"},
		{"set_vm_memory_high_watermark Inf", 64, "Error (argument validation): the memory watermark is a fraction such as 0.4, or absolute and bytes"},
		{"set_disk_free_limit mem_relative NaN", 64, "Error (argument validation): set_disk_free_limit mem_relative takes a fraction"},
		{"set_disk_free_limit mem_relative", 64, "Error (argument validation): set_disk_free_limit mem_relative takes a fraction"},
		{"peek jobs 0", 64, "Error (argument validation): a position is a number from 1 on, not 0"},
		{"peek jobs first", 64, "Error (argument validation): a position is a number from 1 on, not first"},
		{"set_disk_free_limit 1XB", 64, "Error (argument validation): 1XB is no number of bytes, such as 1000000, 512MiB or 2GB"},
		{"import_definitions /nowhere", 64, "Error (argument validation): open /nowhere: no such file or directory"},
		{"set_parameter a b {", 65, "Error:\nvalue is no JSON: {"},
		{"set_vhost_limits []", 65, "Error:\nlimits are a JSON object such as {\"max-connections\": 10}, not []"},
		{"set_policy bad ^a {\"x\":1}", 70, "Error:\nValidation failed"},
		{"add_user guest secret", 70, `User "guest" already exists`},
		{"set_user_tags nobody a", 67, `User "nobody" does not exist`},
		{"delete_user nobody", 67, `User "nobody" does not exist`},
		{"set_permissions nobody a b c", 67, `User "nobody" does not exist`},
		{"set_permissions -p none guest a b c", 65, "Virtual host 'none' does not exist"},
		{"delete_vhost none", 65, "Virtual host 'none' does not exist"},
		{"delete_queue none", 64, "Queue not found"},
		{"delete_queue busy --if-unused", 64, "Queue is in use"},
		{"delete_queue busy --if-empty", 64, "Queue is not empty"},
		{"purge_queue none", 64, "Queue not found"},
		{"clear_policy none", 70, "Parameter does not exist"},
		{"close_connection <0.1.0> over", 65, "Error:\nthere is no connection <0.1.0>"},
		{"await_online_nodes 3", 65, "Error:\nthere is one node, and no more will come"},
		{"check_local_alarms", 69, "Error:\nThere are alarms in effect on the node"},
		{"join_cluster rabbit@other", 70, "Error:\nthis broker is a node by itself"},
		{"reset", 70, "Error:\nthis broker is a node by itself"},
		{"check_port_connectivity", 69, "the broker does not answer: amqp: dial tcp 127.0.0.1:1: connect: connection refused; http: dial tcp"},
	}
	for _, tt := range tests {
		output, code := at(t, a, "", append(strings.Fields(tt.args), "-q")...)
		if code != tt.code || !strings.HasPrefix(output, "error: "+tt.output) {
			t.Errorf("%s: exit code %d, %q, want %d %q", tt.args, code, output, tt.code, tt.output)
		}
	}
	t.Setenv("LEVERET_URL", "http://127.0.0.1:1")
	for args, want := range map[string]int{"-q ping": 69, "check_running": 69, "await_startup -t 0.3": 75} {
		if output, code := ctltest.Run(rabbitmqctl.New("rabbitmq-diagnostics"), "", strings.Fields(args)...); code != want {
			t.Errorf("%s without a broker: exit code %d, %q", args, code, output)
		}
	}
}

// TestDefinitionsFile: what is exported can be imported.
func TestDefinitionsFile(t *testing.T) {
	a := ctltest.New(t, answers)
	file := filepath.Join(t.TempDir(), "defs.json")
	if output, code := at(t, a, "", "export_definitions", file); code != 0 || output != "" {
		t.Errorf("exit code %d, %q", code, output)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	a.Asked()
	if _, code := at(t, a, "", "import_definitions", file); code != 0 || a.Asked() != `POST /definitions {"queues":[]}` {
		t.Errorf("import: exit code %d", code)
	}
}

// TestPlugins: what is built in can be enabled, and nothing else.
func TestPlugins(t *testing.T) {
	for _, tt := range []struct {
		args, output string
		code         int
	}{
		{"enable --offline rabbitmq_management rabbitmq_shovel", "Enabling plugins ...\nThe following plugins are built in: rabbitmq_management, rabbitmq_shovel\n", 0},
		{"enable rabbitmq_management,rabbitmq_mqtt -q", "error: Error:\nThe following plugins are not here: rabbitmq_mqtt\n", 70},
		{"is_enabled rabbitmq_prometheus -q", "", 0},
		{"is_enabled rabbitmq_stomp -q", "error: Error:\nThe following plugins are not here: rabbitmq_stomp\n", 70},
		{"list shovel --minimal -q", "rabbitmq_shovel\nrabbitmq_shovel_management\n", 0},
		{"list prometheus -q", "[E*] rabbitmq_prometheus\n", 0},
		{"disable rabbitmq_management -q", "", 0},
		{"list_queues", "error: Command 'list_queues' not found. See 'rabbitmq-plugins help'.\n", 64},
	} {
		if output, code := ctltest.Run(rabbitmqctl.New("rabbitmq-plugins"), "", strings.Fields(tt.args)...); output != tt.output || code != tt.code {
			t.Errorf("%s: %q, exit code %d, want %q", tt.args, output, code, tt.output)
		}
	}
}
