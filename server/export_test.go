package server

import (
	"bytes"
	"net"
	"time"
)

// The limits that tests measure against.
const (
	DeliveryLimit = deliveryLimit
	ReplyLimit    = replyLimit
	ReplyBudget   = replyBudget
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

// Preparing is how many sockets have not got as far as AMQP.
func (s *Server) Preparing() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.preparing)
}

// ConnectionNames are the names of all connections.
func (s *Server) ConnectionNames() (names []string) {
	for _, c := range s.snapshot() {
		names = append(names, c.name)
	}
	return names
}

// TLSStatuses are those of all connections that have TLS.
func (s *Server) TLSStatuses() (all []TLSStatus) {
	for _, c := range s.snapshot() {
		if st := c.tlsStatus(); st != nil {
			all = append(all, *st)
		}
	}
	return all
}

// CipherParts takes the name of a cipher suite apart.
func CipherParts(suite string) (exchange, cipher, hash string) { return cipherParts(suite) }

// ReadProxyHeader takes a PROXY protocol header off what a proxy sent.
func ReadProxyHeader(sent []byte) (remote net.Addr, early []byte, err error) {
	remote, _, early, err = readProxyHeader(bytes.NewReader(sent))
	return remote, early, err
}

// EndStalled ends who holds room for a half-read message in vain. It is called by hand on a server that does not serve.
func (s *Server) EndStalled(now time.Time) { s.endStalled(now) }

// RoomTaken is how many bytes half-read messages have room for.
func (s *Server) RoomTaken() int64 {
	s.half.mu.Lock()
	defer s.half.mu.Unlock()
	return s.half.taken
}

// CountedQueues is for how many queues the channels of all connections count.
func (s *Server) CountedQueues() (n int) {
	for _, c := range s.snapshot() {
		c.out.mu.Lock()
		for _, ch := range c.out.channels {
			n += len(ch.delivered.by)
		}
		c.out.mu.Unlock()
	}
	return n
}

// CountedInflows is for how many pairs of an exchange and a queue the channels of all connections count.
func (s *Server) CountedInflows() (n int) {
	for _, c := range s.snapshot() {
		c.out.mu.Lock()
		for _, ch := range c.out.channels {
			for _, of := range ch.sources.by.values {
				n += len(of.inflows.values)
			}
		}
		c.out.mu.Unlock()
	}
	return n
}

// MaxInflows is maxInflows.
const MaxInflows = maxInflows
