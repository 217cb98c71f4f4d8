package vhost

import (
	"log/slog"
	"sync/atomic"

	"leveret/amqp"
	"leveret/events"
	"leveret/exchange"
	"leveret/queue"
	"leveret/store"
)

// Options is what a virtual host is made with.
type Options struct {
	Name string
	// Store keeps the durable definitions and the messages of durable queues.
	Store store.Store
	// Recovery is what the store found of queues; nil if this is its only virtual host, and what it does not claim stays.
	Recovery *Recovery
	// Budget is what the queues share of the memory; nil for no limit.
	Budget *queue.Budget
	// Timings are where the queues add how long their messages wait and take; nil for nowhere.
	Timings *queue.Timings
	// Churn counts the queues that come and go; nil for nobody.
	Churn *Churn
	// Log is told of the recovery; nil for nobody.
	Log *slog.Logger
	// DefaultQueueType is the type of queues that are declared without one where the metadata names none: "classic" (also when empty),
	// "quorum" or "stream". Queues that the type cannot be, for they are not durable or end by themselves, are classic.
	DefaultQueueType string
	// Streams lets queues of type stream be declared. They are no streams yet: only tests of how they are declared should want that.
	Streams bool
	// Metadata and Limits are what the operator set for this virtual host.
	Metadata Metadata
	Limits   Limits
	// Announced are the names of further exchanges that the broker announces something on; see Announce.
	Announced []string
	// OnParameters is called after runtime parameters other than policies have changed; nil for nobody. It must not wait.
	OnParameters func()
	// Events are told what happens in the virtual host; nil for nobody.
	Events *events.Bus
	// Census counts queues and exchanges together with those of other virtual hosts; nil if there are no others.
	Census *Census
}

// Owner is the connection that an exclusive queue belongs to, by its number; 0 is nobody.
type Owner uint64

// VHost is a virtual host. All its methods may be called from any goroutine.
type VHost struct {
	opts      Options
	graph     atomic.Uint64 // version of all exchanges together
	exchanges *names[exchange.Exchange]
	queues    *names[queue.Queue]
	owned     owned
	standard  *exchange.Exchange // the default exchange
	cycles    drops              // dead letters that would go in circles
	overruns  drops              // that could not go, and for which there was no memory
	ledger    queue.Ledger       // what the queues did that are gone
	flows     flows              // what clients published, by exchange and queue
	metadata  atomic.Pointer[Metadata]
	limits    atomic.Pointer[Limits]
	parameters
	full   atomic.Bool   // it holds as much as its limits allow
	loaded chan struct{} // closed when New is done
	gone   atomic.Bool   // it is being deleted: nothing is made in it any more
}

// predeclared are the exchanges that every virtual host has from its start.
var predeclared = []exchange.Options{
	{Name: "", Type: "direct"},
	{Name: "amq.direct", Type: "direct"},
	{Name: "amq.fanout", Type: "fanout"},
	{Name: "amq.headers", Type: "headers"},
	{Name: "amq.match", Type: "headers"},
	{Name: "amq.topic", Type: "topic"},
	{Name: "amq.rabbitmq.trace", Type: "topic", Internal: true},
}

// New makes a virtual host with its standard exchanges, loads its durable definitions from the store, and brings the messages of its durable
// queues back. It returns when the queues can be used.
func New(opts Options) (*VHost, error) {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Recovery == nil {
		opts.Recovery = NewRecovery(opts.Store)
	}
	if opts.Census == nil {
		opts.Census = new(Census)
	}
	v := &VHost{
		loaded: make(chan struct{}),
		opts:   opts, exchanges: newNames[exchange.Exchange](&opts.Census.exchanges), queues: newNames[queue.Queue](&opts.Census.queues),
	}
	defer close(v.loaded)
	v.SetMetadata(opts.Metadata)
	v.SetLimits(opts.Limits)
	if err := v.loadParameters(); err != nil {
		return nil, err
	}
	for _, x := range predeclared {
		x.Durable = true
		if err := v.restoreExchange(x, 0); err != nil {
			return nil, err
		}
	}
	for _, name := range opts.Announced {
		if err := v.restoreExchange(exchange.Options{Name: name, Type: "topic", Durable: true, Internal: true}, 0); err != nil {
			return nil, err
		}
	}
	v.standard = v.Exchange(nil) // its name is empty
	if err := v.load(); err != nil {
		return nil, err
	}
	return v, nil
}

// Name is the virtual host's name.
func (v *VHost) Name() string { return v.opts.Name }

// Exchange finds an exchange, nil when there is none. It does not allocate.
func (v *VHost) Exchange(name []byte) *exchange.Exchange { return v.exchanges.bearer(name) }

// Exchanges calls f for each exchange, the default exchange too, in no order, until it returns false.
func (v *VHost) Exchanges(f func(*exchange.Exchange) bool) { v.exchanges.each(f) }

// Queues calls f for each queue, in no order, until it returns false. One that just closed itself may be among them.
func (v *VHost) Queues(f func(*queue.Queue) bool) { v.queues.each(f) }

// Retired sums up what the queues did that are gone.
func (v *VHost) Retired() queue.Totals { return v.ledger.Totals() }

// Counts is how much there is in a virtual host.
type Counts struct {
	Exchanges, Queues int
	Bindings          int // those that were made; each queue's one to the default exchange does not count
}

// Counts counts exchanges, queues and bindings.
func (v *VHost) Counts() Counts {
	c := Counts{Exchanges: v.exchanges.len(), Queues: v.queues.len()}
	v.Exchanges(func(x *exchange.Exchange) bool {
		c.Bindings += x.Len()
		return true
	})
	return c
}

// queueResource is what error texts call a queue: queue 'q' in vhost 'v'.
func (v *VHost) queueResource(name string) amqp.Resource {
	return amqp.Resource{Kind: amqp.QueueResource, Name: name, VHost: v.opts.Name}
}

// exchangeResource does the same for an exchange.
func (v *VHost) exchangeResource(name string) amqp.Resource {
	return amqp.Resource{Kind: amqp.ExchangeResource, Name: name, VHost: v.opts.Name}
}
