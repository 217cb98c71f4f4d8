package definitions_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"leveret/definitions"
)

// sections are the lists of a file, each with an entry that is taken as it stands.
var sections = map[string]string{
	"users":             `{"name":"u","password_hash":"","tags":""}`,
	"vhosts":            `{"name":"v"}`,
	"permissions":       `{"user":"guest","vhost":"/","configure":"","write":"","read":""}`,
	"topic_permissions": `{"user":"guest","vhost":"/","exchange":"amq.topic","write":"","read":""}`,
	"parameters":        `{"vhost":"/","component":"federation-upstream","name":"p","value":{"uri":"amqp://h"}}`,
	"global_parameters": `{"name":"g","value":1}`,
	"policies":          `{"vhost":"/","name":"p","pattern":"^none","definition":{"max-length":1}}`,
	"queues":            `{"vhost":"/","name":"q","durable":true,"auto_delete":false,"arguments":{}}`,
	"exchanges":         `{"vhost":"/","name":"x","type":"topic","durable":true,"auto_delete":false,"internal":false,"arguments":{}}`,
	"bindings":          `{"source":"amq.topic","vhost":"/","destination":"amq.direct","destination_type":"exchange","routing_key":"k","arguments":{}}`,
}

// oddEntries stand where an entry should, or a list of them.
var oddEntries = []string{`null`, `true`, `7`, `"x"`, `[]`, `[[]]`, `{}`, `{"name":7}`, `{"name":"n","vhost":[]}`, `{"name":null,"vhost":null}`, `{"name":"\ud800","vhost":"/"}`}

// Whatever stands in a list, a file is taken or refused in words, and no part of it makes the broker fall over; what was a whole list of good entries is
// taken beside lists that are null or not there.
func TestOddSections(t *testing.T) {
	for key, good := range sections {
		t.Run(key, func(t *testing.T) {
			r := newRig(t)
			r.load(fmt.Sprintf(`{%q:[%s],"unknown":[1],"rabbit_version":5}`, key, good))
			r.load(fmt.Sprintf(`{%q:null}`, key))
			before := r.export()
			r.load(fmt.Sprintf(`{%q:[%s,%s]}`, key, good, good)) // once more, and twice at once, is no change
			if after := r.export(); after != before {
				t.Errorf("to import it again changes\n%s\nto\n%s", before, after)
			}
			for _, odd := range oddEntries {
				for _, file := range []string{fmt.Sprintf(`{%q:%s}`, key, odd), fmt.Sprintf(`{%q:[%s,%s]}`, key, good, odd)} {
					err := r.Import([]byte(file), "")
					var refusal *definitions.Refusal
					if err != nil && (!errors.As(err, &refusal) || strings.TrimSpace(refusal.Text) == "" || strings.Contains(refusal.Text, "%!")) {
						t.Errorf("%s: %v", file, err)
					}
				}
			}
			if err := r.Import([]byte(r.export()), ""); err != nil {
				t.Errorf("what was taken can't be imported again: %v", err)
			}
		})
	}
}

// An error in one list is found before anything of the others is imported, if it is one of form.
func TestNothingOfAMalformedFile(t *testing.T) {
	for key := range sections {
		r := newRig(t)
		before := r.export()
		var lists []string
		for other, good := range sections {
			if other != key {
				lists = append(lists, fmt.Sprintf(`%q:[%s]`, other, good))
			}
		}
		file := fmt.Sprintf(`{%s,%q:[7]}`, strings.Join(lists, ","), key)
		if err := r.Import([]byte(file), ""); err == nil || !strings.Contains(err.Error(), "entry 1 of "+key) {
			t.Errorf("%s: %v", key, err)
		}
		if after := r.export(); after != before {
			t.Errorf("%s: a malformed file changes\n%s\nto\n%s", key, before, after)
		}
	}
}

// What an entry leaves out stays as it was: definitions are merged, and nothing is deleted by them.
func TestWhatAFileLeavesOut(t *testing.T) {
	r := newRig(t)
	r.load(`{"vhosts":[{"name":"v","metadata":{"description":"d","tags":["a"],"default_queue_type":"quorum","protected_from_deletion":true},"limits":{"max-queues":5}}],
		"users":[{"name":"u","password":"secret","tags":["monitoring"],"limits":{"max-channels":7}}],
		"permissions":[{"user":"u","vhost":"v","configure":"c","write":"w","read":"r"}],
		"queues":[{"name":"q","vhost":"v","durable":true,"auto_delete":false,"arguments":{}}]}`)
	before := r.export()
	r.load(`{"vhosts":[{"name":"v"}]}`)
	r.load(`{"vhosts":[{"name":"v","metadata":{}}],"queues":[],"permissions":[]}`)
	r.load(`{}`)
	r.load(" \n ")
	if after := r.export(); after != before {
		t.Errorf("files that say nothing change\n%s\nto\n%s", before, after)
	}
	r.load(`{"vhosts":[{"name":"v","description":"older form","tags":"a,b"}]}`)
	m := r.Server.VHost("v").Metadata()
	if m.Description != "older form" || strings.Join(m.Tags, " ") != "a b" || m.DefaultQueueType != "quorum" || !m.IsProtected() {
		t.Errorf("the older form makes it %+v", m)
	}
	r.load(`{"vhosts":[{"name":"v","description":"older","metadata":{"description":"newer"}}]}`)
	if m := r.Server.VHost("v").Metadata(); m.Description != "newer" {
		t.Errorf("of both forms %q counts", m.Description)
	}
	r.load(`{"users":[{"name":"u","password_hash":"","tags":[]}]}`)
	if u, _ := r.Users.Account("u"); u.Limits["max-channels"] != 7 || u.Permissions["v"].Write != "w" || len(u.Tags) != 0 {
		t.Errorf("a user without limits in the file is %+v", u)
	}
}

// A file of one virtual host goes where it is told, whatever its entries say, and touches nothing else.
func TestVHostFileGoesWhereItIsTold(t *testing.T) {
	r := newRig(t)
	r.load(`{"vhosts":[{"name":"from"},{"name":"to"}],"queues":[{"name":"q","vhost":"from","durable":true,"auto_delete":false,"arguments":{"x-max-length":5}}],
		"exchanges":[{"name":"x","vhost":"from","type":"topic","durable":true,"auto_delete":false,"arguments":{}}],
		"bindings":[{"source":"x","vhost":"from","destination":"q","destination_type":"queue","routing_key":"a.*","arguments":{}}],
		"policies":[{"vhost":"from","name":"p","pattern":"^q","definition":{"expires":1000000},"priority":2}]}`)
	f, err := r.ExportVHost("from")
	if err != nil {
		t.Fatal(err)
	}
	before := asJSON(t, f)
	if err := r.ImportVHost("to", []byte(before)); err != nil {
		t.Fatal(err)
	}
	copied, err := r.ExportVHost("to")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := asJSON(t, copied), strings.NewReplacer(`"original_vhost_name": "from"`, `"original_vhost_name": "to"`, `'from'`, `'to'`).Replace(before); got != want {
		t.Errorf("the copy is\n%s\nwant\n%s", got, want)
	}
	moved := `{"queues":[{"name":"named","vhost":"from","durable":true,"auto_delete":false,"arguments":{}}]}`
	if err := r.ImportVHost("to", []byte(moved)); err != nil || !r.Server.VHost("to").HasQueue("named") || r.Server.VHost("from").HasQueue("named") {
		t.Errorf("an entry that names another virtual host: %v", err)
	}
	for name, file := range map[string]string{"nowhere": `{}`, "to": `{`} {
		var refusal *definitions.Refusal
		if err := r.ImportVHost(name, []byte(file)); !errors.As(err, &refusal) {
			t.Errorf("%s into %s: %v", file, name, err)
		}
	}
	if _, err := r.ExportVHost("nowhere"); err == nil {
		t.Error("a virtual host that is not there was exported")
	}
}
