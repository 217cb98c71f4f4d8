package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// testNode is as much of a node as a web server needs.
func testNode() *node {
	return &node{log: quiet, failed: make(chan error, 1), crowd: crowd{limit: crowdLimit}}
}

func TestWebServerThatIsOff(t *testing.T) {
	var w webServer
	if err := w.listen(testNode(), "", nil, http.NotFoundHandler()); err != nil {
		t.Fatal(err)
	}
	if got := w.addresses(); got == nil || len(got) != 0 {
		t.Errorf("addresses %#v, want an empty list that JSON shows as one", got)
	}
	if err := w.close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestWebServerFinishesRequests(t *testing.T) {
	var w webServer
	begun, answer := make(chan struct{}), make(chan struct{})
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(begun)
		<-answer
		io.WriteString(w, "whole")
	})
	if err := w.listen(testNode(), "127.0.0.1:0", nil, handler); err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	go func() { got <- get(t, "http://"+w.addresses()[0]) }()
	<-begun
	closed := make(chan error, 1)
	go func() { closed <- w.close(t.Context()) }()
	close(answer)
	if body := <-got; body != "whole" {
		t.Errorf("body %q", body)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

func TestWebServerDoesNotWaitForEver(t *testing.T) {
	var w webServer
	begun := make(chan struct{})
	handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done() // as long as the client stays
	})
	if err := w.listen(testNode(), "127.0.0.1:0", nil, handler); err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", w.addresses()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-begun
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := w.close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// TestWebServerThatBreaksIsTold takes the listener away under the server.
func TestWebServerThatBreaksIsTold(t *testing.T) {
	var w webServer
	n := testNode()
	if err := w.listen(n, "127.0.0.1:0", nil, http.NotFoundHandler()); err != nil {
		t.Fatal(err)
	}
	w.listener.Close()
	select {
	case err := <-n.failed:
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v", err)
		}
	case <-time.After(patience):
		t.Error("nobody is told")
	}
	if err := w.close(t.Context()); err != nil {
		t.Error(err)
	}
}
