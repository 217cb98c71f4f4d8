package management_test

import (
	"fmt"
	"io"
	"net/http"
	"syscall"
	"testing"
	"time"

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

// computed is how long the process has computed so far.
func computed(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkListQueues(b *testing.B) {
	for _, query := range []string{"", "?page=1", "?sort=messages&page=1", "?columns=name,messages"} {
		b.Run(query, func(b *testing.B) {
			r := start(b)
			r.declare(10_000)
			b.ResetTimer()
			for range b.N {
				r.fetch("/api/queues" + query)
			}
		})
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
