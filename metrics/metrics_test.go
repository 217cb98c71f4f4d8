package metrics_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"leveret/metrics"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var identity = metrics.Identity{Node: "leveret@host", Cluster: "c", RabbitMQVersion: "4.3.6", Version: "0.1.0"}

// distinct is a snapshot in which every number is another one, so that no metric can show its neighbour's.
func distinct() metrics.Snapshot {
	s := metrics.Snapshot{MemoryAlarm: true, Dropped: map[string]uint64{"expired": 1001, "too long": 1002}}
	fields := reflect.ValueOf(&s).Elem()
	for i := range fields.NumField() {
		if fields.Field(i).Kind() == reflect.Uint64 {
			fields.Field(i).SetUint(uint64(i + 1))
		}
	}
	s.LoginsTried += 100 // more than failed
	return s
}

// scrape returns the body of a request.
func scrape(t *testing.T, source metrics.Source, path string) *http.Response {
	t.Helper()
	recorder := httptest.NewRecorder()
	metrics.NewHandler(source, identity).ServeHTTP(recorder, httptest.NewRequest("GET", path, nil))
	return recorder.Result()
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// wanted are the lines of a snapshot, with regular expressions for labels that depend on the machine.
func wanted(s metrics.Snapshot) map[string]uint64 {
	const amqp, queue = `{protocol="amqp091"}`, `{protocol="amqp091",queue_type="rabbit_classic_queue"}`
	return map[string]uint64{
		"rabbitmq_connections":                                                s.Connections,
		"rabbitmq_channels":                                                   s.Channels,
		"rabbitmq_consumers":                                                  s.Consumers,
		"rabbitmq_queues":                                                     s.Queues,
		"rabbitmq_queue_messages":                                             s.Ready + s.Unacked,
		"rabbitmq_queue_messages_ready":                                       s.Ready,
		"rabbitmq_queue_messages_unacked":                                     s.Unacked,
		"rabbitmq_channel_messages_unacked":                                   s.Unacked,
		"rabbitmq_global_consumers" + amqp:                                    s.Consumers,
		"rabbitmq_alarms_memory_used_watermark":                               1,
		"rabbitmq_alarms_free_disk_space_watermark":                           0,
		"rabbitmq_resident_memory_limit_bytes":                                s.MemoryLimit,
		"rabbitmq_connections_opened_total":                                   s.ConnectionsOpened,
		"rabbitmq_connections_closed_total":                                   s.ConnectionsClosed,
		"rabbitmq_channels_opened_total":                                      s.ChannelsOpened,
		"rabbitmq_channels_closed_total":                                      s.ChannelsClosed,
		"rabbitmq_auth_attempts_total" + amqp:                                 s.LoginsTried,
		"rabbitmq_auth_attempts_succeeded_total" + amqp:                       s.LoginsTried - s.LoginsFailed,
		"rabbitmq_auth_attempts_failed_total" + amqp:                          s.LoginsFailed,
		"rabbitmq_channel_messages_published_total":                           s.Published,
		"rabbitmq_channel_messages_confirmed_total":                           s.Confirmed,
		"rabbitmq_channel_messages_unroutable_returned_total":                 s.Returned,
		"rabbitmq_channel_messages_unroutable_dropped_total":                  s.Unroutable,
		"rabbitmq_queue_messages_published_total":                             s.Routed,
		"rabbitmq_channel_messages_delivered_ack_total":                       s.DeliveredManualAck,
		"rabbitmq_channel_messages_delivered_total":                           s.DeliveredAutoAck,
		"rabbitmq_channel_messages_redelivered_total":                         s.Redelivered,
		"rabbitmq_channel_messages_acked_total":                               s.Acked,
		"rabbitmq_channel_get_ack_total":                                      s.GotManualAck,
		"rabbitmq_channel_get_total":                                          s.GotAutoAck,
		"rabbitmq_channel_get_empty_total":                                    s.GotEmpty,
		"rabbitmq_global_messages_received_total" + amqp:                      s.Published,
		"rabbitmq_global_messages_routed_total" + amqp:                        s.Routed,
		"rabbitmq_global_messages_confirmed_total" + amqp:                     s.Confirmed,
		"rabbitmq_global_messages_unroutable_returned_total" + amqp:           s.Returned,
		"rabbitmq_global_messages_unroutable_dropped_total" + amqp:            s.Unroutable,
		"rabbitmq_global_messages_delivered_total" + queue:                    s.DeliveredManualAck + s.DeliveredAutoAck + s.GotManualAck + s.GotAutoAck,
		"rabbitmq_global_messages_delivered_consume_manual_ack_total" + queue: s.DeliveredManualAck,
		"rabbitmq_global_messages_delivered_consume_auto_ack_total" + queue:   s.DeliveredAutoAck,
		"rabbitmq_global_messages_delivered_get_manual_ack_total" + queue:     s.GotManualAck,
		"rabbitmq_global_messages_delivered_get_auto_ack_total" + queue:       s.GotAutoAck,
		"rabbitmq_global_messages_get_empty_total" + queue:                    s.GotEmpty,
		"rabbitmq_global_messages_redelivered_total" + queue:                  s.Redelivered,
		"rabbitmq_global_messages_acknowledged_total" + queue:                 s.Acked,
		"leveret_connections_blocked":                                         s.Blocked,
		"leveret_queue_memory_bytes":                                          s.ReadyBytes,
		"leveret_store_disk_bytes":                                            s.StoreBytes,
		"leveret_store_unsynced_bytes":                                        s.UnsyncedBytes,
		"leveret_messages_requeued_total":                                     s.Requeued,
		"leveret_messages_rejected_total":                                     s.Rejected,
		"leveret_messages_purged_total":                                       s.Purged,
		"rabbitmq_io_sync_ops_total":                                          s.Syncs,
		"rabbitmq_io_write_bytes_total":                                       s.WrittenBytes,
		"rabbitmq_io_read_ops_total":                                          s.Reads,
		"rabbitmq_io_read_bytes_total":                                        s.ReadBytes,
		"leveret_store_damaged_records_total":                                 s.DamagedRecords,
		`leveret_messages_dropped_total{reason="unroutable"}`:                 s.Unroutable,
		`leveret_messages_dropped_total{reason="expired"}`:                    1001,
		`leveret_messages_dropped_total{reason="too long"}`:                   1002,
		`leveret_build_info{go_version=".*",version="0\.1\.0"}`:               1,
		`rabbitmq_identity_info{rabbitmq_cluster="c",rabbitmq_cluster_permanent_id="c",rabbitmq_endpoint="aggregated",rabbitmq_node="leveret@host"}`: 1,
		`rabbitmq_build_info{erlang_version=".*",prometheus_client_version=".*",prometheus_plugin_version="4.3.6",rabbitmq_version="4.3.6"}`:         1,
	}
}

func TestNumbersReachTheirNames(t *testing.T) {
	s := distinct()
	body := text(t, scrape(t, metrics.SourceFunc(func() metrics.Snapshot { return s }), "/metrics"))
	for name, value := range wanted(s) {
		line := regexp.MustCompile(`(?m)^` + strings.NewReplacer("{", `\{`, "}", `\}`).Replace(name) + ` (\d+)$`)
		if match := line.FindStringSubmatch(body); match == nil || match[1] != strconv.FormatUint(value, 10) {
			t.Errorf("%s: got %q, want %d", name, match, value)
		}
	}
	for _, name := range []string{"go_goroutines", "process_cpu_seconds_total", "rabbitmq_erlang_uptime_seconds"} {
		if !strings.Contains(body, "\n"+name+" ") {
			t.Errorf("%s is missing", name)
		}
	}
}

// TestEveryNumberIsShown holds that no number of a snapshot is forgotten: without it, some line of the answer is another one.
func TestEveryNumberIsShown(t *testing.T) {
	lines := func(s metrics.Snapshot) string {
		body := text(t, scrape(t, metrics.SourceFunc(func() metrics.Snapshot { return s }), "/metrics"))
		var ours []string
		for line := range strings.Lines(body) {
			steady := !strings.Contains(line, "_process_") && !strings.Contains(line, "uptime")
			if steady && (strings.HasPrefix(line, "rabbitmq_") || strings.HasPrefix(line, "leveret_")) {
				ours = append(ours, line)
			}
		}
		return strings.Join(ours, "")
	}
	all := lines(distinct())
	if all != lines(distinct()) {
		t.Fatal("two scrapes of the same numbers differ")
	}
	for i := range reflect.TypeFor[metrics.Snapshot]().NumField() {
		s := distinct()
		s.DiskAlarm = true
		before := lines(s)
		reflect.ValueOf(&s).Elem().Field(i).SetZero()
		if lines(s) == before {
			t.Errorf("%s is not shown", reflect.TypeFor[metrics.Snapshot]().Field(i).Name)
		}
	}
}

// TestCountersOnlyGrow holds that everything which is said to be a counter is a total, and everything else is not: a total that is shown
// as a gauge can't be told from one that was reset.
func TestCountersOnlyGrow(t *testing.T) {
	body := text(t, scrape(t, metrics.SourceFunc(distinct), "/metrics"))
	for _, match := range regexp.MustCompile(`(?m)^# TYPE ((?:rabbitmq|leveret)_\S+) (\S+)$`).FindAllStringSubmatch(body, -1) {
		if name, kind := match[1], match[2]; strings.HasSuffix(name, "_total") != (kind == "counter") {
			t.Errorf("%s is a %s", name, kind)
		}
	}
}

// TestAsksOnce holds that a scrape sees one moment: it asks for all numbers at once.
func TestAsksOnce(t *testing.T) {
	asked := 0
	scrape(t, metrics.SourceFunc(func() metrics.Snapshot { asked++; return distinct() }), "/metrics")
	if asked != 1 {
		t.Errorf("one scrape asks %d times", asked)
	}
}

func TestProcessNumbers(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // they are read from /proc
	}
	body := text(t, scrape(t, metrics.SourceFunc(distinct), "/metrics"))
	for name, least := range map[string]float64{
		"rabbitmq_process_open_fds":              3,
		"rabbitmq_process_max_fds":               64,
		"rabbitmq_process_resident_memory_bytes": 1 << 20,
	} {
		match := regexp.MustCompile(`(?m)^` + name + ` (.*)$`).FindStringSubmatch(body)
		if match == nil {
			t.Errorf("%s is missing", name)
			continue
		}
		if got, err := strconv.ParseFloat(match[1], 64); err != nil || got < least || got > 1<<40 {
			t.Errorf("%s is %s, %v", name, match[1], err)
		}
	}
}

func TestLint(t *testing.T) {
	registry := metrics.NewRegistry(metrics.SourceFunc(distinct), identity)
	problems, err := testutil.GatherAndLint(registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if p.Metric == "rabbitmq_unreachable_cluster_peers_count" {
			continue // the name is RabbitMQ's
		}
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestAnswers(t *testing.T) {
	tests := []struct {
		path   string
		status int
		body   string
	}{
		{"/metrics", 200, "# TYPE rabbitmq_connections gauge\n"},
		{"/metrics/nonsense", 404, "Unknown Registry"},
		{"/other", 404, `{"error":"Object Not Found","reason":"Not Found"}`},
	}
	for _, tt := range tests {
		r := scrape(t, metrics.SourceFunc(distinct), tt.path)
		if body := text(t, r); r.StatusCode != tt.status || !strings.Contains(body, tt.body) {
			t.Errorf("%s: %d %.80q, want %d %q", tt.path, r.StatusCode, body, tt.status, tt.body)
		}
	}
	if got := scrape(t, metrics.SourceFunc(distinct), "/metrics").Header.Get("Content-Type"); !strings.HasPrefix(got, "text/plain; version=0.0.4") {
		t.Errorf("content type %q", got)
	}
}

func TestGzip(t *testing.T) {
	request := httptest.NewRequest("GET", "/metrics", nil)
	request.Header.Set("Accept-Encoding", "gzip")
	recorder := httptest.NewRecorder()
	metrics.NewHandler(metrics.SourceFunc(distinct), identity).ServeHTTP(recorder, request)
	unpacked, err := gzip.NewReader(recorder.Body)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(unpacked)
	if err != nil || !strings.Contains(string(body), "rabbitmq_queues ") {
		t.Errorf("%v, %.80q", err, body)
	}
}

// TestConcurrentScrapes has several scrapes at once over one handler; the race detector is the judge, and every answer is whole.
func TestConcurrentScrapes(t *testing.T) {
	handler := metrics.NewHandler(metrics.SourceFunc(distinct), identity)
	var scrapers sync.WaitGroup
	for range 4 {
		scrapers.Go(func() {
			for range 20 {
				recorder := httptest.NewRecorder()
				handler.ServeHTTP(recorder, httptest.NewRequest("GET", "/metrics", nil))
				if recorder.Code != 200 || !strings.Contains(recorder.Body.String(), "rabbitmq_queues ") {
					t.Errorf("%d", recorder.Code)
				}
			}
		})
	}
	scrapers.Wait()
}
