package management_test

import (
	"fmt"
	"io"
	"net/http"
	"syscall"
	"testing"
	"time"

	"leveret/amqp"
	"leveret/vhost"
)

// declare makes n queues.
func (r *rig) declare(n int) {
	v := r.server.VHost("/")
	for i := range n {
		if _, err := v.DeclareQueue(vhost.QueueDeclare{Name: fmt.Sprintf("queue.%05d", i)}, 0, vhost.Unrestricted{}); err != nil {
			r.t.Fatal(err)
		}
	}
}

// TestManyQueues: ten thousand queues are listed in seconds of computing, ours and the client's: a fraction of one, where the machine is quick. How long
// that takes is the machine's affair.
func TestManyQueues(t *testing.T) {
	const queues = 10_000
	r := start(t)
	r.declare(queues)
	begun := computed(t)
	list := r.get("/api/queues")
	took := computed(t) - begun
	if n := len(list.list(r)); n != queues {
		t.Errorf("%d queues are listed", n)
	}
	t.Logf("%d queues, %d bytes, in %v", queues, len(list.text), took)
	most := 10 * time.Second
	if raceDetector {
		most *= 5
	}
	if took > most {
		t.Errorf("%d queues take %v to list", queues, took)
	}
}

// TestManyConnections: so are five thousand connections.
func TestManyConnections(t *testing.T) {
	connections := 5_000
	if raceDetector {
		connections /= 10 // it makes everything ten times as long
	}
	r := start(t)
	r.connect(connections)
	begun := computed(t)
	list := r.get("/api/connections")
	took := computed(t) - begun
	if n := len(list.list(r)); n != connections {
		t.Errorf("%d connections are listed", n)
	}
	t.Logf("%d connections, %d bytes, in %v", connections, len(list.text), took)
	if took > 10*time.Second {
		t.Errorf("%d connections take %v to list", connections, took)
	}
}

// computed is how long the process has computed so far.
func computed(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkList lists 10,000 queues, and 5,000 connections with a channel each, whole and in the ways in which pages ask for them. Beside the time that
// passes stands the CPU time, the client's included, which others on the machine change less.
func BenchmarkList(b *testing.B) {
	r := start(b)
	r.declare(10_000)
	r.connect(5_000)
	for _, path := range []string{
		"/api/queues", "/api/queues?page=1", "/api/queues?sort=messages&page=1", "/api/queues?columns=name,messages",
		"/api/connections", "/api/connections?page=1", "/api/connections?sort=recv_oct&page=1", "/api/connections?columns=name,state",
		"/api/channels", "/api/channels?page=1",
	} {
		b.Run(path[len("/api/"):], func(b *testing.B) {
			b.ReportAllocs()
			begun := computed(b)
			for range b.N {
				r.fetch(path)
			}
			b.ReportMetric(float64((computed(b)-begun).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
}

// clientProperties are what libraries tell of themselves.
var clientProperties = amqp.Table{
	{Name: "product", Value: "a client library"}, {Name: "version", Value: "1.2.3"}, {Name: "platform", Value: "a language"},
	{Name: "information", Value: "https://example.org"}, {Name: "connection_name", Value: "worker"},
	{Name: "capabilities", Value: amqp.Table{
		{Name: "publisher_confirms", Value: true}, {Name: "basic.nack", Value: true}, {Name: "consumer_cancel_notify", Value: true},
		{Name: "connection.blocked", Value: true}, {Name: "authentication_failure_close", Value: true},
	}},
}

// connect makes n connections.
func (r *rig) connect(n int) {
	for range n {
		nc, err := r.server.Connect(false)
		if err != nil {
			r.t.Fatal(err)
		}
		r.clientOn(nc, clientProperties)
	}
}

func BenchmarkWhoami(b *testing.B) {
	r := start(b)
	b.ResetTimer()
	for range b.N {
		r.fetch("/api/whoami")
	}
}

// fetch reads an answer and forgets it.
func (r *rig) fetch(path string) {
	request, err := http.NewRequest(http.MethodGet, r.http.URL+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	request.SetBasicAuth("guest", "guest")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
		r.t.Fatal(response.Status, err)
	}
}
