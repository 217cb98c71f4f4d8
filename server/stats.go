package server

import "leveret/queue"

// Stats are a server's figures of one moment, and its counters since it was made.
type Stats struct {
	Counters
	Connections int // open ones
	Channels    int
	Queues      int
	Exchanges   int

	QueuesDeclared, QueuesCreated, QueuesDeleted uint64

	Blocked     int // connections held back by an alarm
	MemoryAlarm bool
	DiskAlarm   bool
	Memory      uint64 // bytes in use
	Contents    queue.Stats
}

// Timings returns how long the messages of all queues have waited and taken since the server was made. Any goroutine may call it.
func (s *Server) Timings() (wait, processing queue.Histogram) {
	return s.timings.Wait.Histogram(), s.timings.Processing.Histogram()
}

// Stats returns the server's figures. It asks no queue and no connection, and may be called from any goroutine.
func (s *Server) Stats() Stats {
	st := Stats{Counters: s.totals.read()}
	st.MemoryAlarm, st.DiskAlarm = s.Alarms()
	st.QueuesDeclared, st.QueuesCreated, st.QueuesDeleted = s.churn.Declared(), s.churn.Created(), s.churn.Deleted()
	st.Confirmed = s.confirmed.Load()
	st.Memory = s.memory.used.Load()
	st.Channels = int(st.ChannelsOpened - st.ChannelsClosed)
	s.mu.Lock()
	st.Connections = s.running
	for _, c := range s.connections {
		if c.blocked.Load() {
			st.Blocked++
		}
	}
	s.mu.Unlock()
	totals, going := s.registry.retired.read()
	st.Contents.Totals.Add(&totals)
	for _, v := range append(s.VHosts(), going...) {
		st.Exchanges += v.Counts().Exchanges
		v.Queues(func(q *queue.Queue) bool {
			st.Queues++
			st.Contents.Add(q.Stats())
			return true
		})
		retired := v.Retired() // last, so that the totals of a queue that closes meanwhile are not missed
		st.Contents.Totals.Add(&retired)
	}
	return st
}
