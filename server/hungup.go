package server

import "golang.org/x/sys/unix"

// hungUp reports whether the client has closed its end of the socket, which a reader that does not read would not notice. Under TLS it is
// not known.
func (s *socket) hungUp() bool {
	if s.raw == nil {
		return false
	}
	gone := false
	err := s.raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		gone = err == nil && info.State != tcpEstablished
	})
	return err != nil || gone
}

// tcpEstablished is the state, in Linux's numbers, of a connection whose both ends are open.
const tcpEstablished = 1
