package server

import (
	"testing"

	"leveret/amqp"
	"leveret/frame"
	"leveret/store"
	"leveret/vhost"
)

// leads counts how often it was asked to commit on the caller's goroutine.
type leads struct {
	store.Store
	n int
}

func (s *leads) Lead() { s.n++ }

// A reader takes what it was sent to the disk by itself if somebody seems to wait for that alone.
func TestWhoCommits(t *testing.T) {
	one := []int{10}
	for _, c := range []struct {
		name      string
		sizes     []int // of the messages that come together
		confirms  bool
		mode      byte
		half      bool // another publish has begun to arrive
		wantsLead bool
	}{
		{"one message to be confirmed", one, true, 2, false, true},
		{"nobody waits", one, false, 2, false, false},
		{"nothing for the disk", one, true, 1, false, false},
		{"several", []int{10, 10}, true, 2, false, false},
		{"more is on the way", one, true, 2, true, false},
		{"a large one", []int{leadBytes}, true, 2, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := hotPath(t)
			if _, err := conn.vhost.DeclareQueue(vhost.QueueDeclare{Name: "q", Durable: true}, 0, conn.rights); err != nil {
				t.Fatal(err)
			}
			s := &leads{Store: conn.server.store}
			conn.server.store = s
			conn.last.confirming = c.confirms
			var in []byte
			for _, size := range c.sizes {
				in = frame.AppendMethod(in, 1, &amqp.BasicPublish{RoutingKey: []byte("q")})
				in = frame.AppendContentHeader(in, 1, amqp.ClassBasic, uint64(size), []byte{0x10, 0, c.mode})
				in = frame.AppendBody(in, 1, make([]byte, size), 131072)
			}
			if c.half {
				in = append(in, frame.TypeMethod)
			}
			conn.in.buf, conn.in.from, conn.in.to = in, 0, len(in)
			conn.handleInput()
			conn.handOver()
			if got := s.n == 1; got != c.wantsLead {
				t.Fatalf("the reader was to commit %d times", s.n)
			}
		})
	}
}
