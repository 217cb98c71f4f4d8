package queue

// Settings is what a queue's arguments and the policies that apply to it make together. It may change in the queue's life, by Apply; values of
// this type do not.
type Settings struct {
	TTL     int64 // ms that a message may wait, from 0; -1: no limit
	Expires int64 // ms after which the unused queue deletes itself; -1: never

	MaxLength int64 // ready messages; -1: no limit
	MaxBytes  int64 // bytes of their bodies; -1: no limit
	Overflow  Overflow

	DeadLetter         bool   // messages that die go to an exchange,
	DeadLetterExchange string // which is the default one when this is empty,
	DeadLetterKey      string // with this routing key
	HasDeadLetterKey   bool   // if there is one, else with the keys they had
	AtLeastOnce        bool   // they leave the queue when their targets have them, and not before

	DeliveryLimit int64    // returns that a message survives; -1: no limit
	CountReturns  Counting // the returns that count for that

	ConsumerTimeout int64 // ms that a consumer may take for a delivery; 0: any time, -1: the server's default

	RetryType       Retry
	RetryMin        int64   // ms that a returned message waits the first time; -1: none
	RetryMax        int64   // ms that it waits at most; -1: RetryMin
	RetryMultiplier float64 // by which the wait grows each time; 0: in proportion to the number of failures
	RetryJitter     float64 // share of the wait that is left to chance, 0 to 1

	DefaultPrefetch int // of consumers that asked for no limit; 0: none
	MaxPrefetch     int // that any consumer gets; 0: no limit
	Dispatch        Dispatch
	ExpireAnywhere  bool // messages are removed when their time is up wherever they stand, and not at the head only

	PriorityMaxBurst int   // messages of higher priority in a row before the longest waiting one of lower is served; 0: no limit
	PriorityAging    int64 // ms of waiting that lift a message by a priority; 0: never
}

// DefaultSettings are those of a queue without arguments that no policy applies to.
func DefaultSettings() Settings {
	return Settings{
		TTL: -1, Expires: -1, MaxLength: -1, MaxBytes: -1, DeliveryLimit: -1, ConsumerTimeout: -1, RetryMin: -1, RetryMax: -1,
		CountReturns: CountEvery,
	}
}

// Overflow is what happens when a message comes to a queue that is full.
type Overflow uint8

// The kinds of Overflow.
const (
	DropHead         Overflow = iota // the message at the head goes
	RejectPublish                    // the new message is refused
	RejectPublishDLX                 // the new message is refused and dead-lettered
)

// Counting says which returns of a message count for the delivery limit.
type Counting string

// The kinds of Counting.
const (
	CountFailed Counting = "failed"  // basic.reject, and the end of the channel, connection or client
	CountEvery  Counting = "returns" // all
)

// Retry says which returned messages wait before they are delivered again.
type Retry uint8

// The kinds of Retry.
const (
	RetryDisabled Retry = iota // none
	RetryAll                   // all
	RetryFailed                // those whose return is one that CountFailed counts
	RetryReturned              // the others
)

// Dispatch says which consumer, of those with the highest priority, gets the next message.
type Dispatch uint8

// The kinds of Dispatch.
const (
	RoundRobin   Dispatch = iota // the one whose turn it is
	LeastUnacked                 // the one that holds the fewest
)

// Settings are those that hold now. Any goroutine may ask.
func (q *Queue) Settings() Settings { return *q.settings.Load() }

// Apply gives the queue other settings, because a policy changed. It does not wait: the queue obeys in its next turn. Any goroutine
// may call it; the last call counts.
func (q *Queue) Apply(s Settings) {
	if old := q.settings.Swap(&s); *old == s {
		return
	}
	if q.post(settingsChanged{}) {
		go q.Run()
	}
}

// settingsChanged makes the queue look at its settings.
type settingsChanged struct{}

func (settingsChanged) run(q *Queue) {
	if !q.closed {
		q.obey()
	}
}

// obey makes the queue go by its settings of this moment.
func (q *Queue) obey() {
	old := q.set
	q.set = *q.settings.Load()
	q.lifetimes.limit(q.next, q.set.TTL)
	q.consumers.least = q.set.Dispatch == LeastUnacked
	q.setPriorities()
	q.setPrefetch()
	q.guard()
	if q.set.ExpireAnywhere && !old.ExpireAnywhere {
		q.noteDeadlines()
	}
	if q.set.Expires >= 0 && q.set.Expires != old.Expires {
		q.used()
		q.endDisuse()
	}
}

// setPriorities makes an order with priorities go by the settings.
func (q *Queue) setPriorities() {
	inner := q.order
	if c, ok := inner.(*comebacks); ok {
		inner = c.order
	}
	if o, ok := inner.(*levels); ok {
		o.burst, o.aging, o.published = q.set.PriorityMaxBurst, q.set.PriorityAging, q.published
		if o.seen = nil; o.aging > 0 {
			o.seen = make([]birth, len(o.lanes))
		}
	}
}

// published is when a message was published, in Unix milliseconds; false for one that is not in memory.
func (q *Queue) published(n uint64) (ms int64, here bool) {
	if e := q.window.At(n); e != nil {
		return e.message.Published(), true
	}
	return 0, false
}
