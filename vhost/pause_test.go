package vhost_test

import (
	"testing"

	"leveret/store"
)

// A durable queue that is paused stays so over a restart, until it is resumed or deleted; its namesake is not.
func TestPauseLasts(t *testing.T) {
	h := newHost(t)
	paused := func(name string) bool { return h.find(name).Stats().Paused }
	records := func() (count int) {
		h.must(h.disk.Load("paused queues of /", func(string, []byte) error { count++; return nil }))
		return count
	}
	for _, name := range []string{"a", "b", "c"} {
		h.must(h.PauseQueue(h.queue(name), true))
	}
	h.queue("other")
	h.must(h.PauseQueue(h.queue("short", transient), true))
	if !paused("short") || records() != 3 {
		t.Errorf("the transient one is paused: %v; there are %d records", paused("short"), records())
	}
	h = h.restart()
	if !paused("a") || !paused("b") || paused("other") {
		t.Error("after a restart others are paused than before")
	}
	h.must(h.PauseQueue(h.find("a"), false))
	h.delete("b")
	h.queue("b")
	if paused("a") || paused("b") || !paused("c") || records() != 1 {
		t.Errorf("there are %d records", records())
	}
	h.must(h.disk.Commit(store.Change{Bucket: "paused queues of /", Key: "no queue", Value: []byte{1}}))
	h = h.restart()
	if paused("a") || paused("b") || !paused("c") || records() != 1 {
		t.Errorf("after another restart there are %d records", records())
	}
	if err := h.PauseQueue(h.find("c"), true); err != nil || records() != 1 {
		t.Errorf("paused again: %v, %d records", err, records())
	}
}
