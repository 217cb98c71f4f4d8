package vhost_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
)

// flows writes down what is counted.
func (h *host) flows() []string {
	var list []string
	for _, f := range h.Flows() {
		list = append(list, fmt.Sprintf("%s > %s: %d", f.Exchange.Name(), f.Queue.Name(), f.Messages()))
	}
	slices.Sort(list)
	return list
}

// TestFlows: a flow is the same for all who ask, and goes with its exchange or its queue.
func TestFlows(t *testing.T) {
	h := newHost(t)
	a, b := h.queue("a"), h.queue("b")
	h.exchange("direct", "x")
	x := h.Exchange([]byte("x"))
	var publishers sync.WaitGroup
	for range 4 {
		publishers.Go(func() {
			f := h.Flow(x, a)
			for range 100 {
				f.Add(2)
			}
		})
	}
	publishers.Wait()
	h.Flow(h.Exchange(nil), b).Add(1)
	equal(t, "flows", h.flows(), []string{" > b: 1", "x > a: 800"})
	h.delete("b")
	equal(t, "flows without a queue", h.flows(), []string{"x > a: 800"})
	h.deleteX("x")
	h.exchange("direct", "x")
	if h.Has(x) {
		t.Error("the exchange is there, and another one has its name")
	}
	equal(t, "flows of an exchange of the same name", h.flows(), nil)
}

// TestFlowsOfManyQueues: a virtual host does not keep flows that have ended, and keeps all others.
func TestFlowsOfManyQueues(t *testing.T) {
	h := newHost(t)
	standard := h.Exchange(nil)
	const queues, every = 1000, 10
	for i := range queues {
		name := fmt.Sprint("q", i)
		h.Flow(standard, h.queue(name)).Add(1)
		if i%every != 0 {
			h.delete(name)
		}
	}
	const there = queues / every
	if got := len(h.flows()); got != there {
		t.Errorf("%d flows, want %d", got, there)
	}
	if kept := h.KeptFlows(); kept > 2*there+1 {
		t.Errorf("%d flows are kept of %d", kept, there)
	}
}
