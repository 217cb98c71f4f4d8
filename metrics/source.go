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

// Snapshot is the broker's numbers at one moment. Counts of what is there now come first; totals since the start follow, and never shrink.
type Snapshot struct {
	Connections, Channels, Consumers, Queues uint64
	Publishers                               uint64 // channels that have published
	Ready, Unacked                           uint64 // messages in all queues
	Unconfirmed                              uint64 // publishes on channels in confirm mode that wait for their confirm
	MemoryAlarm, DiskAlarm                   bool   // publishers are held
	MemoryLimit                              uint64 // bytes from which the memory alarm is on, 0 for none

	ConnectionsOpened, ConnectionsClosed         uint64
	ChannelsOpened, ChannelsClosed               uint64
	QueuesDeclared, QueuesCreated, QueuesDeleted uint64
	LoginsTried, LoginsFailed                    uint64
	BytesReceived, BytesSent                     uint64 // on AMQP connections, all frames
	Published, PublishedConfirm                  uint64 // all publishes, and those of them on channels in confirm mode
	Routed                                       uint64 // copies put into queues
	Confirmed, Returned                          uint64
	DeliveredManualAck, DeliveredAutoAck         uint64 // to consumers
	GotManualAck, GotAutoAck, GotEmpty           uint64 // answers to basic.get
	Redelivered, Acked                           uint64
	Unroutable                                   uint64            // dropped because no queue wanted them and the publisher did not ask for them back
	Dropped                                      map[string]uint64 // further messages dropped, by reason
}
