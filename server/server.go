package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"leveret/amqp"
	"leveret/auth"
	"leveret/events"
	"leveret/queue"
	"leveret/store"
	"leveret/vhost"
)

// Dependencies are what a server works with. It closes none of them.
type Dependencies struct {
	Store store.Store
	Users *auth.Authenticator
	Log   *slog.Logger
	// Events are told what happens, and given a listener that publishes them; nil for nobody.
	Events *events.Bus
	// LogLines has the lines of the log as events, which are published; nil if there is no exchange for them.
	LogLines *events.Bus
}

// Server accepts AMQP connections. Make one with New, bind its listeners with Listen, let clients in with Serve, end it with Close.
type Server struct {
	options Options
	store   store.Store
	users   *auth.Authenticator
	log     *slog.Logger
	events  *events.Bus
	memory  *memory
	budget  *queue.Budget // of what the queues keep in memory
	timings queue.Timings // of all queues
	replies replies

	ids         atomic.Uint64
	locals      atomic.Uint32 // connections of the broker to itself so far
	totals      totals
	perVHost    sync.Map // name -> *totals
	drops       drops
	confirmed   atomic.Uint64
	unconfirmed unconfirmed
	synced      signal // the log has become durable up to a later batch
	alarms      alarms
	slow        slowLane
	replyRoom   atomic.Int64 // see shareReplies
	half        halfRead
	stopping    atomic.Bool
	tuning      atomic.Pointer[Tuning]
	churn       vhost.Churn
	started     time.Time    // where the clock of deliveries begins
	warned      atomic.Int64 // when it was last warned of a delivery's timeout, by that clock
	vhosts      sync.Map     // name -> *vhost.VHost; those that clients may open
	registry    registry
	globals     globals
	admission   admission
	// onParameters are called when runtime parameters change; complete before Serve.
	onParameters []func()

	mu          sync.Mutex // guards what follows
	listeners   []listener
	connections map[uint64]*connection
	preparing   preparing
	running     int // connections that are open
	closing     bool
	emptied     chan struct{} // closed when the last connection is gone; nil when nobody waits for that
	suspended   []listener    // what is listened on again when the server goes on

	stop     chan struct{}
	stopOnce sync.Once
	readers  sync.WaitGroup // goroutines: accepting, reading, watching
	writers  sync.WaitGroup
}

// listener is one address that clients connect to.
type listener struct {
	net.Listener
	tls *tls.Config // nil: plain
}

// New makes a server with the virtual hosts that the store knows of; it returns when their queues can be used. A store that knows none gets
// the default one.
func New(o Options, d Dependencies) (*Server, error) {
	s := &Server{
		started: time.Now(), options: o, store: d.Store, users: d.Users, log: d.Log, events: d.Events,
		memory:      &memory{},
		budget:      queue.NewBudget(int64(o.MemoryLimit / budgetDivisor * budgetShare)),
		connections: make(map[uint64]*connection),
		preparing:   make(preparing),
		slow:        newSlowLane(),
		stop:        make(chan struct{}),
	}
	s.memory.limit.Store(o.MemoryLimit)
	s.tuning.Store(&Tuning{ChannelMax: o.ChannelMax, FrameMax: o.FrameMax, Heartbeat: o.Heartbeat})
	s.options.MaxMessageSize = min(o.MaxMessageSize, maxMessageCap)
	if err := s.loadGlobals(); err != nil {
		return nil, err
	}
	if err := s.loadVHosts(); err != nil {
		return nil, err
	}
	s.announce(d)
	s.users.OnDelete(s.userDeleted)
	s.shareReplies(0)
	s.store.OnDurable(s.confirmDurable)
	s.store.OnAlarm(s.diskAlarm)
	if s.store.Alarm() {
		s.diskAlarm(true)
	}
	return s, nil
}

// Listen binds all listeners; clients can connect but are not answered before Serve.
func (s *Server) Listen() error {
	for _, a := range s.options.Addresses {
		if err := s.listen(a, nil); err != nil {
			return err
		}
	}
	for _, a := range s.options.TLSAddresses {
		if err := s.listen(a, s.options.TLS); err != nil {
			return err
		}
	}
	return nil
}

// listen opens one address. When it fails, those that were opened before are closed again: a broker listens everywhere or nowhere.
func (s *Server) listen(address string, config *tls.Config) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		s.closeListeners()
		return fmt.Errorf("listen for AMQP: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = append(s.listeners, listener{l, config})
	return nil
}

// Addresses are where the server listens: plain, and with TLS.
func (s *Server) Addresses() (plain, secure []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.listeners {
		if l.tls != nil {
			secure = append(secure, l.Addr().String())
		} else {
			plain = append(plain, l.Addr().String())
		}
	}
	return plain, secure
}

// Serve starts to let clients in, and returns at once.
func (s *Server) Serve() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.listeners {
		s.readers.Go(func() { s.accept(l) })
	}
	s.readers.Go(func() { s.memory.watch(s.stop, s.memoryAlarm) })
	s.readers.Go(s.tend)
}

// acceptRetry is how long accepting pauses when the system has no more descriptors.
const acceptRetry = 50 * time.Millisecond

// accept takes connections until the listener is closed. Other errors, such as too many open files, pass: it tries again after a while.
func (s *Server) accept(l listener) {
	for {
		nc, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			s.log.Error("cannot accept a connection", "error", err)
			select {
			case <-s.stop:
				return
			case <-time.After(acceptRetry):
			}
			continue
		}
		if !s.begin(nc) {
			nc.Close()
			return
		}
		s.readers.Go(func() { s.welcome(nc, l) })
	}
}

// ServeConn lets a client in that comes over a connection which somebody else made: a WebSocket, a pipe. What its addresses say counts as the
// client's; if it has a method ConnectionState, as a [*tls.Conn] has, that counts too. It reports whether the server takes clients, and
// returns at once; the connection is closed when the client has gone.
func (s *Server) ServeConn(nc net.Conn) bool {
	c := s.newConnection(nc)
	if !s.add(c) {
		c.deadline.Stop()
		nc.Close()
		return false
	}
	go func() {
		defer s.readers.Done()
		c.serve()
		s.remove(c)
	}()
	return true
}

// add notes a connection, whose reader is awaited from then on, and reports whether the server takes clients.
func (s *Server) add(c *connection) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.connections[c.id] = c
	s.shareReplies(len(s.connections))
	s.readers.Add(1)
	return true
}

// remove forgets a connection that has ended. Whoever suspends the server waits for the last.
func (s *Server) remove(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.connections, c.id)
	s.shareReplies(len(s.connections))
	if len(s.connections) == 0 && s.emptied != nil {
		close(s.emptied)
		s.emptied = nil
	}
}

// noteRunning counts a connection whose handshake is done; before that it is nobody's.
func (s *Server) noteRunning() {
	s.totals.connectionsOpened.Add(1)
	s.mu.Lock()
	s.running++
	s.mu.Unlock()
}

// forgetRunning counts its end.
func (s *Server) forgetRunning() {
	s.totals.connectionsClosed.Add(1)
	s.mu.Lock()
	s.running--
	s.mu.Unlock()
}

// tendInterval is how often queues are asked to copy what they hold out of the publishers' chunks.
const tendInterval = time.Second

// budgetShare of budgetDivisor parts of the memory limit are what queues may keep in memory.
const (
	budgetShare   = 2
	budgetDivisor = 5
)

// tend looks after the queues in the background.
func (s *Server) tend() {
	tick := time.NewTicker(tendInterval)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case now := <-tick.C:
			s.drops.tell(s.log, s.totals.read(), now)
			s.budget.Adjust()
			s.endStalled(now)
			for _, v := range s.VHosts() {
				v.Queues(func(q *queue.Queue) bool {
					q.Tend()
					return true
				})
				v.Recount()
			}
		}
	}
}

// Close ends the server: nobody is let in any more, clients are told (320), and when they have gone, or ctx ends, all sockets are closed. It returns when
// every goroutine has ended and the store has all that a restart needs.
func (s *Server) Close(ctx context.Context) error {
	s.stopping.Store(true)
	s.closeListeners()
	for _, c := range s.snapshot() {
		c.kill(amqp.NodeStopping())
	}
	gone := make(chan struct{})
	s.stopOnce.Do(func() { close(s.stop) })
	go func() {
		s.readers.Wait()
		s.writers.Wait()
		close(gone)
	}()
	var err error
	select {
	case <-gone:
	case <-ctx.Done():
		err = ctx.Err()
		for _, c := range s.snapshot() {
			c.out.Conn.Close()
		}
		<-gone
	}
	s.vhosts.Range(func(_, v any) bool {
		err = errors.Join(err, v.(*vhost.VHost).Close())
		return true
	})
	return err
}

// closeListeners lets nobody in any more, those neither who are in the middle of a TLS handshake.
func (s *Server) closeListeners() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeListenersLocked()
}

func (s *Server) closeListenersLocked() {
	s.closing = true
	for _, l := range s.listeners {
		l.Close()
	}
	for nc := range s.preparing {
		nc.Close()
	}
}

// snapshot is the connections of this moment: whoever goes through them must not hold the lock meanwhile.
func (s *Server) snapshot() []*connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*connection, 0, len(s.connections))
	for _, c := range s.connections {
		list = append(list, c)
	}
	return list
}
