package admin_test

import (
	"strings"
	"testing"

	"leveret/cmd/broker/admin"
	"leveret/ctl/ctltest"
)

// twoConsumers have one tag, on two channels.
const twoConsumers = `[
	{"queue":{"name":"jobs","vhost":"/"},"consumer_tag":"c1","channel_details":{"name":"a -> b (1)","connection_name":"a -> b","number":1}},
	{"queue":{"name":"other","vhost":"v"},"consumer_tag":"c1","channel_details":{"name":"a -> b (2)","connection_name":"a -> b","number":2}},
	{"queue":{"name":"other","vhost":"v"},"consumer_tag":"alone","channel_details":{"name":"a -> b (2)","connection_name":"a -> b","number":2}}]`

// TestActs: what the commands ask that act on single messages, consumers, shovels and the running broker.
func TestActs(t *testing.T) {
	a := ctltest.New(t, map[string]string{
		"GET /consumers": twoConsumers,
		"GET /whoami":    `{"name":"guest","tags":["administrator"]}`,
		"POST /consumers/v/a%20-%3E%20b/2/alone/requeue":        `{"messages":5}`,
		"DELETE /queues/%2F/jobs/messages/9":                    `404 {"error":"Object Not Found","reason":"Not Found"}`,
		"POST /queues/%2F/jobs/unacked/9/requeue":               `404 {"error":"Object Not Found","reason":"Not Found"}`,
		"DELETE /shovels/vhost/%2F/none/restart":                `404 {"error":"Object Not Found","reason":"Not Found"}`,
		"PUT /parameters/shovel/%2F/s":                          "201 ",
		"GET /queues/%2F/quiet/policy":                          `{"name":"quiet","policy":null,"operator_policy":null,"effective_policy_definition":{},"policy_skipped":[]}`,
		"GET /queues/%2F/jobs/unacked?count=5":                  `[]`,
		"GET /queues/%2F/jobs/delayed?count=10&header.tenant=a": `{"messages":[],"cursor":null}`,
		"GET /health/checks/below-node-connection-limit":        `{"status":"ok"}`,
	})
	tests := []struct {
		args, want, output string
		code               int
	}{
		{"delete message jobs 3 4", "DELETE /queues/%2F/jobs/messages/3\nDELETE /queues/%2F/jobs/messages/4", "message 3 of queue 'jobs' is deleted\nmessage 4 of queue 'jobs' is deleted\n", 0},
		{"delete message jobs 9", "DELETE /queues/%2F/jobs/messages/9", "error: there is no message 9 ready or delayed in queue 'jobs', or no such queue\n", 65},
		{"delete message jobs 3 x", "", "error: a message's number, as peek and unacked show it, is wanted, not x\n", 64},
		{"requeue message jobs 3 -V v", "POST /queues/v/jobs/unacked/3/requeue", "message 3 is back in queue 'jobs'\n", 0},
		{"requeue message jobs 9", "POST /queues/%2F/jobs/unacked/9/requeue", "error: there is no message 9 unacked in queue 'jobs', or no such queue\n", 65},
		{"requeue consumer alone", "GET /consumers\nPOST /consumers/v/a%20-%3E%20b/2/alone/requeue", "5 messages of consumer 'alone' are back in the queue\n", 0},
		{"requeue consumer alone --json", "GET /consumers\nPOST /consumers/v/a%20-%3E%20b/2/alone/requeue", "{\n  \"messages\": 5\n}\n", 0},
		{"cancel consumer c1 --queue jobs", "GET /consumers\nDELETE /consumers/%2F/a%20-%3E%20b/1/c1", "consumer 'c1' is cancelled\n", 0},
		{"cancel consumer c1", "GET /consumers", "error: 2 consumers have the tag 'c1': say which with --channel, of 'a -> b (1)', 'a -> b (2)'\n", 64},
		{"cancel consumer none", "GET /consumers", "error: there is no consumer 'none'; see broker ctl list consumers\n", 65},
		{"set consumer_prefetch alone 50", "GET /consumers\nPUT /consumers/v/a%20-%3E%20b/2/alone {\"prefetch\":50}", "consumer 'alone' has a prefetch of 50\n", 0},
		{"set consumer_prefetch alone many", "GET /consumers", "error: the prefetch is a number, 0 for no limit, not many\n", 64},
		{"set channel_prefetch x(1) 0", "PUT /channels/x%281%29/prefetch {\"prefetch\":0}", "channel 'x(1)' has a prefetch of 0\n", 0},
		{"set cluster_name hares", "PUT /cluster-name {\"name\":\"hares\"}", "cluster_name is hares\n", 0},
		{"set log_level debug", "PUT /leveret/log-level {\"level\":\"debug\"}", "log_level is debug\n", 0},
		{"set memory_watermark 0.6", "PUT /leveret/memory-watermark {\"relative\":0.6}", "memory_watermark is 0.6\n", 0},
		{"set memory_watermark 512MiB", "PUT /leveret/memory-watermark {\"absolute\":536870912}", "memory_watermark is 512MiB\n", 0},
		{"set disk_free_limit 1000000", "PUT /leveret/disk-free-limit {\"bytes\":1000000}", "disk_free_limit is 1000000\n", 0},
		{"set disk_free_limit little", "", "error: a limit is bytes such as 512MiB, or a fraction such as 0.6, not little\n", 64},
		{"alarms raise memory", "PUT /leveret/alarms/memory", "the alarm for memory is raised\n", 0},
		{"alarms clear disk", "DELETE /leveret/alarms/disk", "the alarm for disk is not raised any more\n", 0},
		{"alarms raise patience", "", "error: invalid argument \"patience\" for \"ctl alarms raise\"; see ctl alarms raise --help\n", 64},
		{"stop", "POST /leveret/stop", "the broker ends\n", 0},
		{"whoami", "GET /whoami", "name  guest\ntags  administrator\n", 0},
		{"delayed jobs --header tenant=a", "GET /queues/%2F/jobs/delayed?count=10&header.tenant=a", "MESSAGE  DUE IN  WAITING FOR  EXCHANGE  ROUTING KEY  PROPERTIES  PAYLOAD\n", 0},
		{"unacked jobs --count 5", "GET /queues/%2F/jobs/unacked?count=5", "MESSAGE  CONSUMER  CONNECTION  CHANNEL  USER  HELD FOR  CAME BACK\n", 0},
		{"explain quiet", "GET /queues/%2F/quiet/policy", "no policy fits queue 'quiet'\n", 0},
		{"declare shovel s --source-queue a --destination-queue b --destination-uri amqps://far --prefetch 10 --delete-after queue-length",
			`PUT /parameters/shovel/%2F/s {"value":{"dest-queue":"b","dest-uri":"amqps://far","src-delete-after":"queue-length","src-prefetch-count":10,"src-queue":"a","src-uri":"amqp://"}}`, "shovel 's' created\n", 0},
		{"declare shovel t --delete-after 5 --destination-exchange x",
			`PUT /parameters/shovel/%2F/t {"value":{"dest-exchange":"x","dest-uri":"amqp://","src-delete-after":5,"src-uri":"amqp://"}}`, "shovel 't' is set\n", 0},
		{"declare shovel t --source-queue a --destination-uri amqp://far",
			`PUT /parameters/shovel/%2F/t {"value":{"dest-uri":"amqp://far","src-queue":"a","src-uri":"amqp://"}}`, "shovel 't' is set\n", 0},
		{"declare shovel t --source-queue a", "", "error: --destination-queue or --destination-exchange is required, as the shovel would feed itself without one\n", 64},
		{"set consumer_prefetch ct -1", "", "error: -1 is below 0, which can't be\n", 64},
		{"set consumer_prefetch ct -x", "", "error: unknown shorthand flag: 'x' in -x\n", 64},
		{"delayed later", "GET /queues/%2F/later/delayed?count=10",
			"error: there is no queue 'later' in virtual host '/'; --exchange if that is the name of an exchange that delays\n", 65},
		{"delayed later --exchange", "GET /queues/%2F/amq.delayed.later/delayed?count=10", "error: there is no queue 'amq.delayed.later' in virtual host '/'\n", 65},
		{"delete shovel s -V v", "DELETE /parameters/shovel/v/s", "shovel 's' deleted\n", 0},
		{"restart shovel s", "DELETE /shovels/vhost/%2F/s/restart", "shovel 's' connects anew\n", 0},
		{"restart shovel none", "DELETE /shovels/vhost/%2F/none/restart", "error: there is no shovel 'none' in virtual host '/'\n", 65},
		{"health below_node_connection_limit", "GET /health/checks/below-node-connection-limit", "ok\n", 0},
	}
	for _, tt := range tests {
		output, code := ctlAt(a, "", strings.Fields(tt.args)...)
		if asked := a.Asked(); asked != tt.want || output != tt.output || code != tt.code {
			t.Errorf("%s\nasked %s\nwant  %s\nprinted %q, want %q; exit code %d", tt.args, asked, tt.want, output, tt.output, code)
		}
	}
}

// TestWhere: a list shows what has the values, and prints it as it came; the virtual host of the command line is one of them where the API has no path for it.
func TestWhere(t *testing.T) {
	a := ctltest.New(t, map[string]string{
		"GET /connections": `[{"name":"a","vhost":"/","user":"app"},{"name":"b","vhost":"v","user":"app"},{"name":"c","vhost":"v","user":"other"}]`,
		"GET /queues/v":    `[{"name":"a","consumers":0,"z":1.50,"a":{"b":1}},{"name":"b","consumers":2}]`,
		"GET /queues?columns=name%2Cmessages%2Cconsumers": `[{"name":"a","consumers":0},{"name":"b","consumers":2}]`,
	})
	for args, want := range map[string]string{
		"list connections -q -V v":                                          "b    app   v\nc    other  v\n",
		"list connections -q --where user=app -V v":                         "b    app  v\n",
		"list queues -V v --where consumers=0 --where a.b=1 --json":         "[\n  {\n    \"name\": \"a\",\n    \"consumers\": 0,\n    \"z\": 1.50,\n    \"a\": {\n      \"b\": 1\n    }\n  }\n]\n",
		"list queues -V v --where consumers=7 --json":                       "[]\n",
		"list queues -q --columns name --sort messages --where consumers=2": "b\n",
		"list queues --where consumers":                                     "error: --where is FIELD=VALUE, not consumers\n",
	} {
		output, _ := ctlAt(a, "", strings.Fields(args)...)
		if strings.Join(strings.Fields(output), " ") != strings.Join(strings.Fields(want), " ") {
			t.Errorf("%s: %q, want %q", args, output, want)
		}
	}
}

// TestCompletion: what the shell is told when somebody presses the tabulator.
func TestCompletion(t *testing.T) {
	a := ctltest.New(t, map[string]string{
		"GET /queues/%2F?columns=name":        `[{"name":"jobs"},{"name":"jobs.dead"},{"name":"other"}]`,
		"GET /queues/v?columns=name":          `[{"name":"in v"}]`,
		"GET /users?columns=name":             `[{"name":"guest"},{"name":"app"}]`,
		"GET /vhosts?columns=name":            `[{"name":"/"},{"name":"v"}]`,
		"GET /consumers?columns=consumer_tag": `[{"consumer_tag":"c1"},{"consumer_tag":"c1"}]`,
		"GET /parameters?columns=component":   `[{"component":"shovel"}]`,
		"GET /connections?columns=name":       `[{"name":"a -> b"}]`,
		"GET /channels?columns=name":          `[{"name":"a -> b (1)"}]`,
		"GET /shovels/%2F?columns=name":       `[{"name":"s"}]`,
	})
	for args, want := range map[string]string{
		"peek|jo":                       "jobs jobs.dead",
		"peek|jobs|":                    "",
		"delete|queue|o":                "other",
		"show|queue|-V|v|":              "in v",
		"get|messages|":                 "jobs jobs.dead other",
		"delete|message|jobs.":          "jobs.dead",
		"declare|permissions|a":         "app",
		"declare|user_limit|app|max-ch": "max-channels",
		"list|queues|-V|":               "/ v",
		"cancel|consumer|":              "c1",
		"declare|queue|x|--type|q":      "classic quorum stream", // the shell chooses
		"show|parameter|x|":             "shovel",
		"close|connection|":             "a -> b",
		"close|user_connections|g":      "guest",
		"set|channel_prefetch|":         "a -> b (1)",
		"restart|shovel|":               "s",
		"alarms|raise|":                 "memory disk",
		"show|policy|":                  "",
	} {
		output, code := ctltest.Run(admin.New(), "", completing(strings.Split(args, "|"), a.URL)...)
		var words []string
		for line := range strings.Lines(output) {
			if word, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); !strings.HasPrefix(word, ":") && !strings.HasPrefix(word, "Completion ended") {
				words = append(words, word)
			}
		}
		if got := strings.Join(words, " "); code != 0 || got != want {
			t.Errorf("%s: %q, want %q; exit code %d", args, got, want, code)
		}
	}
}

// completing is what a shell calls for a line whose last word is begun.
func completing(words []string, url string) []string {
	return append([]string{"__complete", "--url", url}, words...)
}
