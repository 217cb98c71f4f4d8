package metrics_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// served are the names of all families of all endpoints.
func served(t *testing.T) map[string]bool {
	names := map[string]bool{}
	for _, path := range paths {
		for name := range families(text(t, distinct(), path)) {
			names[name] = true
		}
	}
	return names
}

// TestOverviewDashboard: what RabbitMQ's own dashboard asks for is there.
func TestOverviewDashboard(t *testing.T) {
	list, err := os.ReadFile("testdata/overview.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := served(t)
	for line := range strings.Lines(string(list)) {
		if name := strings.TrimSpace(line); !strings.HasPrefix(name, "#") && !names[name] {
			t.Errorf("%s is missing", name)
		}
	}
}

// histogramSuffix is what a histogram's series have behind its name.
var histogramSuffix = regexp.MustCompile(`_(bucket|sum|count)$`)

// TestDashboardPanels: no two panels have the same number or stand in the same place, and none is empty.
func TestDashboardPanels(t *testing.T) {
	files, err := filepath.Glob("../deploy/grafana/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var dashboard struct {
			Panels []struct {
				ID      int
				Type    string
				Title   string
				GridPos struct{ X, Y, W, H int }
				Targets []struct{ Expr string }
			}
		}
		if err := json.Unmarshal(content, &dashboard); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		ids, taken := map[int]bool{}, map[[2]int]string{}
		for _, p := range dashboard.Panels {
			if ids[p.ID] || p.ID == 0 {
				t.Errorf("%s: panel %q has number %d, which is another's", file, p.Title, p.ID)
			}
			ids[p.ID] = true
			if p.Type != "row" && len(p.Targets) == 0 {
				t.Errorf("%s: panel %q shows nothing", file, p.Title)
			}
			for x := range p.GridPos.W {
				for y := range p.GridPos.H {
					at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
					if other, found := taken[at]; found {
						t.Fatalf("%s: panels %q and %q overlap", file, other, p.Title)
					}
					taken[at] = p.Title
				}
			}
		}
	}
}

// TestDeployed: every metric that the dashboards, rules and examples in deploy name exists.
func TestDeployed(t *testing.T) {
	names := served(t)
	metric := regexp.MustCompile(`\b(?:rabbitmq|leveret)_[a-z0-9_]+\b`)
	for _, pattern := range []string{"../deploy/prometheus/*.yml", "../deploy/grafana/*.json"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found := 0
			for _, expression := range expressions(t, file, content) {
				for _, name := range metric.FindAllString(expression, -1) {
					found++
					if !names[name] && !names[histogramSuffix.ReplaceAllString(name, "")] {
						t.Errorf("%s: there is no metric %s", file, name)
					}
				}
			}
			if found == 0 && !strings.HasSuffix(file, "prometheus.yml") {
				t.Errorf("%s names no metric", file)
			}
		}
	}
}

// expressions are what a file asks Prometheus for.
func expressions(t *testing.T, file string, content []byte) (all []string) {
	if strings.HasSuffix(file, ".yml") {
		for _, match := range regexp.MustCompile(`(?m)^\s*expr: (.*)$`).FindAllSubmatch(content, -1) {
			all = append(all, string(match[1]))
		}
		return all
	}
	var dashboard struct {
		Panels     []struct{ Targets []struct{ Expr string } }
		Templating struct {
			List []struct{ Query any }
		}
	}
	if err := json.Unmarshal(content, &dashboard); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			all = append(all, target.Expr)
		}
	}
	for _, v := range dashboard.Templating.List {
		query, err := json.Marshal(v.Query)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(query))
	}
	return all
}

// TestExampleAsksForFamilies: the families in the scrape example are ones that exist.
func TestExampleAsksForFamilies(t *testing.T) {
	content, err := os.ReadFile("../deploy/prometheus/prometheus.yml")
	if err != nil {
		t.Fatal(err)
	}
	match := regexp.MustCompile(`family: \[(.*)\]`).FindSubmatch(content)
	if match == nil {
		t.Fatal("no families")
	}
	for family := range strings.SplitSeq(string(match[1]), ", ") {
		if body := text(t, distinct(), "/metrics/detailed?family="+family); !strings.Contains(body, "_detailed_queue_") {
			t.Errorf("%s has nothing of queues", family)
		}
	}
}
