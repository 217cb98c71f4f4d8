package interop

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// setting is what runs before a page's examples: its broker listens on another port, and held tells how many messages a queue has ready.
const setting = `
import pika
pika.connection.Parameters.DEFAULT_PORT = %d
held = lambda queue: channel.queue_declare(queue, passive=True).method.message_count
`

// pythonPages are the pages whose examples are in Python, with what their readers have to bring along, and what the examples must have done.
var pythonPages = []struct {
	page, before, after string
	blocks              int
	http                bool // they use the HTTP API too
}{
	{page: "exchanges.md", blocks: 9, after: `
assert (held("europe"), held("reports"), held("jobs-1") + held("jobs-2")) == (1, 1, 1)
assert sum(held(f"shard-{i}") for i in range(4)) == 1 == held("worker-1") + held("worker-2")
assert [channel.basic_get(mine, auto_ack=True)[2] for _ in range(5)] == [b"line %d" % i for i in range(5, 10)]
assert (held("pay"), held("due")) == (1, 0)
`},
	{page: "queues.md", blocks: 14, after: `
assert (held("orders"), held("tickets"), held("ledger")) == (1, 1, 1)
channel.basic_publish("", "poison", b"")
for attempt in range(4):
    channel.basic_nack(channel.basic_get("poison")[0].delivery_tag)
assert (held("poison"), held("poison.dead")) == (0, 1)
`},
	{page: "groups-and-fairness.md", blocks: 3, after: `
first, _, body = channel.basic_get("orders")
assert body == b"created" and channel.basic_get("orders")[0] is None and held("mail") == 1
channel.basic_ack(first.delivery_tag)
assert channel.basic_get("orders")[2] == b"paid"
`},
	{page: "policies.md", blocks: 1, http: true, before: `
connection = pika.BlockingConnection()
channel = connection.channel()
channel.queue_declare("orders.eu")
`, after: `
assert api("GET", "/queues/%2F/orders.eu")["effective_policy_definition"] == {"max-length": 100000}
`},
	{page: "consumer-timeouts.md", blocks: 1, before: `
connection = pika.BlockingConnection()
channel = connection.channel()
channel.queue_declare("jobs", durable=True, arguments={"x-consumer-timeout": 60_000})
channel.basic_publish("", "jobs", b"1 2 3")
connection.close()
done = []
split = bytes.split
def work(part):
    done.append(part)
    if len(done) == 3:
        connection.call_later(0, channel.stop_consuming)
`, after: `
assert done == [b"1", b"2", b"3"] and held("jobs") == 0
`},
}

// The examples run as they are written, one after the other, and do what their page says.
func TestPythonExamples(t *testing.T) {
	t.Parallel()
	for _, c := range pythonPages {
		t.Run(c.page, func(t *testing.T) {
			t.Parallel()
			own := func(t *testing.T) *broker { return ownBroker(t) }
			if c.http {
				own = withHTTP
			}
			b := own(t)
			page, err := os.ReadFile("../../docs/" + c.page)
			if err != nil {
				t.Fatal(err)
			}
			var script strings.Builder
			fmt.Fprintf(&script, setting, portOf(t, b.addr))
			script.WriteString(c.before)
			blocks := regexp.MustCompile("(?s)```python\n(.*?)```").FindAllStringSubmatch(string(page), -1)
			if len(blocks) < c.blocks {
				t.Fatalf("%d blocks of code", len(blocks))
			}
			for _, block := range blocks {
				script.WriteString(strings.NewReplacer("localhost:5672", b.addr, "localhost:15672", b.http).Replace(block[1]))
			}
			cmd := exec.Command("/usr/bin/python3", "-")
			cmd.Stdin = strings.NewReader(script.String() + c.after + "connection.close()\n")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
