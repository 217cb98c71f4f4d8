package rabbitmqctl_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"leveret/ctl/ctltest"
)

var update = flag.Bool("update", false, "write what the verbs do into testdata")

// further are answers for verbs that only ask.
var further = map[string]string{
	"GET /exchanges/%2F": `[{"name":"","type":"direct","durable":true,"arguments":{}},{"name":"orders","type":"topic","durable":true,"arguments":{}}]`,
	"GET /channels":      `[{"name":"a (1)","user":"guest","consumer_count":1,"messages_unacknowledged":3,"vhost":"/","number":1,"connection_details":{"name":"a"}}]`,
	"GET /consumers/%2F": `[{"consumer_tag":"t","queue":{"name":"jobs","vhost":"/"},"ack_required":true,"prefetch_count":5,"active":true,"exclusive":false,
		"arguments":{},"channel_details":{"name":"a (1)","connection_name":"a","number":1}}]`,
	"GET /feature-flags":                                                  `[{"name":"quorum_queue","state":"enabled"}]`,
	"GET /deprecated-features":                                            `[{"name":"global_qos","state":"permitted","deprecation_phase":"permitted_by_default"}]`,
	"GET /global-parameters":                                              `[{"name":"cluster_name","value":"c"}]`,
	"GET /operator-policies/%2F":                                          `[{"vhost":"/","name":"o","pattern":"","apply-to":"queues","definition":{"expires":1},"priority":0}]`,
	"GET /vhosts/%2F/topic-permissions":                                   `[{"user":"guest","exchange":"amq.topic","write":"w","read":"r"}]`,
	"GET /user-limits/app":                                                `[{"user":"app","value":{"max-channels":5}}]`,
	"GET /user-limits":                                                    `[{"user":"app","value":{"max-channels":5}}]`,
	"GET /users/guest/permissions":                                        `[{"vhost":"/","configure":".*","write":".*","read":".*"}]`,
	"GET /users/guest/topic-permissions":                                  `[{"vhost":"/","exchange":"amq.topic","write":"w","read":"r"}]`,
	"GET /queues/%2F/jobs/policy":                                         `{"policy":"short","operator_policy":null,"policy_skipped":[{"name":"long","operator":false,"reason":"priority"}]}`,
	"GET /queues/%2F/jobs/messages?count=1&offset=1":                      `{"messages":[{"message":7,"exchange":"","routing_key":"jobs","redelivered":false,"properties":{"delivery_mode":2},"payload":"hello"}]}`,
	"GET /queues/%2F/jobs/messages?count=1&offset=8":                      `{"messages":[]}`,
	"GET /queues/%2F/none/messages?count=1&offset=0":                      `404 {"error":"Object Not Found","reason":"Not Found"}`,
	"GET /health/checks/alarms":                                           `503 {"status":"failed","reason":"There are alarms in effect in the cluster"}`,
	"GET /health/checks/virtual-hosts":                                    `{"status":"ok"}`,
	"GET /health/checks/node-is-quorum-critical":                          `{"status":"ok"}`,
	"GET /health/checks/protocol-listener/amqp":                           `{"status":"ok"}`,
	"GET /health/checks/protocol-listener/mqtt":                           `503 {"status":"failed","reason":"No active listener"}`,
	"GET /health/checks/metadata-store/initialized":                       `{"status":"ok"}`,
	"GET /health/checks/metadata-store/initialized/with-data":             `{"status":"ok"}`,
	"GET /health/checks/quorum-queues-without-elected-leaders/all-vhosts": `{"status":"ok"}`,
}

// TestVerbs compares what verbs ask and print with testdata/verbs.txt, whose lines with a $ are commands.
func TestVerbs(t *testing.T) {
	all := map[string]string{}
	for _, list := range []map[string]string{answers, further} {
		maps.Copy(all, list)
	}
	a := ctltest.New(t, all)
	const file = "testdata/verbs.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range strings.Lines(string(text)) {
		args, found := strings.CutPrefix(line, "$ ")
		if !found {
			continue
		}
		output, code := at(t, a, "", strings.Fields(args)...)
		fmt.Fprintf(&got, "$ %s%s", args, output)
		for asked := range strings.SplitSeq(a.Asked(), "\n") {
			if asked != "" {
				fmt.Fprintf(&got, "asks %s\n", asked)
			}
		}
		fmt.Fprintf(&got, "exit code %d\n\n", code)
	}
	if *update {
		err = os.WriteFile(file, []byte(got.String()), 0o644)
	} else if got.String() != string(text) {
		t.Errorf("got\n%s\nwant\n%s", &got, text)
	}
	if err != nil {
		t.Error(err)
	}
}
