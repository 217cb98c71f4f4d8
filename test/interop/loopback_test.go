package interop

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leveret/amqp"
	"leveret/frame"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// The user guest may log in from this machine only. Proxies on it, which say whom they speak for, make clients from elsewhere for this test.
func TestGuestFromElsewhere(t *testing.T) {
	t.Parallel()
	settings := filepath.Join(t.TempDir(), "proxy.conf")
	if err := os.WriteFile(settings, []byte("proxy_protocol = true\nproxy_protocol_trusted.1 = 127.0.0.1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := ownBroker(t, "--config", settings, "--http-addr", "127.0.0.1:0")
	if status, _ := b.fetch(t, http.MethodPut, "/users/app", `{"password":"secret","tags":"management"}`); status != http.StatusCreated {
		t.Fatalf("the user can't be made: %d", status)
	}
	b.fetch(t, http.MethodPut, "/permissions/%2F/app", `{"configure":".*","write":".*","read":".*"}`)
	const here, elsewhere = "127.0.0.1", "203.0.113.7"
	for _, tt := range []struct {
		user, password, from string
		in                   bool
	}{
		{"guest", "guest", here, true}, {"guest", "guest", elsewhere, false}, {"app", "secret", elsewhere, true},
	} {
		conn, err := amqp091.DialConfig("amqp://"+tt.user+":"+tt.password+"@"+b.addr+"/%2F", amqp091.Config{Dial: proxied(tt.from)})
		if (err == nil) != tt.in {
			t.Errorf("AMQP, %s from %s: %v", tt.user, tt.from, err)
		}
		if err == nil {
			conn.Close()
		}
		request := must(http.NewRequest(http.MethodGet, "http://"+b.http+"/api/whoami", nil))
		request.SetBasicAuth(tt.user, tt.password)
		request.Header.Set("X-Forwarded-For", tt.from)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if (answer.StatusCode == http.StatusOK) != tt.in {
			t.Errorf("HTTP, %s from %s: %s", tt.user, tt.from, answer.Status)
		}
	}
	if log := string(b.log()); !strings.Contains(log, `user \"guest\" can only connect via localhost`) {
		t.Errorf("the log does not say why guest was refused:\n%s", log)
	}
}

// proxied dials through a proxy that says who its client is.
func proxied(client string) func(network, addr string) (net.Conn, error) {
	return func(network, addr string) (net.Conn, error) {
		conn, err := net.DialTimeout(network, addr, patience)
		if err != nil {
			return nil, err
		}
		_, err = fmt.Fprintf(conn, "PROXY TCP4 %s 127.0.0.1 5000 5672\r\n", client)
		return conn, err
	}
}

// A client that the memory alarm holds, and that sends heartbeats, keeps its connection however long the alarm lasts, and is sent heartbeats too. When
// it is silent all the same, it does so: the broker does not read from it.
func TestHeartbeatsWhileBlocked(t *testing.T) {
	t.Parallel()
	b := ownBroker(t, "--http-addr", "127.0.0.1:0")
	conn, err := amqp091.DialConfig(b.url(), amqp091.Config{Heartbeat: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	s := (&session{t: t, conn: conn}).channel()
	blocked, closed := conn.NotifyBlocked(make(chan amqp091.Blocking, 10)), conn.NotifyClose(make(chan *amqp091.Error, 1))
	s.ok(s.ch.Confirm(false))
	raw := b.rawClient(t, 3) // sends no heartbeats
	b.fetch(t, http.MethodPut, "/leveret/alarms/memory", "")
	confirm, err := s.ch.PublishWithDeferredConfirm("", "nowhere", false, false, amqp091.Publishing{Body: []byte("m")})
	s.ok(err)
	if state := receive(t, blocked, "connection.blocked"); !state.Active {
		t.Fatalf("told %+v", state)
	}
	raw.publish(t)
	beats := raw.heartbeats(t, 18*time.Second) // thrice what a silent client is given
	if beats < 6 {
		t.Errorf("%d heartbeats in 18 s, at an interval of 3 s", beats)
	}
	select {
	case e := <-closed:
		t.Fatalf("the held connection ends: %v", e)
	default:
	}
	b.fetch(t, http.MethodDelete, "/leveret/alarms/memory", "")
	if state := receive(t, blocked, "connection.unblocked"); state.Active {
		t.Errorf("told %+v", state)
	}
	if !confirm.Wait() {
		t.Error("what was held is not confirmed")
	}
}

// rawClient is a connection that does what it is told and nothing by itself.
type rawClient struct {
	net.Conn
	frames *frame.Reader
}

// rawClient opens one with that heartbeat, and channel 1.
func (b *broker) rawClient(t *testing.T, heartbeat uint16) *rawClient {
	t.Helper()
	conn, err := net.Dial("tcp", b.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	octets := []byte("AMQP\x00\x00\x09\x01")
	for channel, methods := range [][]amqp.Method{
		{&amqp.ConnectionStartOk{Mechanism: "PLAIN", Response: []byte("\x00guest\x00guest"), Locale: "en_US"},
			&amqp.ConnectionTuneOk{ChannelMax: 1, FrameMax: 131072, Heartbeat: heartbeat}, &amqp.ConnectionOpen{VirtualHost: "/"}},
		{&amqp.ChannelOpen{}},
	} {
		for _, m := range methods {
			octets = frame.AppendMethod(octets, uint16(channel), m)
		}
	}
	if _, err := conn.Write(octets); err != nil {
		t.Fatal(err)
	}
	c := &rawClient{conn, frame.NewReader(bufio.NewReader(conn), 0)}
	for range 4 {
		if _, err := c.frames.Next(); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// publish sends one empty message.
func (c *rawClient) publish(t *testing.T) {
	t.Helper()
	octets := frame.AppendMethod(nil, 1, &amqp.BasicPublish{RoutingKey: []byte("nowhere")})
	octets = frame.AppendContentHeader(octets, 1, amqp.ClassBasic, 0, []byte{0, 0})
	if _, err := c.Write(octets); err != nil {
		t.Fatal(err)
	}
}

// heartbeats counts those that come within a time, in which the connection must not end.
func (c *rawClient) heartbeats(t *testing.T, within time.Duration) (beats int) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(within))
	for {
		f, err := c.frames.Next()
		if e, timeout := err.(net.Error); timeout && e.Timeout() {
			return beats
		}
		if err != nil {
			t.Fatalf("the connection ends: %v", err)
		}
		if f.Type != frame.TypeHeartbeat {
			t.Fatalf("got %s", frame.Dump(f))
		}
		beats++
	}
}
