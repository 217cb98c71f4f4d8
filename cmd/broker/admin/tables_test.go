package admin_test

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"leveret/ctl/ctltest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// answers are what the API says of a small broker.
var answers = map[string]string{
	"GET /queues": `[
		{"vhost":"/","name":"jobs","type":"classic","messages":1234580,"messages_ready":1234567,"messages_unacknowledged":13,"consumers":3,"state":"running","policy":"short-ones",
		 "message_stats":{"publish_details":{"rate":1500.2},"deliver_get_details":{"rate":1499.8},"ack_details":{"rate":1499.8}}},
		{"vhost":"production","name":"orders.eu-central-1.billing.retries.delayed.thirty-minutes","type":"quorum","messages":0,"messages_ready":0,"messages_unacknowledged":0,"consumers":0,
		 "state":"running","policy":null},
		{"vhost":"/","name":"amq.gen-x\u001b[2Jy","type":"classic","messages":1,"messages_ready":1,"messages_unacknowledged":0,"consumers":1,"state":"running"}]`,
	"GET /queues?columns=name%2Cmessages%2Cmessage_stats.publish_details.rate%2Cmessages": `[{"name":"jobs","messages":1234580,"message_stats":{"publish_details":{"rate":1500.2}}},
		{"name":"idle","messages":0}]`,
	"GET /connections":     `[{"name":"172.18.0.5:51234 -> 172.18.0.2:5672","user":"app","vhost":"/","channels":2,"state":"running","user_provided_name":"order-service"}]`,
	"GET /bindings":        `[{"vhost":"/","source":"orders","destination":"jobs","destination_type":"queue","routing_key":"order.*.created","arguments":{}}]`,
	"GET /users":           `[{"name":"guest","tags":["administrator"],"limits":{}},{"name":"app","tags":[],"limits":{"max-connections":10}}]`,
	"GET /policies":        `[{"vhost":"/","name":"short-ones","pattern":"^jobs","apply-to":"queues","priority":0,"definition":{"max-length":1000000,"overflow":"reject-publish"}}]`,
	"GET /queues/%2F/jobs": `{"vhost":"/","name":"jobs","type":"classic","durable":true,"arguments":{"x-max-priority":5},"messages_ready":3,"policy":null,"consumer_details":[]}`,
	"POST /queues/%2F/jobs/get": `[{"exchange":"","routing_key":"jobs","redelivered":false,"message_count":2,"payload":"{\"task\":\"resize\"}","payload_encoding":"string",
		"properties":{"delivery_mode":2,"headers":{"attempt":1}}}]`,
	"GET /overview": `{"node":"leveret@prod-1","product_name":"RabbitMQ","product_version":"4.3.6","object_totals":{"connections":4,"channels":7,"exchanges":9,"queues":2,"consumers":3},
		"queue_totals":{"messages_ready":1234567,"messages_unacknowledged":13},"message_stats":{"publish_details":{"rate":1500.2},"deliver_get_details":{"rate":1499.8}},
		"listeners":[{"protocol":"amqp","ip_address":"::","port":5672},{"protocol":"http","ip_address":"::","port":15672}]}`,
	"GET /nodes/leveret@prod-1": `{"applications":[{"name":"leveret","version":"1.2.3"}],"uptime":93784000,"mem_used":52428800,"mem_limit":1288490189,"mem_alarm":false,"disk_free":41231686041,"disk_free_limit":50000000,"disk_free_alarm":true,
		"sockets_used":4,"sockets_total":1048576}`,
}

// hours are Unix milliseconds some hours from now, in JSON.
func hours(n float64) string {
	return strconv.FormatInt(time.Now().Add(time.Duration(n*float64(time.Hour))).UnixMilli(), 10)
}

// insightAnswers are what it says of what only this broker tells.
var insightAnswers = map[string]string{
	"GET /consumers": `[{"queue":{"name":"orders.eu-central-1.billing.retries.delayed.thirty-minutes","vhost":"/"},"consumer_tag":"worker-7f8b-international-billing","prefetch_count":30,
		"channel_details":{"name":"172.18.0.5:51234 -> 172.18.0.2:5672 (1)"},"ack_required":true,"active":true}]`,
	"GET /channels": `[{"name":"172.18.0.5:51234 -> 172.18.0.2:5672 (1)","user":"app","consumer_count":1,"prefetch_count":30,"messages_unacknowledged":30,"messages_unconfirmed":0,"state":"running"}]`,
	"GET /nodes":    `[{"name":"leveret@prod-1","running":true,"mem_used":52428800,"mem_alarm":false,"disk_free":41231686041,"disk_free_alarm":true,"sockets_used":4}]`,
	"GET /shovels": `[{"vhost":"/","name":"to-berlin","state":"running","forwarded":1200,"remaining":"unlimited","pending":3,"src_uri":"amqp://","dest_uri":"amqps://b1.example"},
		{"vhost":"/","name":"broken","state":"terminated","src_uri":"amqp://","dest_uri":"amqps://b2.example","reason":"no such host"}]`,
	"GET /queues/%2F/jobs/messages?count=10": `{"messages":[{"message":4711,"published":` + hours(-26.5) + `,"exchange":"orders","routing_key":"order.eu-central-1.created","redelivered":true,
		"properties":{"content_type":"application/json","headers":{"tenant":"acme-international","attempt":1}},"payload":"{\"task\":\"resize\",\"image\":\"https://example.org/images/3\"}"}],"cursor":null}`,
	"GET /queues/%2F/amq.delayed.later/delayed?count=10": `{"messages":[{"message":1,"published":` + hours(-50.5) + `,"due":` + hours(26.5) + `,"exchange":"later","routing_key":"jobs",
		"properties":{"headers":{"x-delay":97200000}},"payload":"remind"}],"cursor":null}`,
	"GET /queues/%2F/jobs/unacked": `[{"message":4711,"delivery_tag":9,"consumer_tag":"worker-7f8b-international-billing","connection_name":"172.18.0.5:51234 -> 172.18.0.2:5672","channel_number":1,
		"user":"app","age":93784000,"returned":2,"failed":1},{"message":4712,"consumer_tag":"","connection_name":"172.18.0.5:51235 -> 172.18.0.2:5672","channel_number":2,"user":"app","age":2500,"returned":0}]`,
	"GET /queues/%2F/jobs/policy": `{"name":"jobs","policy":"capped","operator_policy":"bound","effective_policy_definition":{"max-length":1000,"overflow":"reject-publish"},
		"policy_skipped":[{"name":"older","operator":false,"reason":"policy 'capped' has a higher priority"}]}`,
}

// TestTables compares what commands print, in terminals of two widths, with golden files.
func TestTables(t *testing.T) {
	all := maps.Clone(answers)
	maps.Copy(all, insightAnswers)
	a := ctltest.New(t, all)
	tests := []struct{ name, args string }{
		{"queues", "list queues"},
		{"queues-columns", "list queues --columns name,messages,message_stats.publish_details.rate --sort messages"},
		{"connections", "list connections"},
		{"bindings", "list bindings"},
		{"users", "list users"},
		{"policies", "list policies"},
		{"show-queue", "show queue jobs"},
		{"messages", "get messages jobs"},
		{"status", "status"},
		{"consumers", "list consumers"},
		{"channels", "list channels"},
		{"nodes", "list nodes"},
		{"shovels", "list shovels"},
		{"peek", "peek jobs"},
		{"delayed", "delayed --exchange later"},
		{"unacked", "unacked jobs"},
		{"explain", "explain jobs"},
	}
	for _, tt := range tests {
		for _, width := range []string{"80", "120"} {
			output, code := ctlAt(a, "", append(strings.Fields(tt.args), "--width", width)...)
			if code != 0 {
				t.Errorf("%s: exit code %d, %s", tt.name, code, output)
			}
			compare(t, filepath.Join("testdata", tt.name+"-"+width+".txt"), output)
			for line := range strings.Lines(output) {
				if n := utf8.RuneCountInString(line) - 1; width == "80" && n > 80 || n > 120 {
					t.Errorf("%s: a line of %d characters: %s", tt.name, n, line)
				}
			}
		}
	}
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != got {
		t.Errorf("%s: got\n%s\nwant\n%s\n%v", file, got, want, err)
	}
}

// TestWatch: each look is a table, the longest queue first, and a terminal is not cleared where there is none.
func TestWatch(t *testing.T) {
	output, code := ctlAt(ctltest.New(t, answers), "", "watch", "--interval", "1ms", "--rounds", "2", "--top", "2", "--width", "80")
	if code != 0 || strings.Count(output, "3 queues, 1234568 ready, 13 unacked") != 2 || strings.Contains(output, "\x1b") {
		t.Errorf("exit code %d, %q", code, output)
	}
	if lines := strings.Split(output, "\n"); len(lines) < 5 || !strings.HasPrefix(lines[3], "jobs ") || strings.Contains(output, "billing") {
		t.Errorf("%s", output)
	}
	if output, code := ctlAt(ctltest.New(t, nil), "", "watch"); code != 65 {
		t.Errorf("a broker that refuses: exit code %d, %q", code, output)
	}
}

// TestJSON: what the API answers comes out as it is.
func TestJSON(t *testing.T) {
	a := ctltest.New(t, map[string]string{"GET /queues": `[{"z":1.50,"a":[]}]`, "GET /queues/%2F/jobs": `{"z":1,"a":2}`, "GET /overview": `{"x":1}`,
		"GET /health/checks/alarms": `{"status":"ok"}`, "POST /exchanges/%2F/amq.default/publish": `{"routed":false}`})
	for args, want := range map[string]string{
		"list queues":     "[\n  {\n    \"z\": 1.50,\n    \"a\": []\n  }\n]\n",
		"show queue jobs": "{\n  \"z\": 1,\n  \"a\": 2\n}\n",
		"status":          "{\n  \"x\": 1\n}\n",
		"alarms":          "{\n  \"status\": \"ok\"\n}\n",
		"delete queue q":  "",
		"watch -n 1":      `[{"z":1.50,"a":[]}]` + "\n",
		"publish message --routing-key q --payload x": "{\n  \"routed\": false\n}\n",
	} {
		if output, code := ctlAt(a, "", append(strings.Fields(args), "--json")...); output != want || code != 0 {
			t.Errorf("%s: %q, exit code %d, want %q", args, output, code, want)
		}
	}
}

// TestAlarms: the check names what is short.
func TestAlarms(t *testing.T) {
	a := ctltest.New(t, map[string]string{"GET /health/checks/alarms": `503 {"status":"failed","reason":"There are alarms in effect in the cluster","alarms":[{"node":"leveret@h","resource":"memory"}]}`})
	want := "error: There are alarms in effect in the cluster: memory on leveret@h\n"
	if output, code := ctlAt(a, "", "alarms"); output != want || code != 65 {
		t.Errorf("%q, exit code %d", output, code)
	}
}
