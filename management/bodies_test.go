package management_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"leveret/management"
)

// A body may be as large as the limit says, to the byte, and no larger.
func TestLargestBody(t *testing.T) {
	r := start(t, func(o *management.Options) { o.BodyLimit = 1000 })
	body := func(size int) string {
		const frame = `{"arguments":{"x-note":""}}`
		return strings.Replace(frame, `""`, `"`+strings.Repeat("n", size-len(frame))+`"`, 1)
	}
	r.must(http.StatusCreated, http.MethodPut, "/api/queues/%2F/q", body(1000))
	for _, call := range [][2]string{
		{"PUT", "/api/queues/%2F/q2"}, {"PUT", "/api/exchanges/%2F/x"}, {"PUT", "/api/users/u"}, {"POST", "/api/definitions"}, {"PUT", "/api/policies/%2F/p"},
		{"POST", "/api/exchanges/%2F/amq.default/publish"}, {"PUT", "/api/parameters/c/%2F/p"}, {"POST", "/api/bindings/%2F/e/amq.topic/q/q"},
	} {
		if a := r.must(http.StatusBadRequest, call[0], call[1], body(1001)); !strings.Contains(a.text, "Exceeded HTTP request body size limit") {
			t.Errorf("%s %s: %s", call[0], call[1], a.text)
		}
	}
	if n := len(r.get("/api/queues").list(r)); n != 1 {
		t.Errorf("%d queues, want the one whose body was short enough", n)
	}
}

// long is a name that is an octet too long, and toDefault the call that publishes to the default exchange.
var long = strings.Repeat("l", maxName+1)

const (
	maxName   = 255
	toDefault = "POST /api/exchanges/%2F/amq.default/publish"
)

// wrongFields are calls with something wrong in their bodies, and the reason that they get; empty: any reason.
var wrongFields = []struct{ call, body, want string }{
	{"PUT /api/queues/%2F/n", `{"durable":"yes"}`, `["not_boolean","yes"]`},
	{"PUT /api/queues/%2F/n", `{"auto_delete":1}`, `["not_boolean",1]`},
	{"PUT /api/queues/%2F/n", `{"node":"rabbit@other"}`, `"Node rabbit@other is not a cluster member"`},
	{"PUT /api/queues/%2F/n", `{"arguments":{"x-max-length":null}}`, `"null_not_allowed"`},
	{"PUT /api/queues/%2F/n", `{"arguments":"none"}`, `"arguments must be an object"`},
	{"PUT /api/queues/%2F/" + long, `{}`, `"queue should be less than 255 bytes, actually was 256\n"`},
	{"PUT /api/exchanges/%2F/n", `{"internal":[]}`, `["not_boolean",[]]`},
	{"PUT /api/exchanges/%2F/" + long, `{}`, `"exchange should be less than 255 bytes, actually was 256\n"`},
	{"POST /api/bindings/%2F/e/amq.topic/q/q", `{"routing_key":7}`, `["not_string",7]`},
	{"POST /api/bindings/%2F/e/amq.topic/q/q", `{"routing_key":"` + long + `"}`, `"routing_key should be less than 255 bytes, actually was 256\n"`},
	{"POST /api/bindings/%2F/e/amq.topic/q/q", `{"arguments":[1]}`, `"arguments must be an object"`},
	{"PUT /api/users/n", `{"password":"p"}`, ``},
	{"PUT /api/users/n", `{"password":7,"tags":""}`, `["not_string",7]`},
	{"PUT /api/users/n", `{"password":"p","tags":[1]}`, `["not_string",1]`},
	{"PUT /api/users/n", `{"password":"p","tags":{}}`, `"tags must be a list or a text with commas"`},
	{"PUT /api/users/n", `{"password_hash":"!!!","tags":""}`, ``},
	{"PUT /api/vhosts/n", `{"tracing":"maybe"}`, `["not_boolean","maybe"]`},
	{"PUT /api/vhosts/n", `{"description":[]}`, `["not_string",[]]`},
	{"PUT /api/vhosts/n", `{"protected_from_deletion":0}`, `["not_boolean",0]`},
	{"PUT /api/permissions/%2F/guest", `{"configure":"","write":""}`, `"[{key_missing,read}]"`},
	{"PUT /api/permissions/%2F/guest", `{}`, `"[{key_missing,configure},{key_missing,write},{key_missing,read}]"`},
	{"PUT /api/permissions/%2F/guest", `{"configure":"","write":"","read":5}`, `["not_string",5]`},
	{"PUT /api/permissions/%2F/nobody", `{"configure":"","write":"","read":""}`, `"vhost_or_user_not_found"`},
	{"PUT /api/topic-permissions/%2F/guest", `{"exchange":"none","write":"","read":""}`, `["no_such_exchange","none"]`},
	{"PUT /api/policies/%2F/n", `{"pattern":"a"}`, `"[{key_missing,definition}]"`},
	{"PUT /api/policies/%2F/n", `{"pattern":"a","definition":{"max-length":1,"max-length":2}}`, `"Validation failed\n\n[\"max-length\"] duplicate keys not allowed\n"`},
	{"PUT /api/policies/%2F/n", `{"pattern":"(","definition":{"max-length":1}}`, ``},
	{"PUT /api/policies/%2F/n", `{"pattern":"a","definition":{"no-such-key":1}}`, ``},
	{"PUT /api/parameters/c/%2F/n", `{}`, `"[{key_missing,value}]"`},
	{"PUT /api/parameters/policy/%2F/n", `{"value":{}}`, `"policies may not be set using this method"`},
	{"PUT /api/parameters/vhost-limits/%2F/limits", `{"value":{"max-queues":"many"}}`, `"Validation failed\n\nmax-queues should be a number, actually was <<\"many\">>\n"`},
	{"PUT /api/parameters/vhost-limits/%2F/limits", `{"value":5}`, `"Validation failed\n\nlimits must be an object\n"`},
	{"PUT /api/vhost-limits/%2F/max-queues", `{}`, `"[{key_missing,value}]"`},
	{"PUT /api/user-limits/guest/max-hats", `{"value":1}`, `"Unrecognised terms [{<<\"max-hats\">>,1}] in user-limits"`},
	{"PUT /api/cluster-name", `{}`, `"[{key_missing,name}]"`},
	{toDefault, `{}`, `"[{key_missing,routing_key},\n {key_missing,properties},\n {key_missing,payload},\n {key_missing,payload_encoding}]"`},
	{toDefault, `{"routing_key":"q","properties":[],"payload":"","payload_encoding":"string"}`, ``},
	{toDefault, `{"routing_key":"q","properties":{},"payload":7,"payload_encoding":"string"}`, `"payload_not_string"`},
	{toDefault, `{"routing_key":"q","properties":{},"payload":"*","payload_encoding":"base64"}`, `["not_base64","*"]`},
	{toDefault, `{"routing_key":"q","properties":{},"payload":"","payload_encoding":"hex"}`, `["unsupported_encoding","hex"]`},
	{toDefault, `{"routing_key":"` + long + `","properties":{},"payload":"","payload_encoding":"string"}`, `"routing_key should be less than 255 bytes, actually was 256\n"`},
	{toDefault, `{"routing_key":"q","properties":{"type":"` + long + `"},"payload":"","payload_encoding":"string"}`, `"type should be less than 255 bytes, actually was 256\n"`},
	{toDefault, `{"routing_key":"q","properties":{"app_id":5},"payload":"","payload_encoding":"string"}`, `["not_string","app_id"]`},
	{toDefault, `{"routing_key":"q","properties":{"priority":"high"},"payload":"","payload_encoding":"string"}`, `["not_int","priority"]`},
	{"POST /api/queues/%2F/q/get", `{"count":1,"encoding":"auto"}`, `"[{key_missing,ackmode}]"`},
	{"POST /api/queues/%2F/q/get", `{"count":"x","ackmode":"ack_requeue_true","encoding":"auto"}`, `["not_integer","x"]`},
	{"POST /api/queues/%2F/q/get", `{"count":1,"ackmode":"ack_requeue_true","encoding":"hex"}`, `"Unsupported encoding. Please use auto or base64."`},
	{"POST /api/queues/%2F/q/actions", `{"action":"sync"}`, `["unknown","sync"]`},
	{"PUT /api/leveret/log-level", `{"level":5}`, `["not_string",5]`},
	{"PUT /api/leveret/app", `{"running":"no"}`, `["not_boolean","no"]`},
	{"PUT /api/leveret/memory-watermark", `{"absolute":0}`, `["not_integer",0]`},
	{"PUT /api/leveret/memory-watermark", `{"relative":-1}`, `["not_number",-1]`},
	{"PUT /api/leveret/disk-free-limit", `{"bytes":-1}`, `["not_integer",-1]`},
}

// What is wrong with a field is told, with status 400 and the value where RabbitMQ shows it, and nothing is changed by it.
func TestWrongFields(t *testing.T) {
	r := start(t)
	r.must(http.StatusCreated, http.MethodPut, "/api/queues/%2F/q", `{"durable":true}`)
	before := r.get("/api/definitions").text
	for _, tt := range wrongFields {
		method, path, _ := strings.Cut(tt.call, " ")
		a := r.send(method, path, tt.body)
		var e struct{ Reason json.RawMessage }
		if err := json.Unmarshal([]byte(a.text), &e); err != nil || a.status != http.StatusBadRequest || len(e.Reason) < 3 {
			t.Errorf("%s %.100s: %d %s", tt.call, tt.body, a.status, a.text)
		} else if tt.want != "" && string(e.Reason) != tt.want {
			t.Errorf("%s %.100s:\n got %s\nwant %s", tt.call, tt.body, e.Reason, tt.want)
		}
	}
	if after := r.get("/api/definitions").text; after != before {
		t.Errorf("refused calls changed\n%s\nto\n%s", before, after)
	}
}

// Messages come back as they were sent, in the encoding that suits them, cut where that was asked for.
func TestPayloads(t *testing.T) {
	r := start(t)
	r.must(http.StatusCreated, http.MethodPut, "/api/queues/%2F/q", `{"durable":true}`)
	for _, tt := range []struct {
		name, payload, encoding string // as sent
		get                     string // fields of the get
		want, as                string
		size                    int
	}{
		{"text", "hello", "string", `"encoding":"auto"`, "hello", "string", 5},
		{"text in base64", "aGVsbG8=", "base64", `"encoding":"auto"`, "hello", "string", 5},
		{"text wanted in base64", "hello", "string", `"encoding":"base64"`, "aGVsbG8=", "base64", 5},
		{"binary", "/w==", "base64", `"encoding":"auto"`, "/w==", "base64", 1},
		{"nothing", "", "string", `"encoding":"auto"`, "", "string", 0},
		{"letters of two octets", "ää", "string", `"encoding":"auto"`, "ää", "string", 4},
		{"cut", "hello", "string", `"encoding":"auto","truncate":2`, "he", "string", 5},
		{"cut to nothing", "hello", "string", `"encoding":"auto","truncate":0`, "", "string", 5},
		{"cut beyond the end", "hello", "string", `"encoding":"auto","truncate":9`, "hello", "string", 5},
		{"cut within a letter", "ää", "string", `"encoding":"auto","truncate":3`, "w6TD", "base64", 4},
	} {
		body, err := json.Marshal(map[string]any{"routing_key": "q", "properties": map[string]any{}, "payload": tt.payload, "payload_encoding": tt.encoding})
		if err != nil {
			t.Fatal(err)
		}
		if a := r.must(http.StatusOK, http.MethodPost, "/api/exchanges/%2F/amq.default/publish", string(body)); a.text != `{"routed":true}` {
			t.Fatalf("%s: %s", tt.name, a.text)
		}
		got := r.must(http.StatusOK, http.MethodPost, "/api/queues/%2F/q/get", `{"count":5,"ackmode":"ack_requeue_false",`+tt.get+`}`).list(r)
		if len(got) != 1 || got[0]["payload"] != tt.want || got[0]["payload_encoding"] != tt.as || got[0]["payload_bytes"] != float64(tt.size) {
			t.Errorf("%s: %v, want %q as %s of %d octets", tt.name, got, tt.want, tt.as, tt.size)
		}
	}
}

// Each way of getting does with the messages what its name says: put them back, marked redelivered, or not.
func TestAckModes(t *testing.T) {
	for mode, left := range map[string]int{"ack_requeue_true": 3, "reject_requeue_true": 3, "ack_requeue_false": 1, "reject_requeue_false": 1} {
		r := start(t)
		r.must(http.StatusCreated, http.MethodPut, "/api/queues/%2F/q", `{"durable":true}`)
		for range 3 {
			r.must(http.StatusOK, http.MethodPost, "/api/exchanges/%2F/amq.default/publish", publishBody)
		}
		get := func(mode string, count int) (counts []any, redelivered []any) {
			list := r.must(http.StatusOK, http.MethodPost, "/api/queues/%2F/q/get", fmt.Sprintf(`{"count":%d,"ackmode":"%s","encoding":"auto"}`, count, mode)).list(r)
			for _, m := range list {
				counts, redelivered = append(counts, m["message_count"]), append(redelivered, m["redelivered"])
			}
			return counts, redelivered
		}
		if counts, again := get(mode, 2); fmt.Sprint(counts, again) != "[2 1] [false false]" {
			t.Errorf("%s: %v messages were left behind each, redelivered %v", mode, counts, again)
		}
		_, again := get("ack_requeue_true", -1) // all of them
		if len(again) != left || slices.Contains(again, any(true)) != (left == 3) {
			t.Errorf("%s: redelivered %v, want %d messages", mode, again, left)
		}
	}
}

// A user's topic permissions stand in order of their exchanges, however many there are.
func TestOrderOfTopicPermissions(t *testing.T) {
	r := start(t)
	var want []string
	for i := range 40 {
		name := fmt.Sprintf("x%02d", i)
		want = append(want, name)
		r.must(http.StatusCreated, http.MethodPut, "/api/exchanges/%2F/"+name, `{"type":"topic"}`)
		r.must(http.StatusCreated, http.MethodPut, "/api/topic-permissions/%2F/guest", `{"exchange":"`+name+`","write":"a","read":"b"}`)
	}
	for path, reverse := range map[string]bool{
		"/api/topic-permissions": false, "/api/users/guest/topic-permissions": false, "/api/topic-permissions?sort_reverse=true": true,
	} {
		var got []string
		for _, row := range r.get(path).list(r) {
			got = append(got, row["exchange"].(string))
		}
		if reverse {
			slices.Reverse(got)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// Properties come back as they were sent; numbers too large for their place on the wire are cut as RabbitMQ cuts them, and what is no
// property is passed over.
func TestPropertiesOfMessages(t *testing.T) {
	r := start(t)
	r.must(http.StatusCreated, http.MethodPut, "/api/queues/%2F/q", `{"durable":true}`)
	const all = `{"content_type":"a/b","content_encoding":"gzip","correlation_id":"c","reply_to":"r","expiration":"60000","message_id":"m","type":"t",` +
		`"user_id":"guest","app_id":"a","cluster_id":"k","delivery_mode":2,"priority":3,"timestamp":1700000000,"headers":{"n":1,"l":[true,"x"]}}`
	for given, want := range map[string]string{
		`{}`:                             `{}`,
		all:                              all,
		`{"priority":256}`:               `{"priority":0}`,
		`{"priority":300}`:               `{"priority":44}`,
		`{"delivery_mode":257}`:          `{"delivery_mode":1}`,
		`{"colour":"red","type":"t"}`:    `{"type":"t"}`,
		`{"headers":{}}`:                 `{"headers":{}}`,
		`{"headers":{"big":1e3,"s":""}}`: `{"headers":{"big":1000.0,"s":""}}`,
	} {
		r.must(http.StatusOK, http.MethodPost, "/api/exchanges/%2F/amq.default/publish", `{"routing_key":"q","properties":`+given+`,"payload":"","payload_encoding":"string"}`)
		a := r.must(http.StatusOK, http.MethodPost, "/api/queues/%2F/q/get", `{"count":1,"ackmode":"ack_requeue_false","encoding":"auto"}`)
		var got []struct{ Properties json.RawMessage }
		if err := json.Unmarshal([]byte(a.text), &got); err != nil || len(got) != 1 || string(got[0].Properties) != want {
			t.Errorf("sent %s:\n got %s\nwant %s", given, a.text, want)
		}
	}
}

// The exchange that the path names counts, whatever the body says.
func TestTopicPermissionOfThePath(t *testing.T) {
	r := start(t)
	const rights = `{"exchange":"amq.direct","write":"a","read":"b"}`
	r.must(http.StatusCreated, http.MethodPut, "/api/topic-permissions/%2F/guest/amq.topic", rights)
	if got, want := r.get("/api/topic-permissions").text, `[{"user":"guest","vhost":"/","exchange":"amq.topic","write":"a","read":"b"}]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	r.must(http.StatusCreated, http.MethodPut, "/api/topic-permissions/%2F/guest", rights)
	if n := len(r.get("/api/topic-permissions").list(r)); n != 2 {
		t.Errorf("%d rows, want one of each exchange", n)
	}
}
