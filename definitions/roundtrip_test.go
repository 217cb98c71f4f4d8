package definitions_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"leveret/definitions"

	"pgregory.net/rapid"
)

// drawArguments makes arguments that no queue or exchange minds.
func drawArguments(rt *rapid.T, label string) map[string]any {
	value := rapid.OneOf(
		rapid.Map(rapid.Int64(), func(n int64) any { return n }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.StringN(0, 20, 60), func(s string) any { return s }),
		rapid.Map(rapid.SliceOfN(rapid.Int64(), 0, 3), func(l []int64) any { return l }),
		rapid.Map(rapid.MapOfN(rapid.StringN(1, 5, 20), rapid.Bool(), 0, 3), func(m map[string]bool) any { return m }))
	return rapid.MapOfN(rapid.StringMatching(`x-of-mine-[a-z]{1,5}`), value, 0, 3).Draw(rt, label)
}

// drawFile makes a file with a topology in which everything that is referred to is there.
func drawFile(rt *rapid.T) []byte {
	name := rapid.StringN(1, 30, 100).Filter(func(s string) bool { return !strings.HasPrefix(s, "amq.") && !strings.ContainsAny(s, "\r\n") })
	vhosts := rapid.SliceOfNDistinct(name, 1, 3, rapid.ID[string]).Draw(rt, "vhosts")
	var file struct {
		VHosts    []map[string]any `json:"vhosts"`
		Users     []map[string]any `json:"users"`
		Queues    []map[string]any `json:"queues"`
		Exchanges []map[string]any `json:"exchanges"`
		Bindings  []map[string]any `json:"bindings"`
		Policies  []map[string]any `json:"policies"`
	}
	for _, user := range rapid.SliceOfNDistinct(name, 0, 3, rapid.ID[string]).Draw(rt, "users") {
		file.Users = append(file.Users, map[string]any{"name": user, "tags": rapid.SliceOfN(rapid.StringN(1, 5, 20), 0, 3).Draw(rt, "tags"),
			"limits": map[string]any{"max-channels": rapid.Int64().Draw(rt, "limit")}})
	}
	for _, v := range vhosts {
		file.VHosts = append(file.VHosts, map[string]any{"name": v, "description": rapid.String().Draw(rt, "description")})
		queues := rapid.SliceOfNDistinct(name, 0, 4, rapid.ID[string]).Draw(rt, "queues")
		exchanges := rapid.SliceOfNDistinct(name, 1, 4, rapid.ID[string]).Draw(rt, "exchanges")
		for _, q := range queues {
			file.Queues = append(file.Queues, map[string]any{"name": q, "vhost": v, "durable": rapid.Bool().Draw(rt, "durable"),
				"auto_delete": rapid.Bool().Draw(rt, "auto-delete"), "arguments": drawArguments(rt, "arguments")})
		}
		for _, x := range exchanges {
			file.Exchanges = append(file.Exchanges, map[string]any{"name": x, "vhost": v, "durable": rapid.Bool().Draw(rt, "durable"),
				"type":      rapid.SampledFrom([]string{"direct", "fanout", "topic", "headers"}).Draw(rt, "type"),
				"arguments": drawArguments(rt, "arguments")})
		}
		// Its queue of delayed messages is no part of the file: it comes with the exchange.
		file.Exchanges = append(file.Exchanges, map[string]any{"name": "the one that delays", "vhost": v, "durable": true,
			"type": "x-delayed-message", "arguments": map[string]any{"x-delayed-type": "direct"}})
		for range rapid.IntRange(0, 4).Draw(rt, "bindings") {
			b := map[string]any{"source": rapid.SampledFrom(exchanges).Draw(rt, "source"), "vhost": v, "destination_type": "exchange",
				"destination": rapid.SampledFrom(exchanges).Draw(rt, "destination"), "routing_key": name.Draw(rt, "key"), "arguments": map[string]any{}}
			if len(queues) > 0 {
				b["destination_type"], b["destination"] = "queue", rapid.SampledFrom(queues).Draw(rt, "destination queue")
			}
			file.Bindings = append(file.Bindings, b)
		}
		for i := range rapid.IntRange(0, 2).Draw(rt, "policies") {
			file.Policies = append(file.Policies, map[string]any{"name": fmt.Sprint("p", i), "vhost": v, "pattern": "^a.*",
				"definition": map[string]any{"max-length": rapid.IntRange(0, 1<<40).Draw(rt, "length")}, "priority": rapid.IntRange(-9, 9).Draw(rt, "priority")})
		}
	}
	raw, err := json.Marshal(file)
	if err != nil {
		rt.Fatal(err)
	}
	return raw
}

// What was exported and imported into a fresh broker gives the same file again, and holds all that was put in.
func TestExportsRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		raw := drawFile(rt)
		first, second := newRig(t), newRig(t)
		if err := first.Import(raw, ""); err != nil {
			rt.Fatalf("import: %v\n%s", err, raw)
		}
		exported := first.export()
		if err := second.Import([]byte(exported), ""); err != nil {
			rt.Fatalf("import of an export: %v\n%s", err, exported)
		}
		if again := second.export(); again != exported {
			rt.Fatalf("exported:\n%s\nimported and exported again:\n%s", exported, again)
		}
		in, err := definitions.Parse(raw)
		if err != nil {
			rt.Fatal(err)
		}
		out, err := definitions.Parse([]byte(exported))
		if err != nil {
			rt.Fatal(err)
		}
		if len(out.Queues) != len(in.Queues) || len(out.Exchanges) != len(in.Exchanges) || len(out.Policies) != len(in.Policies) ||
			len(out.Users) != len(in.Users)+1 || len(out.VHosts) < len(in.VHosts) {
			rt.Fatalf("something is lost:\n%s\n%s", raw, exported)
		}
	})
}

// A file of one virtual host names none, and goes into whichever it is told to.
func TestSingleVHost(t *testing.T) {
	r := newRig(t)
	r.load(sample(t, "v4.json"))
	f, err := r.ExportVHost("shop")
	if err != nil {
		t.Fatal(err)
	}
	raw := asJSON(t, f)
	var keys map[string]any
	if err := json.Unmarshal([]byte(raw), &keys); err != nil {
		t.Fatal(err)
	}
	for _, absent := range []string{"users", "vhosts", "permissions", "topic_permissions", "global_parameters", "original_cluster_name"} {
		if _, ok := keys[absent]; ok {
			t.Errorf("%s is there", absent)
		}
	}
	if strings.Contains(raw, `"vhost":`) || keys["rabbitmq_definition_format"] != "single_virtual_host" || keys["original_vhost_name"] != "shop" ||
		keys["explanation"] != "Definitions of virtual host 'shop'" || keys["description"] != "orders" {
		t.Errorf("exported %s", raw)
	}
	if err := r.ImportVHost("nowhere", []byte(raw)); err == nil || err.Error() != "vhost_not_found" {
		t.Errorf("imported nowhere: %v", err)
	}
	if _, err := r.ExportVHost("nowhere"); err == nil || err.Error() != "vhost_not_found" {
		t.Errorf("exported nowhere: %v", err)
	}
	r.load(`{"vhosts": [{"name": "copy"}]}`)
	if err := r.ImportVHost("copy", []byte(raw)); err != nil {
		t.Fatal(err)
	}
	again, err := r.ExportVHost("copy")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.ReplaceAll(asJSON(t, again), "copy", "shop"); got != raw {
		t.Errorf("got %s\nwant %s", got, raw)
	}
}

// Nothing that somebody sends makes an import fail otherwise than with an error, or a broker that can't be exported.
func FuzzImport(f *testing.F) {
	for _, name := range []string{"v3.json", "v4.json"} {
		f.Add(sample(f, name))
	}
	f.Add(`{"queues": [{"name": "q", "vhost": "/", "arguments": {"a": [[{"b": [1.5, null]}]], "x-max-length": -1}}]}`)
	f.Add(`{"vhosts": [{"name": ""}], "parameters": [{"vhost": "/", "component": "vhost-limits", "name": "limits", "value": {"max-queues": 1e99}}]}`)
	f.Fuzz(func(t *testing.T, file string) {
		r := newRig(t)
		_ = r.Import([]byte(file), "guest")
		exported := r.export()
		if err := newRig(t).Import([]byte(exported), ""); err != nil && !strings.Contains(err.Error(), "null") {
			t.Errorf("an export can't be imported: %v\n%s", err, exported)
		}
	})
}
