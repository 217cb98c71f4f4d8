package interop

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// holdings are what the queues of the page on exchanges hold at the end of its examples.
const holdings = `
held = lambda queue: channel.queue_declare(queue, passive=True).method.message_count
assert (held("europe"), held("reports"), held("jobs-1") + held("jobs-2")) == (1, 1, 1)
assert sum(held(f"shard-{i}") for i in range(4)) == 1 == held("worker-1") + held("worker-2")
assert [channel.basic_get(mine, auto_ack=True)[2] for _ in range(5)] == [b"line %d" % i for i in range(5, 10)]
assert (held("pay"), held("due")) == (1, 0)
connection.close()
`

// The examples on the page on exchanges run as they are written, one after the other, and do what it says.
func TestExchangeExamples(t *testing.T) {
	b := ownBroker(t)
	page, err := os.ReadFile("../../docs/exchanges.md")
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	blocks := regexp.MustCompile("(?s)```python\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 9 {
		t.Fatalf("%d blocks of code", len(blocks))
	}
	for _, block := range blocks {
		script.WriteString(strings.ReplaceAll(block[1], "localhost:5672", b.addr))
	}
	cmd := exec.Command("/usr/bin/python3", "-")
	cmd.Stdin = strings.NewReader(script.String() + holdings)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
