// Package metrics shows the broker's numbers to Prometheus, under the names that RabbitMQ gives them, so that dashboards and alerts made
// for it work unchanged. What RabbitMQ has no name for starts with leveret_.
//
// The package counts nothing itself. At every scrape it asks its [Source] once for all numbers of one moment; between scrapes it costs
// nothing. It uses a registry of its own and touches no global one.
package metrics

// Source hands out the broker's numbers. It is called by the goroutines of HTTP requests, several at once, and must not wait for queues
// or clients.
type Source interface {
	Snapshot() Snapshot
}

// SourceFunc is a function as a [Source].
type SourceFunc func() Snapshot

// Snapshot calls the function.
func (f SourceFunc) Snapshot() Snapshot { return f() }

// Snapshot is the broker's numbers at one moment. What is there now comes first; totals since the start follow, and never shrink.
type Snapshot struct {
	Connections, Channels, Consumers, Queues uint64
	Blocked                                  uint64 // connections whose publishes are held back by an alarm
	Ready, Unacked                           uint64 // messages in all queues
	ReadyBytes                               uint64 // of memory that ready messages take, bookkeeping included
	MemoryAlarm, DiskAlarm                   bool   // publishers are held
	MemoryLimit                              uint64 // bytes from which the memory alarm is on, 0 for none
	StoreBytes                               uint64 // of disk that messages take
	UnsyncedBytes                            uint64 // written to the log and not yet durable

	ConnectionsOpened, ConnectionsClosed  uint64
	ChannelsOpened, ChannelsClosed        uint64
	LoginsTried, LoginsFailed             uint64
	Published                             uint64 // messages taken from publishers
	Routed                                uint64 // copies put into queues
	Confirmed, Returned                   uint64
	DeliveredManualAck, DeliveredAutoAck  uint64 // to consumers
	GotManualAck, GotAutoAck, GotEmpty    uint64 // answers to basic.get
	Redelivered, Acked                    uint64
	Requeued, Rejected, Purged            uint64
	Unroutable                            uint64            // dropped: no queue wanted them and the publisher did not ask for them back
	Dropped                               map[string]uint64 // further messages dropped, by reason
	Syncs, WrittenBytes, Reads, ReadBytes uint64            // of the store
	DamagedRecords                        uint64            // found in the store
}
