package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// ask returns the status and the body of a GET by guest.
func (r *running) ask(t *testing.T, path string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, "http://"+r.HTTP[0]+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth("guest", "guest")
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// TestAPIOfARunningBroker: what the commands tell the API of themselves arrives there.
func TestAPIOfARunningBroker(t *testing.T) {
	r := startBroker(t, "--config", file(t, "test.conf", "heartbeat = 17\ndefault_pass = guest\n"))
	status, settings := r.ask(t, "/api/config/effective")
	if status != http.StatusOK || !strings.Contains(settings, "\nheartbeat = 17\n") {
		t.Errorf("the settings in force are %d %s", status, settings)
	}
	if strings.Contains(settings, "default_pass = guest") {
		t.Error("a password is shown")
	}
	_, text := r.ask(t, "/api/overview?columns=listeners,product_version")
	var overview struct {
		Listeners []struct {
			Protocol string
			Port     int
		}
	}
	if err := json.Unmarshal([]byte(text), &overview); err != nil {
		t.Fatal(err)
	}
	var protocols []string
	for _, l := range overview.Listeners {
		protocols = append(protocols, l.Protocol)
		if l.Port == 0 {
			t.Errorf("%s has no port", l.Protocol)
		}
	}
	if got := strings.Join(protocols, " "); got != "amqp http http/prometheus" {
		t.Errorf("the listeners are %s", got)
	}
}
