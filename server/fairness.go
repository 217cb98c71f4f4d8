package server

import (
	"runtime"

	"leveret/amqp"
	"leveret/frame"
)

// Publishing, delivering and settling are what a broker is for, and cost little. All else can be made a burden: handshakes without end, tables of
// a hundred kilobytes, thousands of empty frames in one segment. Clients that do so share the slow lane, which has half of the processors, so that
// everybody else finds one that is free. Who sends a method now and then never gets there.

// slowLane has a place for each connection that may work on something burdensome at the same time.
type slowLane chan struct{}

// newSlowLane has room for half of the processors, and for one in any case.
func newSlowLane() slowLane { return make(slowLane, max(1, runtime.GOMAXPROCS(0)/2)) }

const (
	// lightWork is how many points of burden a connection may cause with one read before it has to go to the slow lane, and then with each
	// place that it gets there.
	lightWork = 64
	// bytesPerPoint is how many bytes of a method count as much as a frame does.
	bytesPerPoint = 128
	// largeBody is the size from which frames of bodies are no burden: they carry what they cost.
	largeBody = 512
)

// burden says how much a frame weighs.
func (c *connection) burden(f frame.Frame) int {
	switch {
	case c.state < stateRunning:
		return lightWork + 1
	case f.Type == frame.TypeBody && len(f.Payload) >= largeBody:
		return 0
	case f.Type == frame.TypeMethod && len(f.Payload) >= 4 && settles(f.MethodID()):
		return 0
	}
	return 1 + len(f.Payload)/bytesPerPoint
}

// settles tells the methods that answer deliveries: as many as there are of these may come at once.
func settles(id amqp.MethodID) bool {
	return id == amqp.MethodBasicAck || id == amqp.MethodBasicNack || id == amqp.MethodBasicReject
}

// takeTurn makes sure that the connection may work on a frame. It waits for a place in the slow lane if it has to.
func (c *connection) takeTurn(f frame.Frame) {
	c.work += c.burden(f)
	if c.work <= lightWork {
		return
	}
	c.leaveSlowLane()
	c.work = 0
	lane := c.server.slow
	select {
	case lane <- struct{}{}:
		c.slow = true
		return
	default:
	}
	c.handOver()
	c.out.Flush(true)
	select {
	case lane <- struct{}{}:
		c.slow = true
	case <-c.stop:
	}
}

// leaveSlowLane gives the place back. It is called before whatever may wait for somebody: the client, an alarm.
func (c *connection) leaveSlowLane() {
	if c.slow {
		c.slow = false
		<-c.server.slow
	}
}
