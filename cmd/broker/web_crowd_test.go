package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// asked opens a connection and makes a request on it, unless it is to be silent.
func asked(t *testing.T, address string, silent bool) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if !silent {
		ask(t, conn)
	}
	return conn
}

func ask(t *testing.T, conn net.Conn) {
	t.Helper()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
}

// ended waits until the other side has closed.
func ended(t *testing.T, conn net.Conn) {
	t.Helper()
	conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	if n, err := conn.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the connection is not closed: %d bytes, %v", n, err)
	}
}

// Who opens more connections than there may be closes the ones that wait the longest, and not those that are being answered.
func TestCrowd(t *testing.T) {
	n := testNode()
	n.crowd.limit = 3
	var w webServer
	begun, answer := make(chan struct{}), make(chan struct{})
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(begun)
			<-answer
		}
		io.WriteString(w, "page")
	})
	if err := w.listen(n, "127.0.0.1:0", nil, handler); err != nil {
		t.Fatal(err)
	}
	defer w.close(t.Context())
	address := w.addresses()[0]
	slow := make(chan string, 1)
	go func() { slow <- get(t, "http://"+address+"/slow") }()
	<-begun
	first, second := asked(t, address, false), asked(t, address, false)
	third := asked(t, address, false)
	ended(t, first)
	ask(t, second)
	fourth := asked(t, address, true) // not a word of a request: third has waited longer
	ended(t, third)
	ask(t, second)
	fifth := asked(t, address, false)
	ended(t, fourth)
	ask(t, fifth)
	close(answer)
	if got := <-slow; got != "page" {
		t.Errorf("what was being answered got %q", got)
	}
}

func TestCrowdForgetsWhoIsGone(t *testing.T) {
	c := crowd{limit: 1}
	conns := make([]net.Conn, 10)
	for i := range conns {
		conns[i], _ = net.Pipe()
		if evicted := c.note(conns[i], http.StateNew); evicted != nil {
			t.Fatalf("%d: one had to go", i)
		}
		c.note(conns[i], []http.ConnState{http.StateClosed, http.StateHijacked}[i%2])
	}
	if len(c.open) != 0 {
		t.Errorf("%d are remembered", len(c.open))
	}
}
