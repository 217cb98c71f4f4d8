package metrics_test

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"leveret/metrics"
)

func TestAnswers(t *testing.T) {
	tests := []struct {
		method, path string
		status       int
		body         string
	}{
		{"GET", "/metrics", 200, "# TYPE rabbitmq_connections gauge\n"},
		{"HEAD", "/metrics", 200, ""},
		{"GET", "/metrics/default", 200, "# TYPE rabbitmq_connections gauge\n"},
		{"GET", "/metrics/nonsense", 404, "Unknown Registry"},
		{"GET", "/metrics/", 404, "Unknown Registry"},
		{"GET", "/other", 404, `{"error":"Object Not Found","reason":"Not Found"}`},
	}
	for _, tt := range tests {
		recorder := httptest.NewRecorder()
		metrics.NewHandler(distinct(), identity).ServeHTTP(recorder, httptest.NewRequest(tt.method, tt.path, nil))
		if recorder.Code != tt.status || !strings.Contains(recorder.Body.String(), tt.body) {
			t.Errorf("%s %s: %d %.80q, want %d %q", tt.method, tt.path, recorder.Code, recorder.Body, tt.status, tt.body)
		}
	}
}

func TestEncodings(t *testing.T) {
	tests := []struct {
		accepted string
		packed   bool
	}{
		{"", false}, {"gzip", true}, {"deflate, GZIP;q=0.5", true}, {"gzip; q=0", false}, {"gzip;q=0.0", false}, {"*", true}, {"br", false},
	}
	for _, tt := range tests {
		r := scrape(distinct(), "/metrics", "Accept-Encoding", tt.accepted)
		body := io.Reader(r.Body)
		if packed := r.Header.Get("Content-Encoding") == "gzip"; packed != tt.packed {
			t.Errorf("%q: packed %v", tt.accepted, packed)
		} else if packed {
			unpacked, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Errorf("%q: %v", tt.accepted, err)
				continue
			}
			body = unpacked
		}
		if all, err := io.ReadAll(body); err != nil || !strings.Contains(string(all), "\nrabbitmq_queues ") {
			t.Errorf("%q: %v, %.80q", tt.accepted, err, all)
		}
	}
}

func TestFormats(t *testing.T) {
	for accepted, want := range map[string]string{
		"": "text/plain; version=0.0.4",
		"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited": "application/vnd.google.protobuf",
	} {
		if got := scrape(distinct(), "/metrics", "Accept", accepted).Header.Get("Content-Type"); !strings.HasPrefix(got, want) {
			t.Errorf("accepted %q: content type %q, want %q", accepted, got, want)
		}
	}
}

// deaf is a scraper that hangs up.
type deaf struct{ http.ResponseWriter }

func (deaf) Write([]byte) (int, error) { return 0, errors.New("hung up") }

// TestBrokenAnswers: one that can't be sent whole is cut off, so that nobody takes it for a whole one.
func TestBrokenAnswers(t *testing.T) {
	defer func() {
		if got := recover(); got != http.ErrAbortHandler {
			t.Errorf("ended with %v", got)
		}
	}()
	metrics.NewHandler(distinct(), identity).ServeHTTP(deaf{httptest.NewRecorder()}, httptest.NewRequest("GET", "/metrics", nil))
}

// family is what an answer or the list tells of one.
type family struct {
	kind   string
	labels []string
}

// families reads an answer.
func families(body string) map[string]family {
	found := map[string]family{}
	kinds := map[string]string{}
	sample := regexp.MustCompile(`^(\w+)(?:\{(.*)\})? `)
	for line := range strings.Lines(body) {
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(strings.TrimSpace(rest), " ")
			kinds[name] = kind
		} else if match := sample.FindStringSubmatch(line); match != nil {
			name := match[1]
			if kinds[name] == "" {
				name = regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
			}
			f := family{kind: kinds[name]}
			for _, label := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(match[2], -1) {
				if label[1] != "le" {
					f.labels = append(f.labels, label[1])
				}
			}
			slices.Sort(f.labels)
			found[name] = f
		}
	}
	return found
}

// TestRabbitMQNames compares with the list of RabbitMQ's metrics: what it has we serve under the same name and type and with the same labels,
// but for what is marked as missing; and what we serve under its prefix is in the list.
func TestRabbitMQNames(t *testing.T) {
	list, err := os.Open("testdata/rabbitmq.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	var endpoint string
	var got map[string]family
	listed := map[string]bool{}
	for lines := bufio.NewScanner(list); lines.Scan(); {
		line := lines.Text()
		if section, ok := strings.CutPrefix(line, "["); ok {
			endpoint = strings.TrimSuffix(section, "]")
			path, name, _ := strings.Cut(endpoint, " ")
			got = families(text(t, distinct(), strings.Replace("/metrics/"+path+"?family="+name, "aggregated", "default", 1)))
			continue
		}
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] == "#" {
			continue
		}
		name, missing := strings.CutPrefix(fields[0], "!")
		listed[name] = true
		f, served := got[name]
		served = served && f.kind == fields[1] && slices.Equal(f.labels, fields[2:])
		if served == missing {
			t.Errorf("%s: %s: served %v as %v, listed %v", endpoint, name, served, f, fields)
		}
	}
	for _, path := range paths {
		for name := range families(text(t, distinct(), path)) {
			if strings.HasPrefix(name, "rabbitmq_") && !listed[name] {
				t.Errorf("%s: %s is not RabbitMQ's", path, name)
			}
		}
	}
}
