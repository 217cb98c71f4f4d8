package definitions_test

import (
	"errors"
	"strings"
	"testing"

	"leveret/auth"
	"leveret/definitions"
	"leveret/server"
)

// What can't be imported is told in RabbitMQ's words, by which tools tell the cases apart.
func TestImportErrors(t *testing.T) {
	for _, tt := range []struct{ name, file, text string }{
		{"cut short", `{`, "failed_to_parse_json"},
		{"a list", `[]`, "failed_to_parse_json"},
		{"null", `null`, "failed_to_parse_json"},
		{"no list", `{"queues": "x"}`, "queues must be a list"},
		{"queue without vhost", `{"queues": [{"name": "x"}]}`, "entry 1 of queues: it names no virtual host"},
		{"queue without name", `{"queues": [{"vhost": "/"}]}`, "entry 1 of queues: it has no name"},
		{"flag of a wrong type", `{"queues": [{"vhost": "/", "name": "q", "durable": "x"}]}`,
			"entry 1 of queues: json: cannot unmarshal string into Go struct field Queue.durable of type bool"},
		{"unknown vhost", `{"queues": [{"name": "x", "vhost": "nowhere"}]}`,
			`Please create virtual host "nowhere" prior to importing definitions.`},
		{"exchange in an unknown vhost", `{"exchanges": [{"name": "x", "type": "topic", "vhost": "nowhere"}]}`,
			`Please create virtual host "nowhere" prior to importing definitions.`},
		{"user without tags", `{"users": [{"name": "x"}]}`, "tags_not_present"},
		{"two passwords", `{"users": [{"name": "x", "password_hash": "AAAA", "password": "y", "tags": ""}]}`,
			"both_password_and_password_hash_are_provided"},
		{"hash that is none", `{"users": [{"name": "x", "password_hash": "!!", "tags": ""}]}`, `{not_base64,<<"!!">>}`},
		{"weak password", `{"users": [{"name": "x", "password": "short", "tags": ""}]}`, "credential_validation_failed"},
		{"permission of nobody", `{"permissions": [{"user": "nobody", "vhost": "/", "configure": "", "write": "", "read": ""}]}`,
			`{no_such_user,<<"nobody">>}`},
		{"permission nowhere", `{"permissions": [{"user": "guest", "vhost": "v", "configure": "", "write": "", "read": ""}]}`,
			`{no_such_vhost,<<"v">>}`},
		{"topic permission of nobody", `{"topic_permissions": [{"user": "nobody", "vhost": "/", "exchange": "", "write": "", "read": ""}]}`,
			`{no_such_user,<<"nobody">>}`},
		{"exchange type", `{"exchanges": [{"name": "bad", "vhost": "/", "type": "nonsense"}]}`,
			"precondition_failed: invalid exchange type 'nonsense'"},
		{"no source", `{"bindings": [{"source": "x", "vhost": "/", "destination": "q", "destination_type": "queue", "routing_key": ""}]}`,
			`{resources_missing,[{not_found,{resource,<<"/">>,exchange,<<"x">>}},{not_found,{resource,<<"/">>,queue,<<"q">>}}]}`},
		{"argument null", `{"queues": [{"name": "q", "vhost": "/", "arguments": {"a": null}}]}`, "null_not_allowed"},
		{"argument of a wrong type", `{"queues": [{"name": "q", "vhost": "/", "arguments": {"x-message-ttl": "1"}}]}`,
			`precondition_failed: invalid arg 'x-message-ttl' for queue 'q' in vhost '/': "expected integer, got longstr"`},
		{"arguments of a wrong type", `{"queues": [{"name": "q", "vhost": "/", "arguments": [1]}]}`, "entry 1 of queues: arguments must be an object"},
		{"long name", `{"queues": [{"name": "` + strings.Repeat("n", 256) + `", "vhost": "/"}]}`,
			`the queue name "` + strings.Repeat("n", 40) + `"... is longer than 255 bytes`},
		{"queue type", `{"vhosts": [{"name": "v", "default_queue_type": "fast"}]}`, "fast is not a valid queue type"},
		{"limit", `{"parameters": [{"vhost": "/", "component": "vhost-limits", "name": "limits", "value": {"n": 1}}]}`,
			"Validation failed\n\nUnrecognised terms [{<<\"n\">>,1}] in limits\n (vhost: \"/\" / component: \"vhost-limits\" / key: \"limits\")"},
		{"limit of a wrong type", `{"parameters": [{"vhost": "/", "component": "vhost-limits", "name": "limits", "value": {"max-queues": "x"}}]}`,
			"Validation failed\n\nmax-queues should be a number, actually was <<\"x\">>\n (vhost: \"/\" / component: \"vhost-limits\" / key: \"limits\")"},
		{"parameter of no component", `{"parameters": [{"vhost": "/", "component": "nonsense", "name": "n", "value": 1}]}`,
			"Validation failed\n\ncomponent nonsense not found\n (vhost: \"/\" / component: \"nonsense\" / key: \"n\")"},
		{"policy", `{"policies": [{"vhost": "/", "name": "bad", "pattern": ".*", "definition": {"max-length": -1}}]}`,
			"Validation failed\n\n-1 is not a valid maximum length\n (vhost: \"/\" key: \"bad\")"},
		{"policy without definition", `{"policies": [{"vhost": "/", "name": "bad", "pattern": ".*"}]}`,
			"Validation failed\n\nKey \"definition\" not found in bad\n (vhost: \"/\" key: \"bad\")"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRigWith(t, func(_ *server.Options, o *auth.Options) {
				o.CheckPassword = auth.MinPasswordLength(8)
				o.DefaultUser = ""
			})
			if _, err := r.Users.SetUser(auth.UserUpdate{Name: "guest", Tags: []string{}}); err != nil {
				t.Fatal(err)
			}
			err := r.Import([]byte(tt.file), "")
			var refusal *definitions.Refusal
			if !errors.As(err, &refusal) || refusal.Text != tt.text {
				t.Errorf("got  %v\nwant %s", err, tt.text)
			}
		})
	}
}

func TestImportOfNothing(t *testing.T) {
	r := newRig(t)
	before := r.export()
	for _, file := range []string{"", " \n", "{}", `{"nonsense": [1]}`, `{"queues": [], "bindings": []}`} {
		r.load(file)
	}
	if r.export() != before {
		t.Error("something has changed")
	}
}

// An import that fails leaves what it did before the error, and does not go on behind it.
func TestImportStopsAtTheFirstError(t *testing.T) {
	r := newRig(t)
	err := r.Import([]byte(`{
		"queues": [{"name": "q", "vhost": "/"}],
		"exchanges": [{"name": "a", "vhost": "/", "type": "fanout"}, {"name": "b", "vhost": "/", "type": "none"}],
		"vhosts": [{"name": "v"}]}`), "")
	if err == nil {
		t.Fatal("imported")
	}
	if r.Server.VHost("v") == nil || r.Server.VHost("/").Exchange([]byte("a")) == nil {
		t.Error("what came before the error is not there")
	}
	if r.Server.VHost("/").HasQueue("q") {
		t.Error("what comes after the error is there")
	}
}

func TestImportKeepsToQueueLimits(t *testing.T) {
	r := newRig(t)
	r.load(`{"vhosts": [{"name": "v", "limits": {"max-queues": 2}}], "queues": [{"name": "a", "vhost": "v"}]}`)
	err := r.Import([]byte(`{"queues": [{"name": "a", "vhost": "v"}, {"name": "b", "vhost": "v"}, {"name": "c", "vhost": "v"}]}`), "")
	const text = "Adding 2 queue(s) to virtual host \"v\" would exceed the limit of 2 queue(s).\n\n" +
		"This virtual host currently has 1 queue(s) defined.\n\nImport aborted!"
	if err == nil || err.Error() != text {
		t.Errorf("got %v", err)
	}
	if r.Server.VHost("v").HasQueue("b") {
		t.Error("a queue was made all the same")
	}
	r.load(`{"queues": [{"name": "a", "vhost": "v"}, {"name": "b", "vhost": "v"}]}`)
}
