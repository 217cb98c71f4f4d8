package queue_test

import (
	"testing"

	"leveret/queue"
)

// A queue without levels has no counts of them, and one with levels none before its first message.
func TestReadyByPriorityWithoutMessages(t *testing.T) {
	if got := queue.New(queue.Options{Name: "q"}).ReadyByPriority(); got != nil {
		t.Errorf("without levels: %v", got)
	}
	if got := queue.New(queue.Options{Name: "q", MaxPriority: 5}).ReadyByPriority(); got == nil || len(got) != 0 {
		t.Errorf("with levels: %v", got)
	}
}
