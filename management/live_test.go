package management_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"leveret/amqp"
	"leveret/management"
)

// name is what the connection of a client is called, as a part of a path.
func (c *client) name() string {
	return url.PathEscape(c.conn.LocalAddr().String() + " -> " + c.conn.RemoteAddr().String())
}

// keys fails unless an object has all of these fields, and none of those behind a "!".
func keys(t *testing.T, what string, o map[string]any, names string) {
	t.Helper()
	for name := range strings.FieldsSeq(names) {
		name, unwanted := strings.CutPrefix(name, "!")
		if _, found := o[name]; found == unwanted {
			t.Errorf("%s: field %s is there: %t", what, name, found)
		}
	}
}

// TestConnectionObject: a connection shows who it is and what went over it, the same in all lists, and nothing of TLS if it is plain.
func TestConnectionObject(t *testing.T) {
	r := start(t)
	c := r.client()
	path := "/api/connections/" + c.name()
	one := r.get(path).object(t)
	keys(t, "connection", one, `name node vhost user type protocol state host port peer_host peer_port auth_mechanism timeout frame_max channel_max
		client_properties connected_at channels recv_oct recv_oct_details send_oct send_oct_details recv_cnt send_cnt send_pend ssl ssl_protocol
		peer_cert_subject !user_provided_name`)
	numbers(t, "connection", one, map[string]any{
		"user": "guest", "vhost": "/", "state": "running", "channels": 1, "ssl": false, "ssl_protocol": "", "peer_cert_subject": "",
		"frame_max": 131072, "channel_max": 8, "auth_mechanism": "PLAIN", "protocol": "AMQP 0-9-1",
	})
	for _, list := range []string{"/api/connections", "/api/vhosts/%2F/connections"} {
		all := r.get(list).list(r)
		if len(all) != 1 || all[0]["name"] != one["name"] || all[0]["ssl_protocol"] != nil {
			t.Errorf("%s: %v", list, all)
		}
	}
	mine := r.get("/api/connections/username/guest").list(r)
	if len(mine) != 1 || mine[0]["name"] != one["name"] || len(mine[0]) != 4 {
		t.Errorf("the user's connections are %v", mine)
	}
	if other := r.get("/api/connections/username/nobody").list(r); len(other) != 0 {
		t.Errorf("another user's connections are %v", other)
	}
	curve, _ := r.get(path + "?data_rates_age=60&data_rates_incr=5").object(t)["recv_oct_details"].(map[string]any)
	if samples, _ := curve["samples"].([]any); len(samples) != 13 {
		t.Errorf("a curve of a minute has %d samples, want 13", len(samples))
	}
	r.must(http.StatusBadRequest, "GET", path+"?data_rates_age=60&data_rates_incr=0", "")
	r.must(http.StatusBadRequest, "GET", path+"/sessions", "")
}

// TestChannelObject: a channel shows its mode, its consumers and what went over it; who sees no other users' connections sees no such channel.
func TestChannelObject(t *testing.T) {
	r := start(t)
	r.fill("jobs", 2)
	c := r.client()
	c.send(1, &amqp.BasicQos{PrefetchCount: 7})
	c.expect(amqp.MethodBasicQosOk)
	c.consume("jobs", "worker", 2)
	c.send(1, &amqp.BasicAck{DeliveryTag: 1})
	c.sync()
	path := "/api/channels/" + c.name() + url.PathEscape(" (1)")
	one := r.get(path).object(t)
	keys(t, "channel", one, `name number node vhost user state confirm transactional connection_details consumer_count messages_unacknowledged
		messages_unconfirmed messages_uncommitted acks_uncommitted prefetch_count message_stats consumer_details publishes deliveries`)
	numbers(t, "channel", one, map[string]any{"number": 1, "confirm": false, "transactional": false, "consumer_count": 1, "messages_unacknowledged": 1})
	stats, _ := one["message_stats"].(map[string]any)
	keys(t, "message_stats", stats, "deliver deliver_details ack ack_details deliver_get redeliver !publish")
	numbers(t, "message_stats", stats, map[string]any{"deliver": 2, "ack": 1, "deliver_no_ack": 0, "deliver_get": 2})
	if consumers, _ := one["consumer_details"].([]any); len(consumers) != 1 {
		t.Errorf("consumers are %v", consumers)
	}
	for _, list := range []string{"/api/channels", "/api/vhosts/%2F/channels", "/api/connections/" + c.name() + "/channels"} {
		if all := r.get(list).list(r); len(all) != 1 || all[0]["name"] != one["name"] {
			t.Errorf("%s: %v", list, all)
		}
	}
	r.must(http.StatusNotFound, "GET", "/api/channels/nothing", "")
	r.must(http.StatusNoContent, "PUT", path+"/prefetch", `{"prefetch":9}`)
	if got := r.get("/api/consumers").list(r)[0]["prefetch_count"]; fmt.Sprint(got) != "9" {
		t.Errorf("the prefetch is %v, want 9", got)
	}

	r.must(http.StatusCreated, "PUT", "/api/users/clerk", `{"password":"clerk","tags":"management"}`)
	r.must(http.StatusCreated, "PUT", "/api/permissions/%2F/clerk", `{"configure":"","write":"","read":""}`)
	clerk := []string{"Authorization", basic("clerk:clerk")}
	for _, of := range []string{path, "/api/connections/" + c.name(), "/api/connections/" + c.name() + "/channels"} {
		r.must(http.StatusUnauthorized, "GET", of, "", clerk...)
	}
	for _, list := range []string{"/api/channels", "/api/connections"} {
		if all := r.must(http.StatusOK, "GET", list, "", clerk...).list(r); len(all) != 0 {
			t.Errorf("%s: another user sees %v", list, all)
		}
	}
	r.must(http.StatusUnauthorized, "DELETE", "/api/connections/"+c.name(), "", clerk...)
}

// TestConsumerCalls: one consumer can be looked at, changed, made to give back what it holds, and cancelled.
func TestConsumerCalls(t *testing.T) {
	r := start(t)
	r.fill("jobs", 3)
	c := r.client()
	c.send(1, &amqp.BasicQos{PrefetchCount: 2})
	c.expect(amqp.MethodBasicQosOk)
	c.consume("jobs", "worker", 2)
	path := "/api/consumers/%2F/" + c.name() + "/1/worker"
	one := r.get(path).object(t)
	keys(t, "consumer", one, "consumer_tag queue exclusive ack_required prefetch_count active activity_status arguments consumer_timeout channel_details")
	numbers(t, "consumer", one, map[string]any{"consumer_tag": "worker", "ack_required": true, "prefetch_count": 2, "active": true, "activity_status": "up"})
	r.must(http.StatusNotFound, "GET", "/api/consumers/%2F/"+c.name()+"/1/nobody", "")
	r.must(http.StatusNotFound, "GET", "/api/consumers/%2F/"+c.name()+"/2/worker", "")

	r.must(http.StatusNoContent, "PUT", path, `{"prefetch":3}`)
	c.delivered(1)
	if held := len(r.get("/api/queues/%2F/jobs/unacked").list(r)); held != 3 {
		t.Errorf("%d messages are held, want 3", held)
	}
	r.must(http.StatusNoContent, "PUT", path, `{"prefetch":1}`)
	back := r.must(http.StatusOK, "POST", path+"/requeue", "").object(t)
	numbers(t, "given back", back, map[string]any{"messages": 3})
	c.delivered(1)
	r.must(http.StatusNoContent, "POST", "/api/queues/%2F/jobs/unacked/1/requeue", "")
	r.must(http.StatusNotFound, "POST", "/api/queues/%2F/jobs/unacked/99/requeue", "")
	r.must(http.StatusNoContent, "DELETE", path, "")
	r.must(http.StatusNotFound, "GET", path, "")
	for _, action := range []string{"consumer.prefetch.set", "consumer.requeued", "message.requeued", "consumer.cancelled"} {
		if !strings.Contains(r.logged(), "action="+action) {
			t.Errorf("%s is not in the audit log", action)
		}
	}
}

// TestClosingConnections: connections end by their name or their user's, with the reason that the operator gives.
func TestClosingConnections(t *testing.T) {
	r := start(t)
	for _, c := range []struct{ path, header, reason string }{
		{"/api/connections/%s", "", "Closed via management plugin"},
		{"/api/connections/%s", "maintenance", "maintenance"},
		{"/api/connections/username/guest", "", "Closed via management plugin"},
	} {
		of := r.client()
		path := strings.Replace(c.path, "%s", of.name(), 1)
		r.must(http.StatusNoContent, "DELETE", path, "", "X-Reason", c.header)
		if m := of.closed(); m.ReplyCode != 320 || !strings.Contains(m.ReplyText, c.reason) {
			t.Errorf("%s: closed with %d %s, want 320 and %q", path, m.ReplyCode, m.ReplyText, c.reason)
		}
	}
	r.must(http.StatusNotFound, "DELETE", "/api/connections/nothing", "")
}

func withOrigins(origins []string) func(*management.Options) {
	return func(o *management.Options) { o.Origins = origins }
}

// TestOrigins: pages of the sites that the settings name may call the API, and no others.
func TestOrigins(t *testing.T) {
	for _, c := range []struct {
		name    string
		origins []string
		origin  string
		allowed bool
	}{
		{"no settings", nil, "https://console.example", false},
		{"a site that is named", []string{"https://console.example"}, "https://console.example", true},
		{"another", []string{"https://console.example"}, "https://evil.example", false},
		{"all sites", []string{"*"}, "https://evil.example", true},
		{"no page at all", []string{"*"}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := start(t, withOrigins(c.origins))
			for _, method := range []string{"GET", "OPTIONS"} {
				a := r.must(http.StatusOK, method, "/api/overview", "", "Origin", c.origin, "Access-Control-Request-Headers", "authorization")
				got, preflight := a.header.Get("Access-Control-Allow-Origin"), a.header.Get("Access-Control-Allow-Headers")
				if c.allowed != (got == c.origin && got != "") {
					t.Errorf("%s: allowed for %q", method, got)
				}
				if want := c.allowed && method == "OPTIONS"; want != (preflight == "authorization" && a.header.Get("Access-Control-Max-Age") == "1800") {
					t.Errorf("%s: headers %q", method, preflight)
				}
			}
		})
	}
}

// TestDefinitionsOfForms: a page may send definitions as the file of a form.
func TestDefinitionsOfForms(t *testing.T) {
	r := start(t)
	form := func(field, content string) string {
		return "--b\r\nContent-Disposition: form-data; name=\"" + field + "\"; filename=\"d.json\"\r\n\r\n" + content + "\r\n--b--\r\n"
	}
	kind := []string{"Content-Type", "multipart/form-data; boundary=b"}
	r.must(http.StatusNoContent, "POST", "/api/definitions", form("file", `{"vhosts":[{"name":"from-a-form"}]}`), kind...)
	r.must(http.StatusOK, "GET", "/api/vhosts/from-a-form", "")
	r.must(http.StatusBadRequest, "POST", "/api/definitions", form("other", `{}`), kind...)
	r.must(http.StatusBadRequest, "POST", "/api/definitions", "no form", kind...)
	r.must(http.StatusUnsupportedMediaType, "POST", "/api/definitions", "{}", "Content-Type", "text/plain")
}

// TestSortedByAnything: whatever kind of value a field has, lists can be sorted by it, numbers before texts and what is lacking first.
func TestSortedByAnything(t *testing.T) {
	r := start(t)
	r.fill("b", 2)
	r.fill("a", 1)
	r.fill("c", 0)
	for query, want := range map[string]string{
		"sort=name":                               "a b c",
		"sort=name&sort_reverse=true":             "c b a",
		"sort=messages":                           "c a b",
		"sort=durable":                            "a b c",
		"sort=message_stats.publish":              "c a b",
		"sort=wait_time":                          "a b c",
		"sort=nothing&sort_reverse=true":          "c b a",
		"sort=messages_details.rate&columns=name": "",
	} {
		var names []string
		for _, o := range r.get("/api/queues?" + query).list(r) {
			names = append(names, fmt.Sprint(o["name"]))
		}
		if got := strings.Join(names, " "); want != "" && got != want || len(names) != 3 {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// closed waits until the server ends the connection, and returns why.
func (c *client) closed() (m amqp.ConnectionClose) {
	c.t.Helper()
	payload := c.await(amqp.MethodConnectionClose)
	if err := m.Decode(payload[4:]); err != nil {
		c.t.Fatal(err)
	}
	c.send(0, &amqp.ConnectionCloseOk{})
	return m
}

// TestAnswersAreJSON: numbers of all sizes come out as they went in.
func TestAnswersAreJSON(t *testing.T) {
	r := start(t)
	const arguments = `{"i":-9007199254740993,"f":0.1,"big":1e300,"t":"\u0000\"","l":[true,{"x":[]}]}`
	r.must(http.StatusCreated, "PUT", "/api/exchanges/%2F/x", `{"type":"direct","arguments":`+arguments+`}`)
	got, _ := json.Marshal(r.get("/api/exchanges/%2F/x").object(t)["arguments"])
	var want any
	if err := json.Unmarshal([]byte(arguments), &want); err != nil {
		t.Fatal(err)
	}
	if wanted, _ := json.Marshal(want); string(got) != string(wanted) {
		t.Errorf("arguments are %s, want %s", got, wanted)
	}
}
