package admin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leveret/cmd/broker/admin"
	"leveret/ctl/ctltest"
)

// TestRequests: what each command asks of the API.
func TestRequests(t *testing.T) {
	bindings := `[{"routing_key":"a.*","arguments":{},"properties_key":"a.%2A"},{"routing_key":"","arguments":{"x-match":"any"},"properties_key":"~hash"}]`
	a := ctltest.New(t, map[string]string{
		"PUT /queues/%2F/jobs":                                  "201 ",
		"POST /exchanges/%2F/amq.default/publish":               `{"routed":true}`,
		"POST /exchanges/v/orders/publish":                      `{"routed":false}`,
		"POST /queues/%2F/jobs/get":                             `[]`,
		"GET /bindings/%2F/e/orders/q/jobs":                     bindings,
		"GET /health/checks/alarms":                             `{"status":"ok"}`,
		"GET /health/checks/ready-to-serve-clients":             `{"status":"ok"}`,
		"GET /health/checks/port-listener/5672":                 `{"status":"ok"}`,
		"POST /exchanges/%2F/nox/publish":                       `404 {"error":"not_found","reason":"exchange_not_found"}`,
		"PUT /queues/nov/q":                                     `404 {"error":"not_found","reason":"vhost_not_found"}`,
		"PUT /permissions/%2F/who":                              `400 {"error":"bad_request","reason":"vhost_or_user_not_found"}`,
		"GET /queues/nov":                                       `404 {"error":"Object Not Found","reason":"Not Found"}`,
		"DELETE /connections/a%2Fb":                             `404 {"error":"Object Not Found","reason":"Not Found"}`,
		"PUT /channels/nope/prefetch":                           `404 {"error":"Object Not Found","reason":"Not Found"}`,
		"DELETE /exchanges/%2F/amq.direct":                      `401 {"error":"not_authorised","reason":"Access refused."}`,
		"DELETE /queues/%2F/none":                               `404 {"error":"not_found","reason":"Not Found"}`,
		"DELETE /queues/%2F/busy?if-empty=true":                 `400 {"error":"bad_request","reason":"queue 'busy' in vhost '/' not empty"}`,
		"GET /queues/%2F/jobs/messages?count=2&header.tenant=a": `{"messages":[{"message":7,"exchange":"","routing_key":"jobs","redelivered":false,"properties":{},"payload":"hello"}],"cursor":"c8"}`,
		"GET /queues/%2F/jobs/unacked":                          `[{"message":3,"delivery_tag":1,"consumer_tag":"c1","connection_name":"a -> b","channel_number":1,"user":"app","age":250}]`,
		"GET /queues/%2F/jobs/policy":                           `{"name":"jobs","policy":"short","operator_policy":null,"effective_policy_definition":{"max-length":10,"dead-letter-exchange":""},"policy_skipped":[{"name":"long","operator":false,"reason":"priority"}]}`,
		"POST /definitions":                                     "204 ",
		"GET /users/old":                                        `{"name":"old","password_hash":"aGFzaA==","hashing_algorithm":"sha","tags":["a","b"]}`,
		"GET /health/checks/certificate-expiration/1/months":    `503 {"status":"failed","reason":"Certificates expiring"}`,
	})
	requests(t, a, []request{
		{"declare queue jobs", `PUT /queues/%2F/jobs {"arguments":{},"auto_delete":false,"durable":true}`, "queue 'jobs' created\n", 0},
		{"declare queue --name jobs --type quorum --arguments {\"x-max-length\":9007199254740993}",
			`PUT /queues/%2F/jobs {"arguments":{"x-max-length":9007199254740993,"x-queue-type":"quorum"},"auto_delete":false,"durable":true}`, "queue 'jobs' created\n", 0},
		{"declare queue a/b --durable=false --auto-delete -V v", `PUT /queues/v/a%2Fb {"arguments":{},"auto_delete":true,"durable":false}`, "queue 'a/b' is there\n", 0},
		{"declare exchange orders --type topic -q", `PUT /exchanges/%2F/orders {"arguments":{},"auto_delete":false,"durable":true,"internal":false,"type":"topic"}`, "", 0},
		{"declare binding --source orders --destination jobs --routing-key a.*", `POST /bindings/%2F/e/orders/q/jobs {"arguments":{},"routing_key":"a.*"}`, "'jobs' is bound to 'orders'\n", 0},
		{"declare binding --source orders --destination x --destination-type exchange", `POST /bindings/%2F/e/orders/e/x {"arguments":{},"routing_key":""}`, "'x' is bound to 'orders'\n", 0},
		{"delete binding --source orders --destination jobs --routing-key a.*", "GET /bindings/%2F/e/orders/q/jobs\nDELETE /bindings/%2F/e/orders/q/jobs/a.%252A", "'jobs' is not bound to 'orders' any more\n", 0},
		{"delete binding --source orders --destination jobs --arguments {\"x-match\":\"any\"}", "GET /bindings/%2F/e/orders/q/jobs\nDELETE /bindings/%2F/e/orders/q/jobs/~hash", "'jobs' is not bound to 'orders' any more\n", 0},
		{"delete binding --source orders --destination jobs --routing-key b", "GET /bindings/%2F/e/orders/q/jobs", "error: there is no such binding: bindings/%2F/e/orders/q/jobs\n", 65},
		{"declare user app --new-password secret --tags monitoring,management", `PUT /users/app {"password":"secret","tags":"monitoring,management"}`, "user 'app' is set\n", 0},
		{"declare user app --no-password", "GET /users/app\n" + `PUT /users/app {"tags":""}`, "user 'app' is set\n", 0},
		{"declare user app --password mine", "GET /users/app", "error: a new user needs --new-password, --password-hash, or --no-password; --password is that of who calls\n", 64},
		{"declare user old --no-password", "GET /users/old\n" + `PUT /users/old {"tags":"a,b"}`, "user 'old' is set\n", 0},
		{"declare permissions app --configure= --write .* --read=", `PUT /permissions/%2F/app {"configure":"","read":"","write":".*"}`, "permissions 'app' is set\n", 0},
		{"declare binding orders jobs a.*", `POST /bindings/%2F/e/orders/q/jobs {"arguments":{},"routing_key":"a.*"}`, "'jobs' is bound to 'orders'\n", 0},
		{"publish message jobs hello", `POST /exchanges/%2F/amq.default/publish {"payload":"hello","payload_encoding":"string","properties":{},"routing_key":"jobs"}`, "published\n", 0},
		{"declare user old --tags other", "GET /users/old\n" + `PUT /users/old {"hashing_algorithm":"sha","password_hash":"aGFzaA==","tags":"other"}`, "user 'old' is set\n", 0},
		{"declare user old --new-password x", "GET /users/old\n" + `PUT /users/old {"password":"x","tags":"a,b"}`, "user 'old' is set\n", 0},
		{"declare vhost v --default-queue-type quorum --tracing", `PUT /vhosts/v {"default_queue_type":"quorum","tracing":true}`, "vhost 'v' is set\n", 0},
		{"declare permissions app --configure ^a --write .* --read .*", `PUT /permissions/%2F/app {"configure":"^a","read":".*","write":".*"}`, "permissions 'app' is set\n", 0},
		{"declare topic-permission app --exchange e --write w --read r", `PUT /topic-permissions/%2F/app {"exchange":"e","read":"r","write":"w"}`, "topic_permission 'app' is set\n", 0},
		{"declare policy short --pattern ^jobs --definition {\"max-length\":10} --priority 3", `PUT /policies/%2F/short {"apply-to":"all","definition":{"max-length":10},"pattern":"^jobs","priority":3}`, "policy 'short' is set\n", 0},
		{"declare operator_policy p --pattern . --definition {\"expires\":1}", `PUT /operator-policies/%2F/p {"apply-to":"all","definition":{"expires":1},"pattern":".","priority":0}`, "operator_policy 'p' is set\n", 0},
		{"declare parameter up --component federation-upstream --value {\"uri\":\"amqp://x\"}", `PUT /parameters/federation-upstream/%2F/up {"value":{"uri":"amqp://x"}}`, "parameter 'up' 'federation-upstream' is set\n", 0},
		{"declare global_parameter cluster_name --value text", `PUT /global-parameters/cluster_name {"value":"text"}`, "global_parameter 'cluster_name' is set\n", 0},
		{"declare vhost_limit max-queues --value 10 -V v", `PUT /vhost-limits/v/max-queues {"value":10}`, "vhost_limit 'max-queues' is set\n", 0},
		{"declare user_limit app max-connections --value -1", `PUT /user-limits/app/max-connections {"value":-1}`, "user_limit 'app' 'max-connections' is set\n", 0},
		{"delete queue jobs", "DELETE /queues/%2F/jobs", "queue 'jobs' deleted\n", 0},
		{"delete queue none", "DELETE /queues/%2F/none", "error: there is no queue 'none' in virtual host '/'\n", 65},
		{"delete queue none --idempotently", "DELETE /queues/%2F/none", "queue 'none' deleted\n", 0},
		{"delete queue busy --if-empty", "DELETE /queues/%2F/busy?if-empty=true", "error: queue 'busy' in vhost '/' not empty\n", 65},
		{"publish message --exchange nox --routing-key k --payload x", `POST /exchanges/%2F/nox/publish {"payload":"x","payload_encoding":"string","properties":{},"routing_key":"k"}`,
			"error: there is no exchange 'nox' in virtual host '/'\n", 65},
		{"declare queue q -V nov", `PUT /queues/nov/q {"arguments":{},"auto_delete":false,"durable":true}`, "error: there is no virtual host 'nov'\n", 65},
		{"declare permissions who --configure a --write b --read c", `PUT /permissions/%2F/who {"configure":"a","read":"c","write":"b"}`,
			"error: there is no virtual host '/', or no user 'who'\n", 65},
		{"list queues -V nov", "GET /queues/nov", "error: there is no virtual host 'nov'\n", 65},
		{"close connection a/b", "DELETE /connections/a%2Fb", "error: there is no connection 'a/b'\n", 65},
		{"set channel_prefetch nope 5", `PUT /channels/nope/prefetch {"prefetch":5}`, "error: there is no channel 'nope'\n", 65},
		{"delete exchange amq.direct", "DELETE /exchanges/%2F/amq.direct", "error: access to 'amq.direct' is refused\n", 65},
		{"delete permissions app", "DELETE /permissions/%2F/app", "permissions 'app' deleted\n", 0},
		{"publish message --routing-key jobs --payload hello --properties {\"delivery_mode\":2}",
			`POST /exchanges/%2F/amq.default/publish {"payload":"hello","payload_encoding":"string","properties":{"delivery_mode":2},"routing_key":"jobs"}`, "published\n", 0},
		{"publish message --routing-key jobs --payload -", `POST /exchanges/%2F/amq.default/publish {"payload":"from the input","payload_encoding":"string","properties":{},"routing_key":"jobs"}`, "published\n", 0},
		{"publish message --exchange orders -V v --routing-key x --payload y", `POST /exchanges/v/orders/publish {"payload":"y","payload_encoding":"string","properties":{},"routing_key":"x"}`,
			"error: the message went to no queue: nothing is bound to the exchange with that routing key\n", 65},
		{"get messages jobs --count 5 --ack-mode ack_requeue_false", `POST /queues/%2F/jobs/get {"ackmode":"ack_requeue_false","count":5,"encoding":"auto"}`, "EXCHANGE  ROUTING KEY  REDELIVERED  PROPERTIES  PAYLOAD\n", 0},
		{"purge queue jobs", "DELETE /queues/%2F/jobs/contents", "queue 'jobs' is purged\n", 0},
		{"peek jobs --count 2 --header tenant=a", "GET /queues/%2F/jobs/messages?count=2&header.tenant=a", "MESSAGE  AGE  EXCHANGE  ROUTING KEY  DIED IN  OF  REDELIVERED  PROPERTIES  PAYLOAD\n      7                 jobs                      false                    hello\nmore: --cursor c8\n", 0},
		{"peek jobs --offset 3 --cursor 9 -V v", "GET /queues/v/jobs/messages?count=10&cursor=9&offset=3", "error: there is no queue 'jobs' in virtual host 'v'\n", 65},
		{"peek jobs --header tenant", "", "error: --header is NAME=VALUE, not tenant\n", 64},
		{"unacked jobs", "GET /queues/%2F/jobs/unacked", "MESSAGE  CONSUMER  CONNECTION  CHANNEL  USER  HELD FOR  CAME BACK\n      3  c1        a -> b            1  app      250ms\n", 0},
		{"explain jobs", "GET /queues/%2F/jobs/policy", "POLICY  KIND    APPLIES  WHY NOT\nshort   policy  true\nlong    policy  false    priority\n\nTogether they set:\ndead-letter-exchange  \"\"\nmax-length            10\n", 0},
		{"pause jobs", "PUT /queues/%2F/jobs/pause", "paused\n", 0},
		{"resume --queue jobs", "PUT /queues/%2F/jobs/resume", "resumed\n", 0},
		{"close connection 127.0.0.1:4->127.0.0.1:5 --reason over", "DELETE /connections/127.0.0.1:4-%3E127.0.0.1:5", "connection '127.0.0.1:4->127.0.0.1:5' is closed\n", 0},
		{"close user_connections app", "DELETE /connections/username/app", "the connections of 'app' are closed\n", 0},
		{"alarms", "GET /health/checks/alarms", "no alarms\n", 0},
		{"health_check", "GET /health/checks/ready-to-serve-clients", "ok\n", 0},
		{"health port-listener 5672", "GET /health/checks/port-listener/5672", "ok\n", 0},
		{"health certificate_expiration 1 months", "GET /health/checks/certificate-expiration/1/months", "error: Certificates expiring\n", 65},
		{"definitions import -", `POST /definitions from the input`, "definitions are imported\n", 0},
	})
}

// request is a command, what it asks of the API, and what comes of it.
type request struct {
	args, want, output string
	code               int
}

// requests runs each command, whose input is a text, and compares.
func requests(t *testing.T, a *ctltest.API, tests []request) {
	t.Helper()
	for _, tt := range tests {
		output, code := ctlAt(a, "from the input", strings.Fields(tt.args)...)
		if asked := a.Asked(); asked != tt.want || output != tt.output || code != tt.code {
			t.Errorf("%s\nasked %s\nwant  %s\nprinted %q, want %q; exit code %d", tt.args, asked, tt.want, output, tt.output, code)
		}
	}
}

// TestReplay: what was sent is told apart from what stayed.
func TestReplay(t *testing.T) {
	a := ctltest.New(t, map[string]string{
		"POST /queues/%2F/dead/replay": `{"dry_run":true,"examined":12,"matched":11,"sent":10,"without_home":1}`,
		"POST /queues/%2F/lost/replay": `{"dry_run":false,"examined":12,"matched":12,"sent":10,"unroutable":2,"without_home":0}`,
	})
	requests(t, a, []request{
		{"replay dead --count 10 --rate 100 --dry-run", `POST /queues/%2F/dead/replay {"count":10,"dry_run":true,"rate":100}`, "10 of 12 messages would be sent; 1 more have no queue to go back to\n", 0},
		{"replay lost --exchange x", `POST /queues/%2F/lost/replay {"dry_run":false,"exchange":"x"}`, "10 of 12 messages were sent; 2 more stayed, as no queue took them\n", 0},
	})
}

// TestUsage: a command line that can't be understood asks nothing of the broker.
func TestUsage(t *testing.T) {
	a := ctltest.New(t, nil)
	tests := []struct{ args, want string }{
		{"declare queue", "--name is required"},
		{"declare queue a b", "accepts at most 1 arg(s), received 2; see ctl declare queue --help"},
		{"declare queue a --durable=perhaps", "--durable is true or false, not perhaps"},
		{"declare queue a --arguments [1]", `--arguments is a JSON object such as {"x-max-length": 1000}, not [1]`},
		{"declare policy p --definition {}", "--pattern is required"},
		{"declare user_limit app max-channels --value many", "--value is a number, not many"},
		{"declare binding --source x", "--destination is required"},
		{"declare binding --source x --destination y --destination-type z", "--destination-type is queue or exchange, not z"},
		{"declare teapot", `unknown command "teapot" for "ctl declare"; see ctl declare --help`},
		{"frobnicate", `unknown command "frobnicate" for "ctl"; see ctl --help`},
		{"list queues --colour", "unknown flag: --colour"},
		{"get messages", "the queue's name is missing"},
		{"close connection", "the connection's name is missing; see broker ctl list connections"},
		{"close user_connections", "the user is missing"},
		{"publish message --payload x", "--routing-key is required"},
		{"definitions import /nowhere", "open /nowhere: no such file or directory"},
		{"definitions export /nowhere/x --vhost v", "there is no virtual host 'v'"},
		{"watch --interval 0s", "--interval has to be over 0"},
	}
	for _, tt := range tests {
		output, code := ctlAt(a, "", strings.Fields(tt.args)...)
		if want := "error: " + tt.want + "\n"; output != want || code != 64 && code != 65 {
			t.Errorf("%s: %q, exit code %d, want %q", tt.args, output, code, want)
		}
	}
	if output, code := ctltest.Run(admin.New(), "", "status", "--url", "nonsense"); code != 64 {
		t.Errorf("%q, exit code %d", output, code)
	}
}

// TestGroupsHelp: a group of commands alone prints its help.
func TestGroupsHelp(t *testing.T) {
	for _, name := range []string{"list", "declare", "delete", "show", "publish", "get", "purge", "close", "definitions"} {
		if output, code := ctlAt(ctltest.New(t, nil), "", name); code != 0 || !strings.Contains(output, "Available Commands:") {
			t.Errorf("%s: exit code %d, %q", name, code, output)
		}
	}
}

// TestHelp: it tells what flags take, and that a word alone is yes where yes or no is asked for.
func TestHelp(t *testing.T) {
	for args, wants := range map[string][]string{
		"replay --help":          {"--count int", "--headers json", "      --dry-run              only tell", "broker ctl replay jobs.dead --dry-run"},
		"declare queue --help":   {"declare queue [NAME] [flags]", "--arguments json", "--durable", "(default true)", "--type string"},
		"declare user --help":    {"--new-password string", "--tags names"},
		"list queues --help":     {"--where", "broker ctl list queues --columns vhost,state --sort state"},
		"peek --help":            {"--header", "they keep their order"},
		"cancel consumer --help": {"--channel string", "see broker ctl list consumers"},
	} {
		output, code := ctlAt(ctltest.New(t, nil), "", strings.Fields(args)...)
		for _, want := range wants {
			if code != 0 || !strings.Contains(output, want) {
				t.Errorf("%s: exit code %d, no %q in\n%s", args, code, want, output)
			}
		}
	}
}

func TestDefinitionsToAFile(t *testing.T) {
	a := ctltest.New(t, map[string]string{"GET /definitions": `{"queues":[]}`, "GET /definitions/v": `{"bindings":[]}`})
	file := filepath.Join(t.TempDir(), "defs.json")
	output, code := ctltest.Run(admin.NewDefinitions(), "", "export", file, "--url", a.URL)
	text, err := os.ReadFile(file)
	if code != 0 || output != "definitions are in "+file+"\n" || err != nil || string(text) != "{\n  \"queues\": []\n}\n" {
		t.Errorf("%q, exit code %d; %q, %v", output, code, text, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others can read it: %v, %v", info.Mode(), err)
	}
	if output, code := ctltest.Run(admin.NewDefinitions(), "", "export", "--vhost", "v", "--url", a.URL); code != 0 || output != "{\n  \"bindings\": []\n}\n" {
		t.Errorf("%q, exit code %d", output, code)
	}
	a.Asked()
	if _, code := ctltest.Run(admin.NewDefinitions(), "", "import", file, "--vhost", "v", "--url", a.URL); code != 0 || !strings.HasPrefix(a.Asked(), "POST /definitions/v {") {
		t.Errorf("import: exit code %d", code)
	}
}

// TestEnvironment: the environment says which broker is meant, and flags go before it.
func TestEnvironment(t *testing.T) {
	a := ctltest.New(t, map[string]string{"GET /queues/v": "[]"})
	t.Setenv("LEVERET_URL", a.URL)
	t.Setenv("LEVERET_VHOST", "v")
	if output, code := ctltest.Run(admin.New(), "", "purge", "queue", "q"); code != 0 || a.Asked() != "DELETE /queues/v/q/contents" {
		t.Errorf("%q, exit code %d", output, code)
	}
	if output, code := ctltest.Run(admin.New(), "", "purge", "queue", "q", "-V", "/"); code != 0 || a.Asked() != "DELETE /queues/%2F/q/contents" {
		t.Errorf("%q, exit code %d", output, code)
	}
}
