package interop

import (
	"bufio"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// gauge asks the broker for a metric without labels.
func (b *broker) gauge(name string) (int, error) {
	response, err := http.Get("http://" + b.metrics + "/metrics")
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			number, err := strconv.ParseFloat(value, 64)
			return int(number), err
		}
	}
	return 0, fmt.Errorf("there is no metric %s", name)
}

// awaitGauge waits until a metric has that value. The metrics of a foreign broker are not known.
func (b *broker) awaitGauge(t *testing.T, name string, want int) {
	t.Helper()
	b.awaitMetric(t, name, func(got int) error {
		if got != want {
			return fmt.Errorf("%s is %d, want %d", name, got, want)
		}
		return nil
	})
}

// awaitAtLeast waits until a metric has that value, or a larger one.
func (b *broker) awaitAtLeast(t *testing.T, name string, want int) {
	t.Helper()
	b.awaitMetric(t, name, func(got int) error {
		if got < want {
			return fmt.Errorf("%s is %d, want %d or more", name, got, want)
		}
		return nil
	})
}

func (b *broker) awaitMetric(t *testing.T, name string, is func(int) error) {
	t.Helper()
	if b.cmd == nil {
		return
	}
	poll(t, func() error {
		got, err := b.gauge(name)
		if err != nil {
			return err
		}
		return is(got)
	})
}

// leftovers tells what is still there when all tests have cleaned up: nothing may be, but the few goroutines of an idle broker.
func (b *broker) leftovers() error {
	if b.cmd == nil {
		return nil
	}
	limits := map[string]int{"rabbitmq_connections": 0, "rabbitmq_channels": 0, "rabbitmq_consumers": 0, "rabbitmq_queues": 0, "go_goroutines": 50}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); ; <-tick.C {
		err := b.within(limits)
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// within returns an error for the first metric that is over its limit.
func (b *broker) within(limits map[string]int) error {
	for name, limit := range limits {
		if got, err := b.gauge(name); err != nil || got > limit {
			return fmt.Errorf("after all tests %s is %d, want at most %d (%v)", name, got, limit, err)
		}
	}
	return nil
}
