package metrics_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"leveret/metrics"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var identity = metrics.Identity{Node: "leveret@host", Cluster: "c", RabbitMQVersion: "4.3.6", Version: "0.1.0"}

// numbers is a source of fixed numbers that counts how often it was asked.
type numbers struct {
	node        metrics.Node
	queues      []metrics.Queue
	exchanges   []metrics.Exchange
	channels    []metrics.Channel
	pairs       []metrics.ChannelQueue
	published   []metrics.ChannelExchange
	flows       []metrics.QueueExchange
	inflows     []metrics.ChannelQueueExchange
	connections []metrics.Connection
	asked       int
}

func (n *numbers) Node() metrics.Node                { n.asked++; return n.node }
func (n *numbers) Queues() []metrics.Queue           { return slices.Clone(n.queues) }
func (n *numbers) Exchanges() []metrics.Exchange     { return slices.Clone(n.exchanges) }
func (n *numbers) Channels() []metrics.Channel       { return slices.Clone(n.channels) }
func (n *numbers) Connections() []metrics.Connection { return slices.Clone(n.connections) }
func (n *numbers) ChannelQueues() []metrics.ChannelQueue {
	return slices.Clone(n.pairs)
}
func (n *numbers) ChannelExchanges() []metrics.ChannelExchange {
	return slices.Clone(n.published)
}
func (n *numbers) QueueExchanges() []metrics.QueueExchange {
	return slices.Clone(n.flows)
}
func (n *numbers) ChannelQueueExchanges() []metrics.ChannelQueueExchange {
	return slices.Clone(n.inflows)
}
func (n *numbers) VHosts() []string { return []string{"/", "other"} }

// number sets all numbers of a struct to different ones, so that no metric can show its neighbour's.
func number[T any](s T, from float64) T {
	fields := reflect.ValueOf(&s).Elem()
	for i := range fields.NumField() {
		switch f := fields.Field(i); f.Kind() {
		case reflect.Uint64:
			f.SetUint(uint64(from) + uint64(i))
		case reflect.Float64:
			f.SetFloat(from + float64(i))
		case reflect.Struct:
			for j := range f.NumField() {
				switch f.Field(j).Kind() {
				case reflect.Uint64:
					f.Field(j).SetUint(uint64(from) + uint64(100+10*i+j))
				case reflect.Float64:
					f.Field(j).SetFloat(from + float64(100+10*i+j))
				}
			}
		}
	}
	return s
}

// distinct has two of each kind of object.
func distinct() *numbers {
	n := &numbers{
		node: number(metrics.Node{MemoryAlarm: true, Dropped: map[string]uint64{"expired": 1001, "maxlen": 1002}, Memory: map[string]uint64{"queues": 77}}, 1),
		queues: []metrics.Queue{
			number(metrics.Queue{VHost: "/", Name: "jobs", Type: "classic"}, 2000),
			number(metrics.Queue{VHost: "other", Name: "a \"quoted\"\nname", Type: "quorum"}, 3000),
		},
		exchanges:   []metrics.Exchange{number(metrics.Exchange{VHost: "/", Name: "orders", Type: "topic"}, 4000)},
		channels:    []metrics.Channel{number(metrics.Channel{ID: "1.1"}, 5000), number(metrics.Channel{ID: "1.2"}, 5100)},
		pairs:       []metrics.ChannelQueue{number(metrics.ChannelQueue{ChannelID: "1.1", VHost: "/", Queue: "jobs"}, 5500)},
		published:   []metrics.ChannelExchange{number(metrics.ChannelExchange{ChannelID: "1.1", VHost: "/", Exchange: "orders"}, 5600)},
		flows:       []metrics.QueueExchange{number(metrics.QueueExchange{VHost: "/", Queue: "jobs", Exchange: "orders"}, 5700)},
		inflows:     []metrics.ChannelQueueExchange{number(metrics.ChannelQueueExchange{ChannelID: "1.1", VHost: "/", Queue: "jobs", Exchange: "orders"}, 5800)},
		connections: []metrics.Connection{number(metrics.Connection{ID: "1"}, 6000)},
	}
	n.node.Wait = metrics.Distribution{Bounds: []float64{1, 2}, Counts: []uint64{31, 32, 33}, Sum: 34}
	n.node.Processing = metrics.Distribution{Bounds: []float64{1, 2}, Counts: []uint64{41, 42, 43}, Sum: 44}
	n.node.Sizes = metrics.Distribution{Bounds: []float64{100}, Counts: []uint64{51, 52}, Sum: 53}
	n.node.Logins = []metrics.Logins{{Protocol: "amqp091", Tried: 901, Failed: 33}, {Protocol: "http", Tried: 902, Failed: 34}}
	n.node.Channels, n.node.Connections = number(metrics.Channel{}, 8500), number(metrics.Connection{}, 8600)
	n.node.QueueTypes = []metrics.Queue{number(metrics.Queue{Type: "classic"}, 7000), number(metrics.Queue{Type: "quorum"}, 8000)}
	return n
}

// scrape returns the answer to a request; header is a list of names and values.
func scrape(source metrics.Source, path string, header ...string) *http.Response {
	request := httptest.NewRequest("GET", path, nil)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	recorder := httptest.NewRecorder()
	metrics.NewHandler(source, identity).ServeHTTP(recorder, request)
	return recorder.Result()
}

func text(t *testing.T, source metrics.Source, path string) string {
	t.Helper()
	body, err := io.ReadAll(scrape(source, path).Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// ours are the lines of an answer that tell the broker's numbers, without those of the process.
func ours(body string) string {
	var kept []string
	for line := range strings.Lines(body) {
		steady := !strings.HasPrefix(line, "rabbitmq_process_") && !strings.HasPrefix(line, "rabbitmq_detailed_process_") && !strings.Contains(line, "uptime")
		if steady && (strings.HasPrefix(line, "rabbitmq_") || strings.HasPrefix(line, "leveret_")) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// paths are all endpoints, with everything that they can be asked for.
var paths = []string{"/metrics", "/metrics/per-object", "/metrics/memory-breakdown", "/metrics/detailed?family=node_coarse_metrics&family=node_metrics" +
	"&family=node_persister_metrics&family=connection_churn_metrics&family=auth_attempt_metrics&family=queue_coarse_metrics&family=queue_consumer_count" +
	"&family=queue_metrics&family=queue_delivery_metrics&family=leveret_queue_metrics&family=channel_metrics&family=channel_queue_metrics" +
	"&family=channel_exchange_metrics&family=queue_exchange_metrics&family=channel_queue_exchange_metrics&family=connection_coarse_metrics" +
	"&family=connection_metrics&family=exchange_metrics&family=exchange_names&family=exchange_bindings&family=vhost_status"}

// TestTimesOfFew: queues that delivered nothing have no percentiles, and cost no line.
func TestTimesOfFew(t *testing.T) {
	n := distinct()
	n.queues[0].Wait, n.queues[0].Processing = metrics.Quantiles{P50: 1.5, P95: 2.5, P99: 3.5}, metrics.Quantiles{}
	n.queues[1].Wait, n.queues[1].Processing = metrics.Quantiles{}, metrics.Quantiles{}
	body := text(t, n, "/metrics/per-object")
	if !strings.Contains(body, `leveret_queue_wait_seconds_p95{queue="jobs",vhost="/"} 2.5`) {
		t.Error("the percentiles of a queue are missing")
	}
	if strings.Count(body, "leveret_queue_wait_seconds_p95{") != 1 || strings.Contains(body, "leveret_queue_processing_seconds") {
		t.Error("there are percentiles of queues that have none")
	}
}

// TestPerObjectByDefault: who wants single objects on /metrics gets them, and nobody else does.
func TestPerObjectByDefault(t *testing.T) {
	for _, perObject := range []bool{false, true} {
		id := identity
		id.PerObject = perObject
		recorder := httptest.NewRecorder()
		metrics.NewHandler(distinct(), id).ServeHTTP(recorder, httptest.NewRequest("GET", "/metrics", nil))
		body := recorder.Body.String()
		if got := strings.Contains(body, `rabbitmq_queue_messages_ready{queue="jobs",vhost="/"}`); got != perObject {
			t.Errorf("per object %t: single queues are shown: %t", perObject, got)
		}
		if !strings.Contains(body, `rabbitmq_endpoint="aggregated"`) {
			t.Errorf("per object %t: the endpoint has another name", perObject)
		}
	}
}

// TestEveryNumberIsShown holds that no number is forgotten: with another value, some line of some answer is another one.
func TestEveryNumberIsShown(t *testing.T) {
	answers := func(n *numbers) string {
		var all strings.Builder
		for _, path := range paths {
			all.WriteString(ours(text(t, n, path)))
		}
		return all.String()
	}
	before := answers(distinct())
	if before != answers(distinct()) {
		t.Fatal("two scrapes of the same numbers differ")
	}
	// Sums have no names, and are summed up once more.
	hidden := map[string]bool{"sum VHost": true, "sum Name": true, "sum HeadTimestamp": true, "sum Wait": true, "sum Processing": true, "node QueueTypes": true}
	changed := func(what string, of func(*numbers) reflect.Value) {
		for i := range of(distinct()).NumField() {
			n := distinct()
			of(n).Field(i).SetZero()
			name := of(n).Type().Field(i).Name
			if name == "DiskAlarm" {
				of(n).Field(i).SetBool(true)
			}
			if !hidden[what+" "+name] && answers(n) == before {
				t.Errorf("%s of a %s is not shown", name, what)
			}
		}
	}
	changed("node", func(n *numbers) reflect.Value { return reflect.ValueOf(&n.node).Elem() })
	changed("sum", func(n *numbers) reflect.Value { return reflect.ValueOf(&n.node.QueueTypes[1]).Elem() })
	changed("queue", func(n *numbers) reflect.Value { return reflect.ValueOf(&n.queues[1]).Elem() })
	changed("exchange", func(n *numbers) reflect.Value { return reflect.ValueOf(&n.exchanges[0]).Elem() })
	changed("channel", func(n *numbers) reflect.Value { return reflect.ValueOf(&n.channels[1]).Elem() })
	changed("channel's queue", func(n *numbers) reflect.Value { return reflect.ValueOf(&n.pairs[0]).Elem() })
	changed("channel's exchange", func(n *numbers) reflect.Value { return reflect.ValueOf(&n.published[0]).Elem() })
	changed("queue's exchange", func(n *numbers) reflect.Value { return reflect.ValueOf(&n.flows[0]).Elem() })
	changed("channel's queue and exchange", func(n *numbers) reflect.Value { return reflect.ValueOf(&n.inflows[0]).Elem() })
	changed("connection", func(n *numbers) reflect.Value { return reflect.ValueOf(&n.connections[0]).Elem() })
}

// TestNumbersReachTheirNames looks at one number of each table.
func TestNumbersReachTheirNames(t *testing.T) {
	n := distinct()
	q := n.queues[1]
	const name = `{queue="a \"quoted\"\nname",vhost="other"}`
	tests := []struct {
		path, series string
		want         uint64
	}{
		{"/metrics", "rabbitmq_connections", n.node.ConnectionCount},
		{"/metrics", "rabbitmq_alarms_memory_used_watermark", 1},
		{"/metrics", "rabbitmq_alarms_free_disk_space_watermark", 0},
		{"/metrics", `rabbitmq_auth_attempts_succeeded_total{protocol="amqp091"}`, 901 - 33},
		{"/metrics", "rabbitmq_queue_messages", n.node.QueueTypes[0].Ready + n.node.QueueTypes[0].Unacked + n.node.QueueTypes[1].Ready + n.node.QueueTypes[1].Unacked},
		{"/metrics", `rabbitmq_global_messages_acknowledged_total{protocol="amqp091",queue_type="rabbit_quorum_queue"}`, n.node.QueueTypes[1].Acked},
		{"/metrics", `leveret_messages_dropped_total{reason="maxlen"}`, 1002},
		{"/metrics", `leveret_messages_dropped_total{reason="unroutable"}`, n.node.Unroutable},
		{"/metrics", `rabbitmq_identity_info{rabbitmq_cluster="c",rabbitmq_cluster_permanent_id="c",rabbitmq_endpoint="aggregated",rabbitmq_node="leveret@host"}`, 1},
		{"/metrics/per-object", "rabbitmq_queue_messages_ready" + name, q.Ready},
		{"/metrics/per-object", `rabbitmq_queue_info{membership="leader",queue="jobs",queue_type="rabbit_classic_queue",vhost="/"}`, 1},
		{"/metrics/per-object", `rabbitmq_consumer_prefetch{channel="1.2"}`, n.channels[1].Prefetch},
		{"/metrics/per-object", `rabbitmq_connection_channels{channel="1"}`, n.connections[0].Channels},
		{"/metrics/detailed?family=queue_coarse_metrics", "rabbitmq_detailed_queue_messages_unacked" + name, q.Unacked},
		{"/metrics/detailed?family=leveret_queue_metrics", "leveret_detailed_queue_messages_purged_total" + name, q.Purged},
		{"/metrics/per-object", `rabbitmq_channel_messages_unroutable_dropped_total{channel="1.1",exchange="orders",vhost="/"}`, n.published[0].Dropped},
		{"/metrics/detailed?family=queue_exchange_metrics", `rabbitmq_detailed_queue_exchange_messages_published_total{exchange="orders",queue="jobs",vhost="/"}`, n.flows[0].Published},
		{"/metrics/per-object",
			`rabbitmq_queue_messages_published_total{channel="1.1",exchange="orders",exchange_vhost="/",queue="jobs",queue_vhost="/"}`, n.inflows[0].Published},
		{"/metrics/detailed?family=exchange_bindings", `rabbitmq_cluster_exchange_bindings{exchange="orders",type="topic",vhost="/"}`, n.exchanges[0].Bindings},
		{"/metrics/detailed?family=vhost_status", `rabbitmq_cluster_vhost_status{vhost="other"}`, 1},
		{"/metrics/memory-breakdown", "leveret_memory_queues_bytes", 77},
	}
	for _, tt := range tests {
		line := tt.series + " " + strconv.FormatUint(tt.want, 10)
		if body := text(t, n, tt.path); !slices.Contains(strings.Split(body, "\n"), line) {
			t.Errorf("%s: no line %s", tt.path, line)
		}
	}
}

// TestDetailedIsNarrowed: what is not asked for is not there.
func TestDetailedIsNarrowed(t *testing.T) {
	tests := []struct {
		query  string
		queues int
		other  bool
	}{
		{"", 0, false},
		{"?family=nonsense", 0, false},
		{"?family=queue_coarse_metrics", 2, false},
		{"?family=queue_coarse_metrics&vhost=/", 1, false},
		{"?family=queue_coarse_metrics&vhost=other&queue=jobs", 0, false},
		{"?family=queue_coarse_metrics&queue=jobs", 1, false},
		{"?family=queue_coarse_metrics&queue=jobs&queue=others", 0, false},
		{"?family=connection_churn_metrics", 0, true},
		{"?family=queue_consumer_count&family=queue_coarse_metrics&family=connection_churn_metrics&vhost=other", 1, true},
	}
	for _, tt := range tests {
		body := text(t, distinct(), "/metrics/detailed"+tt.query)
		if got := strings.Count(body, "\nrabbitmq_detailed_queue_messages_ready{"); got != tt.queues {
			t.Errorf("%q: %d queues, want %d", tt.query, got, tt.queues)
		}
		if got := strings.Contains(body, "\nrabbitmq_detailed_channels_opened_total "); got != tt.other {
			t.Errorf("%q: churn %v, want %v", tt.query, got, tt.other)
		}
		if !strings.Contains(body, `rabbitmq_endpoint="detailed"`) || !strings.Contains(body, "\nrabbitmq_build_info{") {
			t.Errorf("%q does not tell who answers", tt.query)
		}
	}
}

// TestSizes holds that /metrics is of the same size however many objects there are, and that only what was asked for is gathered.
func TestSizes(t *testing.T) {
	few, many := distinct(), distinct()
	for i := range 10_000 {
		many.queues = append(many.queues, metrics.Queue{VHost: "/", Name: "q" + strconv.Itoa(i), Type: "classic"})
	}
	if a, b := strings.Count(text(t, few, "/metrics"), "\n"), strings.Count(text(t, many, "/metrics"), "\n"); a != b {
		t.Errorf("%d lines with two queues, %d with 10,000", a, b)
	}
	begun := time.Now()
	lines := strings.Count(text(t, many, "/metrics/per-object"), "\n")
	if took := time.Since(begun); took > time.Minute || lines < 10_000*15 {
		t.Errorf("%d lines in %v", lines, took)
	}
	if lines := strings.Count(text(t, many, "/metrics/detailed?family=queue_coarse_metrics&vhost=/&queue=q17"), "\n"); lines > 30 {
		t.Errorf("%d lines for one queue", lines)
	}
	if few.asked != 1 {
		t.Errorf("one scrape asks %d times for the node's numbers", few.asked)
	}
}

// TestCountersOnlyGrow holds that everything which is said to be a counter is a total, and everything else is not: a total that is shown as
// a gauge can't be told from one that was reset.
func TestCountersOnlyGrow(t *testing.T) {
	for _, path := range paths {
		for _, match := range regexp.MustCompile(`(?m)^# TYPE ((?:rabbitmq|leveret)_\S+) (\S+)$`).FindAllStringSubmatch(text(t, distinct(), path), -1) {
			if name, kind := match[1], match[2]; strings.HasSuffix(name, "_total") != (kind == "counter") {
				t.Errorf("%s is a %s", name, kind)
			}
		}
	}
}

func TestProcessNumbers(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // they are read from /proc
	}
	body := text(t, distinct(), "/metrics")
	for name, least := range map[string]float64{
		"rabbitmq_process_open_fds":              3,
		"rabbitmq_process_max_fds":               64,
		"rabbitmq_process_resident_memory_bytes": 1 << 20,
		"rabbitmq_erlang_uptime_seconds":         1e-9,
		"go_goroutines":                          1,
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

// TestLint holds the answers to the rules of Prometheus, but for names that are RabbitMQ's.
func TestLint(t *testing.T) {
	theirs := []string{"rabbitmq_unreachable_cluster_peers_count"}
	for _, path := range paths {
		problems, err := promlint.New(strings.NewReader(text(t, distinct(), path))).Lint()
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, p := range problems {
			if !slices.Contains(theirs, p.Metric) {
				t.Errorf("%s: %s: %s", path, p.Metric, p.Text)
			}
		}
	}
}

// TestConcurrentScrapes has several scrapes at once over one handler; the race detector is the judge, and every answer is whole.
func TestConcurrentScrapes(t *testing.T) {
	n := distinct()
	handler := metrics.NewHandler(&locked{numbers: n}, identity)
	var scrapers sync.WaitGroup
	for i := range 4 {
		scrapers.Go(func() {
			for range 20 {
				recorder := httptest.NewRecorder()
				handler.ServeHTTP(recorder, httptest.NewRequest("GET", paths[i], nil))
				if recorder.Code != 200 || !strings.Contains(recorder.Body.String(), "rabbitmq_identity_info") {
					t.Errorf("%s: %d", paths[i], recorder.Code)
				}
			}
		})
	}
	scrapers.Wait()
}

// locked counts under a lock.
type locked struct {
	*numbers
	mu sync.Mutex
}

func (l *locked) Node() metrics.Node {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.numbers.Node()
}

// blocking is a source that does not answer before it may.
type blocking struct {
	*numbers
	entered, leave chan struct{}
}

func (b *blocking) Node() metrics.Node {
	b.entered <- struct{}{}
	<-b.leave
	return b.node
}

// TestScrapesAtOnce: too many scrapes at a time are refused, and later ones are answered again.
func TestScrapesAtOnce(t *testing.T) {
	source := &blocking{distinct(), make(chan struct{}), make(chan struct{})}
	handler := metrics.NewHandler(source, identity)
	get := func() int {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest("GET", "/metrics", nil))
		return recorder.Code
	}
	var scrapers sync.WaitGroup
	for range 8 {
		scrapers.Go(func() {
			if code := get(); code != 200 {
				t.Errorf("%d", code)
			}
		})
		<-source.entered
	}
	if code := get(); code != 503 {
		t.Errorf("the ninth at once is answered %d", code)
	}
	close(source.leave)
	scrapers.Wait()
	go func() { <-source.entered }()
	if code := get(); code != 200 {
		t.Errorf("after them: %d", code)
	}
}

func ExampleNewHandler() {
	n := &numbers{node: metrics.Node{ConnectionCount: 3}}
	recorder := httptest.NewRecorder()
	metrics.NewHandler(n, identity).ServeHTTP(recorder, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(recorder.Body.String()) {
		if strings.Contains(line, "rabbitmq_connections ") {
			fmt.Print(line)
		}
	}
	// Output:
	// # HELP rabbitmq_connections Open connections
	// # TYPE rabbitmq_connections gauge
	// rabbitmq_connections 3
}
