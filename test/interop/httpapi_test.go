package interop

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// fetch makes a call of the HTTP API as guest and decodes what came back.
func (b *broker) fetch(t *testing.T, method, path, body string) (status int, got any) {
	t.Helper()
	request, err := http.NewRequest(method, "http://"+b.http+"/api"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth("guest", "guest")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 0 && json.Unmarshal(text, &got) != nil {
		got = string(text)
	}
	return response.StatusCode, got
}

// at follows a path of fields and indexes through what was decoded; nil where it ends early.
func at(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			o, _ := v.(map[string]any)
			v = o[step]
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}

// eventually asks until the answer fits.
func (b *broker) eventually(t *testing.T, path string, fits func(any) bool) any {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		_, got := b.fetch(t, http.MethodGet, path, "")
		if fits(got) {
			return got
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s stays %v", path, got)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// A client's connection, channels and consumers are listed from the moment they are there, and can be acted on.
func TestHTTPConnections(t *testing.T) {
	b := withHTTP(t)
	conn, err := amqp091.DialConfig(b.url(), amqp091.Config{Properties: amqp091.Table{"connection_name": "mine"}, Heartbeat: 7 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	s := (&session{t: t, conn: conn}).channel()
	if _, err := s.ch.QueueDeclare("q", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.ch.Qos(3, 0, false); err != nil {
		t.Fatal(err)
	}
	deliveries, err := s.ch.Consume("q", "c1", false, false, false, false, amqp091.Table{"x-priority": 5})
	if err != nil {
		t.Fatal(err)
	}
	cancelled := s.ch.NotifyCancel(make(chan string, 1))
	_, connections := b.fetch(t, http.MethodGet, "/connections", "")
	for field, value := range map[string]any{
		"user": "guest", "vhost": "/", "state": "running", "channels": 1.0, "user_provided_name": "mine", "timeout": 7.0, "ssl": false,
		"protocol": "AMQP 0-9-1", "auth_mechanism": "PLAIN",
	} {
		want(t, field, at(connections, 0, field), value)
	}
	name := at(connections, 0, "name").(string)
	for range 5 {
		s.publish("q", "m")
	}
	for range 3 {
		<-deliveries
	}
	channels := b.eventually(t, "/channels", func(v any) bool { return at(v, 0, "message_stats", "publish") == 5.0 })
	for field, value := range map[string]any{
		"name": name + " (1)", "number": 1.0, "prefetch_count": 3.0, "messages_unacknowledged": 3.0, "consumer_count": 1.0, "confirm": false,
	} {
		want(t, field, at(channels, 0, field), value)
	}
	want(t, "delivered", at(channels, 0, "message_stats", "deliver"), 3.0)
	consumer := "/consumers/%2F/" + url.PathEscape(name) + "/1/c1"
	status, c := b.fetch(t, http.MethodGet, consumer, "")
	want(t, "consumer", fmt.Sprint(status, at(c, "consumer_tag"), at(c, "prefetch_count"), at(c, "ack_required"), at(c, "arguments")), fmt.Sprint(200, "c1", 3, true, map[string]any{"x-priority": 5}))
	_, held := b.fetch(t, http.MethodGet, "/queues/%2F/q/unacked", "")
	want(t, "held", fmt.Sprint(len(held.([]any)), at(held, 0, "consumer_tag"), at(held, 0, "connection_name"), at(held, 0, "delivery_tag")), fmt.Sprint(3, "c1", name, 1))

	status, _ = b.fetch(t, http.MethodPut, consumer, `{"prefetch":4}`)
	want(t, "prefetch is changed", status, http.StatusNoContent)
	<-deliveries // the fourth
	status, _ = b.fetch(t, http.MethodPut, "/channels/"+url.PathEscape(name+" (1)")+"/prefetch", `{"prefetch":0}`)
	want(t, "the channel's prefetch is changed", status, http.StatusNoContent)
	<-deliveries
	status, back := b.fetch(t, http.MethodPost, consumer+"/requeue", "")
	want(t, "put back", fmt.Sprint(status, at(back, "messages")), "200 5")
	for range 5 {
		if d := <-deliveries; !d.Redelivered {
			t.Error("what was put back is not marked as redelivered")
		}
	}
	status, _ = b.fetch(t, http.MethodDelete, consumer, "")
	want(t, "cancelled", status, http.StatusNoContent)
	want(t, "the client is told", <-cancelled, "c1")
	status, _ = b.fetch(t, http.MethodDelete, consumer, "")
	want(t, "cancelled again", status, http.StatusNotFound)
	closedByForce(t, b, conn, name)
}

// closedByForce closes a connection with a reason, which the client hears.
func closedByForce(t *testing.T, b *broker, conn *amqp091.Connection, name string) {
	t.Helper()
	closed := conn.NotifyClose(make(chan *amqp091.Error, 1))
	request, err := http.NewRequest(http.MethodDelete, "http://"+b.http+"/api/connections/"+url.PathEscape(name), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth("guest", "guest")
	request.Header.Set("X-Reason", "spring cleaning")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	want(t, "closed", response.StatusCode, http.StatusNoContent)
	e := <-closed
	want(t, "what the client hears", fmt.Sprint(e.Code, e.Reason), fmt.Sprint(320, "CONNECTION_FORCED - spring cleaning"))
	b.eventually(t, "/connections", func(v any) bool { list, ok := v.([]any); return ok && len(list) == 0 })
	text, err := os.ReadFile(filepath.Join(b.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	log := string(text)
	if !strings.Contains(log, "msg=audit action=connection.closed user=guest") || !strings.Contains(log, `reason="spring cleaning"`) {
		t.Errorf("the audit log lacks the closed connection:\n%s", log)
	}
}

// An autoscaler asks for a queue's length and rates, which are numbers from the first moment.
func TestHTTPScaler(t *testing.T) {
	b := withHTTP(t)
	s := dialBroker(t, b)
	if _, err := s.ch.QueueDeclare("jobs", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	const path = "/queues/%2F/jobs"
	_, idle := b.fetch(t, http.MethodGet, path, "")
	for _, field := range []string{"messages", "messages_ready", "messages_unacknowledged", "consumers", "memory", "consumer_utilisation"} {
		want(t, field, at(idle, field), 0)
	}
	for _, field := range []string{"queue_totals", "object_totals", "message_stats"} {
		_, overview := b.fetch(t, http.MethodGet, "/overview", "")
		if _, isObject := at(overview, field).(map[string]any); !isObject {
			t.Errorf("overview: %s is %v", field, at(overview, field))
		}
	}
	for range 10 {
		s.publish("jobs", "x")
	}
	busy := b.eventually(t, path, func(v any) bool {
		rate, ok := at(v, "message_stats", "publish_details", "rate").(float64)
		return ok && rate > 0
	})
	want(t, "messages", at(busy, "messages"), 10)
	want(t, "ready", at(busy, "messages_ready"), 10)
	want(t, "published", at(busy, "message_stats", "publish"), 10)
	if _, absent := at(busy, "message_stats").(map[string]any)["deliver_get_details"]; absent {
		t.Error("a queue that nobody read from has counters of deliveries")
	}
}

// A regular expression over pages matches in all pages, and in the virtual host that was asked for alone.
func TestHTTPPages(t *testing.T) {
	b := withHTTP(t)
	for _, path := range []string{"/vhosts/other", "/queues/other/page.9", "/queues/%2F/else"} {
		if status, _ := b.fetch(t, http.MethodPut, path, "{}"); status != http.StatusCreated {
			t.Fatalf("PUT %s: %d", path, status)
		}
	}
	for i := range 7 {
		b.fetch(t, http.MethodPut, fmt.Sprintf("/queues/%%2F/page.%d", i), "{}")
	}
	var seen []string
	for page := 1; page <= 3; page++ {
		_, got := b.fetch(t, http.MethodGet, fmt.Sprintf("/queues/%%2F?page=%d&page_size=3&name=%%5Epage&use_regex=true", page), "")
		want(t, "counts", fmt.Sprint(at(got, "filtered_count"), at(got, "total_count"), at(got, "page_count")), "7 8 3")
		for _, item := range at(got, "items").([]any) {
			seen = append(seen, at(item, "name").(string))
		}
	}
	want(t, "all pages", strings.Join(seen, " "), "page.0 page.1 page.2 page.3 page.4 page.5 page.6")
	for query, want := range map[string]string{
		"page=4&page_size=3&name=page": "page_out_of_range", "page=1&page_size=501": "invalid_pagination_parameters", "page=0": "invalid_pagination_parameters",
	} {
		if status, got := b.fetch(t, http.MethodGet, "/queues/%2F?"+query, ""); status != http.StatusBadRequest || at(got, "error") != want {
			t.Errorf("%s: %d %v, want %s", query, status, got, want)
		}
	}
	_, whole := b.fetch(t, http.MethodGet, "/queues/%2F?name=page", "")
	want(t, "without a page", len(whole.([]any)), 8)
}

// What a client declared over AMQP with any name is reached over HTTP, and its bindings by their properties_key.
func TestHTTPNames(t *testing.T) {
	b := withHTTP(t)
	s := dialBroker(t, b)
	for _, name := range []string{"a/b c+d%2F", "q?x=1#f", "..", "ü", "p.%41"} {
		if _, err := s.ch.QueueDeclare(name, false, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		if err := s.ch.QueueBind(name, "k "+name, "amq.direct", false, amqp091.Table{"n": int32(1)}); err != nil {
			t.Fatal(err)
		}
		path := url.PathEscape(name)
		status, q := b.fetch(t, http.MethodGet, "/queues/%2F/"+path, "")
		want(t, "queue "+name, fmt.Sprint(status, at(q, "name")), fmt.Sprint(200, name))
		_, bindings := b.fetch(t, http.MethodGet, "/bindings/%2F/e/amq.direct/q/"+path, "")
		key := url.PathEscape(at(bindings, 0, "properties_key").(string))
		status, one := b.fetch(t, http.MethodGet, "/bindings/%2F/e/amq.direct/q/"+path+"/"+key, "")
		want(t, "binding of "+name, fmt.Sprint(status, at(one, "routing_key")), fmt.Sprint(200, "k "+name))
		status, _ = b.fetch(t, http.MethodDelete, "/bindings/%2F/e/amq.direct/q/"+path+"/"+key, "")
		want(t, "unbound "+name, status, http.StatusNoContent)
		status, _ = b.fetch(t, http.MethodDelete, "/queues/%2F/"+path, "")
		want(t, "deleted "+name, status, http.StatusNoContent)
	}
}
