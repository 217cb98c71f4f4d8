package queue

import (
	"sync"
	"sync/atomic"

	"leveret/amqp"
	"leveret/dedup"
)

// Options is what a queue was declared with. It does not change in the queue's life.
type Options struct {
	Name, VHost          string
	ID                   uint64 // the queue's number in the store, never reused
	Owner                uint64 // the connection that an exclusive queue belongs to, else 0
	Durable              bool
	Exclusive            bool
	AutoDelete           bool
	SingleActiveConsumer bool
	Arguments            amqp.Table
	Ledger               *Ledger  // where the queue leaves its totals when it closes; may be nil
	Timings              *Timings // where it adds its durations; nil for none
	Log                  Log      // what keeps the persistent messages of a durable queue, and those that are too many for the memory; nil for none
	Budget               *Budget  // that the queue shares with others; nil for none

	Quorum        bool // it goes by the rules of quorum queues: what comes back is served first, priorities without being asked for
	MaxPriority   int  // priorities are 0 to this; 0 for a queue that was declared without
	FairBy        Keying
	GroupBy       Keying
	Deduplication Deduplication
	Window        *dedup.Window // of the keys of its messages, if it looks for duplicates
	Delayed       bool          // its messages are delayed ones, which wait for an exchange: no client may use it
	Settings      Settings      // those it begins with; the zero value stands for DefaultSettings

	Forwarder Forwarder // where messages go that leave this queue for others; nil: none do
	// Overrun is called in the queue's turn when it has dropped messages that could not go where they were to go, for there were too many of them and
	// the store does not have them. It must not wait. Nil: nobody is told.
	Overrun func(q *Queue, messages int)
	Expired func(*Queue) // called, on a goroutine of its own, when the queue has closed itself because nobody used it
}

// Counts is what a queue holds at one moment.
type Counts struct {
	Ready     int // waiting for a consumer
	Unacked   int // delivered, not settled
	Consumers int
}

// Queue is one queue. Its exported methods may be called from any goroutine.
type Queue struct {
	opts           Options
	mailbox        mailbox
	lifetime       atomic.Uint64
	settings       atomic.Pointer[Settings]
	ownDeadLetters atomic.Bool  // there are, or were, messages that say themselves where they go when they die
	untended       atomic.Bool  // messages came since the last Tend
	obeyed         atomic.Int32 // the budget's shift that the windows obey
	stats          stats
	logging        bool           // persistent messages are in the log
	keepsAll       bool           // transient ones too
	tagger         tagger         // of a queue whose order depends on more than the place, else nil
	reads          sync.WaitGroup // goroutines that read or write for the queue

	// Owned by whoever runs the queue.
	window     Window[entry]
	unacked    int
	consumers  consumers
	closed     bool
	touched    []Outbox // that this turn has to flush
	turns      uint64
	budget     int  // messages that may still be delivered in this turn
	delivered  bool // something was delivered in this turn
	stopped    bool // the broker stops: nothing happens by itself any more
	unfinished bool // this turn left work to the next
	counted    Totals
	departed   bool   // a message was dropped or dead-lettered since the stats were told
	next       uint64 // number of the next message to be put into the window
	keeper     keeper
	scratch    *scratch // nil between turns, and in one that has not needed it
	order      order    // nil: first in, first out
	groups     *groups  // the order, if it is that
	set        Settings
	clock      clock
	service    *service // nil until the first delivery
	tended     uint64   // the next message to be delivered as of the last Tend; 0: none, or it was on disk alone
	lifetimes  lifetimes
	attempts   attempts
	anywhere   anywhere
	retries    retries
	delays     *delays // of a queue of delayed messages, else nil
	disuse     disuse
	leaving    *leaving // nil until a message leaves
	store      uint64   // the queue's number in the store, 0 if it has none yet; goroutines that read ask for it, so it outlives the queue's end
	paging
	releases releases
}

// entry is one message in its place.
type entry struct {
	message     amqp.Message
	chunk       *Chunk // that the message stands in, nil if it has memory of its own
	tag         uint32
	redelivered bool
	logged      bool // the log has it too
	spilled     bool // it was put aside once, and the store has it too
	tail        bool // it counts for the tail of the queue
}

// New makes an empty queue. It starts no goroutine.
func New(opts Options) *Queue {
	q := build(opts)
	q.obey()
	q.complete()
	return q
}

// build is New without what may make the queue run by itself. Nobody else runs it before it is complete, though messages may be due and a timer fire.
func build(opts Options) *Queue {
	if opts.Settings == (Settings{}) {
		opts.Settings = DefaultSettings()
	}
	if opts.Timings == nil {
		opts.Timings = new(Timings)
	}
	q := &Queue{opts: opts}
	q.settings.Store(&opts.Settings)
	q.mailbox.running = true
	q.mailbox.next = 1 // the store keeps 0 for "not taken"
	q.logging = opts.Durable && opts.Log != nil
	q.keepsAll = q.logging && opts.Quorum
	q.store = opts.ID
	q.order, q.tagger = newOrder(&opts)
	if q.groups, _ = q.order.(*groups); q.groups != nil {
		q.groups.queue = q
	}
	if opts.Delayed {
		q.delays = new(delays)
	}
	return q
}

// Name is the queue's name; it makes a Queue a destination of bindings.
func (q *Queue) Name() string { return q.opts.Name }

// Options are the properties it was declared with; the table must not be changed.
func (q *Queue) Options() Options { return q.opts }

// Durable reports whether persistent messages of this queue belong in the log.
func (q *Queue) Durable() bool { return q.opts.Durable }

// Delayed reports whether the queue holds the delayed messages of an exchange.
func (q *Queue) Delayed() bool { return q.opts.Delayed }

// Window is what recognizes the queue's duplicates; nil if it looks for none. Whoever routes a message here asks it.
func (q *Queue) Window() *dedup.Window { return q.opts.Window }

// Lifetime is a counter that changes when the queue closes: what was learned of the queue before, a route say, holds no more.
func (q *Queue) Lifetime() *atomic.Uint64 { return &q.lifetime }

// Closed reports whether the queue has closed itself: it takes no messages and no commands any more.
func (q *Queue) Closed() bool { return q.lifetime.Load() != 0 }
