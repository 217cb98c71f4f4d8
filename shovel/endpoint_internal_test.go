package shovel

import "testing"

// TestConnectNowhere: without any address there is an error and no connection, rather than neither.
func TestConnectNowhere(t *testing.T) {
	if e, err := connect(t.Context(), nil, nil, "s"); err == nil || e != nil {
		t.Fatalf("connected to nowhere: %v, %v", e, err)
	}
}
