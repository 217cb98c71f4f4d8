package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// visit opens a connection, and says nothing yet.
func visit(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// ask makes a request, and returns when the server knows that the connection waits for the next one.
func (c *crowd) ask(t *testing.T, conn net.Conn) {
	t.Helper()
	began := time.Now()
	conn.SetDeadline(began.Add(patience))
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	for !c.waitsSince(conn, began) {
		if time.Since(began) > patience {
			t.Fatal("the server does not see that the connection waits")
		}
		time.Sleep(time.Millisecond)
	}
}

// waitsSince reports whether the server knows that a client's connection began to wait after a time.
func (c *crowd) waitsSince(conn net.Conn, began time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for theirs, since := range c.open {
		if theirs.RemoteAddr().String() == conn.LocalAddr().String() {
			return since.After(began)
		}
	}
	return false
}

// ended waits until the other side has closed.
func ended(t *testing.T, conn net.Conn) {
	t.Helper()
	conn.SetReadDeadline(time.Now().Add(patience))
	if n, err := conn.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the connection is not closed: %d bytes, %v", n, err)
	}
}

// Who opens more connections than there may be closes the ones that wait the longest, and not those that are being answered.
func TestCrowd(t *testing.T) {
	n := testNode()
	n.crowd.limit = 3
	var w webServer
	begun, answered := make(chan struct{}), make(chan struct{})
	answer := sync.OnceFunc(func() { close(answered) })
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(begun)
			<-answered
		}
		io.WriteString(w, "page")
	})
	if err := w.listen(n, "127.0.0.1:0", nil, handler); err != nil {
		t.Fatal(err)
	}
	defer w.close(t.Context())
	defer answer() // before that, which waits for it
	address := w.addresses()[0]
	slow := make(chan string, 1)
	go func() { slow <- get(t, "http://"+address+"/slow") }()
	<-begun
	asked := func() net.Conn {
		conn := visit(t, address)
		n.crowd.ask(t, conn)
		return conn
	}
	first, second := asked(), asked()
	third := asked()
	ended(t, first)
	n.crowd.ask(t, second)
	fourth := visit(t, address) // not a word of a request: third has waited longer
	ended(t, third)
	n.crowd.ask(t, second)
	fifth := asked()
	ended(t, fourth)
	n.crowd.ask(t, fifth)
	answer()
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
