package vhost_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"

	"leveret/amqp"
	"leveret/events"
	"leveret/store"
	"leveret/vhost"
)

func TestParameterRefusals(t *testing.T) {
	h := newHost(t)
	uri := "amqp://127.0.0.1"
	for _, c := range []struct {
		component string
		value     any
		want      string // {} in place of it: it is taken
	}{
		{"nonsense", object{}, "component nonsense not found"},
		{"vhost-limits", object{}, "component vhost-limits not found"}, // kept elsewhere
		{"policy", object{"pattern": "a", "definition": object{}}, "no policy provided"},
		{"policy", 5, "n not a list 5"},
		{"operator_policy", object{"pattern": "a", "definition": object{"max-age": "1h"}}, `[{<<"max-age">>,<<"1h">>}] are not recognised policy settings`},
		{"shovel", object{}, "Must specify 'src-exchange' or 'src-queue'\nKey \"dest-uri\" not found in n\nKey \"src-uri\" not found in n"},
		{"shovel", object{"src-uri": uri, "dest-uri": uri, "nonsense": 1},
			"Must specify 'src-exchange' or 'src-queue'\nUnrecognised terms [{<<\"nonsense\">>,1}] in n"},
		{"shovel", 5, "n not a list 5"},
		{"shovel", object{"src-uri": uri, "dest-uri": 5, "src-queue": "q", "src-exchange": "x", "dest-queue": "q", "dest-exchange": "x"},
			"Cannot specify 'src-exchange' and 'src-queue'\nCannot specify 'dest-exchange' and 'dest-queue'\ndest-uri should be list, actually was 5"},
		{"shovel", object{"src-uri": []any{uri, 5}, "dest-uri": "amqp://%", "src-queue": "q", "ack-mode": "no-ack", "src-delete-after": 5},
			"Cannot specify 'no-ack' and numerical 'delete-after'\n\"amqp://%\" not a valid URI: parse \"amqp://%\": invalid URL escape \"%\"\n" +
				"src-uri should be binary, actually was 5"},
		{"shovel", object{"src-uri": uri, "dest-uri": uri, "src-queue": 5, "ack-mode": "x", "dest-predeclared": 1, "reconnect-delay": "x",
			"src-delete-after": "x", "src-queue-args": 1, "src-protocol": 1},
			"dest-predeclared should be boolean, actually was 1\n" +
				`src-delete-after should be a number greater than or equal to 0, "never" or "queue-length", actually was <<"x">>` + "\n" +
				"src-queue-args should be list, actually was 1\nsrc-queue should be binary, actually was 5\n" +
				"reconnect-delay should be a number, actually was <<\"x\">>\n" +
				`ack-mode should be one of [<<"no-ack">>,<<"on-publish">>,<<"on-confirm">>], actually was <<"x">>` + "\n" +
				"src-protocol should be binary, actually was 1"},
		{"shovel", object{"src-uri": uri, "dest-uri": []any{uri}, "src-queue": "q", "src-delete-after": "queue-length", "dest-exchange": "x"}, ""},
		{"shovel", object{"src-uri": []any{}, "dest-uri": []any{}, "src-queue": "q"},
			"dest-uri should be list, actually was []\nsrc-uri should be list, actually was []"},
		{"federation-upstream", object{}, `Key "uri" not found in n`},
		{"federation-upstream", "x", `n not a list <<"x">>`},
		{"federation-upstream", object{"uri": uri, "max-hops": "x", "foo": true},
			"Unrecognised terms [{<<\"foo\">>,true}] in n\nmax-hops should be a number, actually was <<\"x\">>"},
		{"federation-upstream", object{"uri": []any{uri}, "expires": 5, "trust-user-id": false, "ack-mode": "on-publish"}, ""},
		{"federation-upstream-set", object{}, "n should be list, actually was #{}"},
		{"federation-upstream-set", []any{object{}, 5}, "Key \"upstream\" not found in n\nn not a list 5"},
		{"federation-upstream-set", []any{object{"upstream": "u", "queue": "q"}}, ""},
	} {
		_, err := h.SetParameter(c.component, "n", c.value)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s %v: %v", c.component, c.value, err)
			}
			continue
		}
		if err == nil {
			t.Errorf("%s %v was taken", c.component, c.value)
		} else if got := details(t, err); got != c.want {
			t.Errorf("%s %v:\n got %s\nwant %s", c.component, c.value, got, c.want)
		}
	}
	if _, err := h.SetParameter("shovel", "", object{}); details(t, err) != "name must not be empty" {
		t.Error(err)
	}
}

func TestParametersLast(t *testing.T) {
	h := newHost(t)
	var value any
	if err := json.Unmarshal([]byte(`{"src-uri": "amqp://", "dest-uri": ["amqp://a", "amqp://b"], "src-queue": "q/1", "src-prefetch-count": 10}`), &value); err != nil {
		t.Fatal(err)
	}
	set := func(component, name string, value any, want bool) {
		t.Helper()
		if created, err := h.SetParameter(component, name, value); created != want || err != nil {
			t.Errorf("setting %s %s: created %t, %v", component, name, created, err)
		}
	}
	set("shovel", "b/c", value, true)
	set("shovel", "b/c", value, false)
	set("shovel", "a", value, true)
	set("federation-upstream", "u", object{"uri": "amqp://", "max-hops": json.Number("2")}, true)
	set("policy", "p", object{"pattern": "^q", "definition": object{"max-length": 5}, "priority": 3.0}, true)
	check := func() {
		t.Helper()
		shovel := object{"src-uri": "amqp://", "dest-uri": []any{"amqp://a", "amqp://b"}, "src-queue": "q/1", "src-prefetch-count": int64(10)}
		want := []vhost.Parameter{
			{Component: "federation-upstream", Name: "u", Value: object{"uri": "amqp://", "max-hops": int64(2)}},
			{Component: "policy", Name: "p", Value: object{"pattern": "^q", "definition": object{"max-length": int64(5)}, "priority": int64(3), "apply-to": "all"}},
			{Component: "shovel", Name: "a", Value: shovel},
			{Component: "shovel", Name: "b/c", Value: shovel},
		}
		if got := h.Parameters(""); !reflect.DeepEqual(got, want) {
			t.Errorf("parameters\n got %v\nwant %v", got, want)
		}
		if got := h.Parameters("shovel"); !reflect.DeepEqual(got, want[2:]) {
			t.Errorf("shovels %v", got)
		}
		if got, ok := h.Parameter("shovel", "b/c"); !ok || !reflect.DeepEqual(got, shovel) {
			t.Errorf("one: %v, %t", got, ok)
		}
	}
	check()
	h = h.restart()
	check()
	if got := h.Parameters("none"); got == nil || len(got) != 0 {
		t.Errorf("of no component: %#v", got)
	}
	if _, ok := h.Parameter("shovel", "none"); ok {
		t.Error("a parameter that is not there")
	}
	for _, want := range []bool{true, false} {
		if found, err := h.ClearParameter("shovel", "a"); found != want || err != nil {
			t.Errorf("found %t, %v", found, err)
		}
	}
	if found, err := h.ClearPolicy("p"); !found || err != nil {
		t.Errorf("found %t, %v", found, err)
	}
	if h = h.restart(); len(h.Parameters("")) != 2 {
		t.Errorf("left %v", h.Parameters(""))
	}
}

// TestParametersOfOtherVersions finds in the store what this version does not take: it stays there, and is not in force.
func TestParametersOfOtherVersions(t *testing.T) {
	h := newHost(t)
	h.policy("p", "^q", object{"max-length": 5})
	foreign := []store.Change{
		{Bucket: "parameters of /", Key: "policy/new", Value: []byte(`{"pattern":"^q","definition":{"max-width":1},"priority":9}`)},
		{Bucket: "parameters of /", Key: "policy/broken", Value: []byte(`{`)},
		{Bucket: "parameters of /", Key: "future/x", Value: []byte(`{"a":1}`)},
	}
	h.must(h.disk.Commit(foreign...))
	h = h.restart()
	h.says("p/ map[max-length:5]", h.queue("q"))
	if len(h.Policies()) != 1 {
		t.Errorf("policies %v", h.Policies())
	}
	kept := 0
	h.must(h.disk.Load("parameters of /", func(string, []byte) error { kept++; return nil }))
	if kept != 4 {
		t.Errorf("%d records are left of 4", kept)
	}
}

// heard notes the events that a virtual host emits.
type heard struct{ list []events.Event }

func (l *heard) Wants(string) bool   { return true }
func (l *heard) Take(e events.Event) { l.list = append(l.list, e) }

// take returns the keys of the events so far, with their field name.
func (l *heard) take() (keys []string) {
	synctest.Wait()
	for _, e := range l.list {
		name, _ := e.Properties.Get("name")
		keys = append(keys, e.Key+" "+name.(string))
		if v, _ := e.Properties.Get("vhost"); v != "/" {
			keys = append(keys, "not of this virtual host")
		}
	}
	l.list = nil
	return keys
}

func TestPolicyEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus, l := events.New(), new(heard)
		bus.Listen(l)
		v, err := vhost.New(vhost.Options{Name: "/", Store: newDisk(), Events: bus})
		if err != nil {
			t.Fatal(err)
		}
		h := &host{VHost: v, t: t}
		h.queue("q1")
		l.take()
		expect := func(want ...string) {
			t.Helper()
			if got := l.take(); !slices.Equal(got, want) {
				t.Errorf("events %q, want %q", got, want)
			}
		}
		h.policy("p", "^q", object{"max-length": 5, "dead-letter-exchange": "d"})
		expect("queue.policy.updated q1", "policy.set p")
		h.queue("q2")
		l.take()
		h.policy("x", "^none", object{"max-length": 5})
		expect("policy.set x")
		if _, err := h.ClearPolicy("p"); err != nil {
			t.Fatal(err)
		}
		got := l.take()
		slices.Sort(got)
		if want := []string{"policy.cleared p", "queue.policy.cleared q1", "queue.policy.cleared q2"}; !slices.Equal(got, want) {
			t.Errorf("events %q, want %q", got, want)
		}
		if _, err := h.SetParameter("federation-upstream", "u", object{"uri": "amqp://", "max-hops": 2}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		value, _ := l.list[0].Properties.Get("value")
		if want := (amqp.Table{{Name: "max-hops", Value: int64(2)}, {Name: "uri", Value: "amqp://"}}); !amqp.EqualValue(value, want) {
			t.Errorf("value %v", value)
		}
		expect("parameter.set u")
		if _, err := h.ClearParameter("federation-upstream", "u"); err != nil {
			t.Fatal(err)
		}
		expect("parameter.cleared u")
		bus.Close()
	})
}

// TestOnParameters: whoever runs what parameters define is told when they come, change and go, and not of policies or refused values.
func TestOnParameters(t *testing.T) {
	told := 0
	v, err := vhost.New(vhost.Options{Name: "/", Store: store.NewMemory(), OnParameters: func() { told++ }})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	set := func(component string, value any) { v.SetParameter(component, "n", value) }
	for _, c := range []struct {
		what string
		do   func()
		want int
	}{
		{"set", func() { set("shovel", object{"src-uri": "amqp://", "dest-uri": "amqp://", "src-queue": "q"}) }, 1},
		{"change", func() { set("shovel", object{"src-uri": "amqp://", "dest-uri": "amqp://", "src-queue": "r"}) }, 2},
		{"refused", func() { set("shovel", object{}) }, 2},
		{"policy", func() { set("policy", object{"pattern": "a", "definition": object{"max-length": 1}}) }, 2},
		{"cleared", func() { v.ClearParameter("shovel", "n") }, 3},
		{"cleared again", func() { v.ClearParameter("shovel", "n") }, 3},
	} {
		if c.do(); told != c.want {
			t.Errorf("%s: told %d times, want %d", c.what, told, c.want)
		}
	}
}
