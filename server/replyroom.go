package server

const (
	// replyLimit is how many bytes of replies, returns and confirms may wait before the connection is not read any more.
	replyLimit = 8 << 20
	// replyBudget is what all connections together may have of that: many that ask and do not read must not fill the memory. Each has the same share,
	replyBudget = 64 << 20
	// leastReplyRoom or more. Confirms by the thousand fit that.
	leastReplyRoom = 128 << 10
)

// manyConnections is from how many connections on each of them is kept small, at some cost.
const manyConnections = 200

// crowded reports whether there are many.
func (s *Server) crowded() bool { return s.replyRoom.Load() <= replyBudget/manyConnections }

// shareReplies says anew what each of so many connections may have waiting.
func (s *Server) shareReplies(connections int) {
	s.replyRoom.Store(int64(min(replyLimit, max(leastReplyRoom, replyBudget/max(1, connections)))))
}
