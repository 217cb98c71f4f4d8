package server

// The limits that tests measure against.
const (
	DeliveryLimit = deliveryLimit
	ReplyLimit    = replyLimit
)

// Waiting is what waits in the outboxes of all connections, in bytes: everything, and of it the deliveries to consumers.
func (s *Server) Waiting() (all, deliveries int) {
	for _, c := range s.snapshot() {
		c.out.mu.Lock()
		all += c.out.out.size + c.out.onTheWay
		deliveries += c.out.deliveries
		c.out.mu.Unlock()
	}
	return all, deliveries
}

// Refused is how many consumers of all connections wait for room, of their channel or their outbox.
func (s *Server) Refused() (n int) {
	for _, c := range s.snapshot() {
		c.out.mu.Lock()
		n += len(c.out.waiters)
		for _, ch := range c.channels {
			n += len(ch.refused)
		}
		c.out.mu.Unlock()
	}
	return n
}

// HoldAlarm raises or ends the memory alarm, whatever the memory. It lasts on a server that does not serve: nobody watches the memory there.
func (s *Server) HoldAlarm(on bool) { s.memory.set(on, s.memoryAlarm) }

// Whole is what the short way of a publish found in the input.
type Whole struct {
	Address, Properties, Body []byte
	Mandatory                 bool
}

// CutPublish is the short way of a publish.
func CutPublish(in []byte, channel uint16, frameMax uint32) (Whole, int) {
	w, n := cutPublish(in, channel, frameMax)
	return Whole{w.address, w.properties, w.body, w.mandatory}, n
}
