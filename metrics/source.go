// Package metrics shows the broker's numbers to Prometheus, under the names, types and labels that RabbitMQ gives them, so that dashboards
// and alerts made for it work unchanged. What RabbitMQ has no name for starts with leveret_.
//
// The package counts nothing itself. At every scrape it asks its [Source] once for each kind of object that the answer needs; between
// scrapes it costs nothing. Answers are written family by family, so that one with a hundred thousand queues takes the memory of one
// family and not of all. It touches no global registry.
package metrics

// Source hands out the broker's numbers. It is called by the goroutines of HTTP requests, several at once, and must not wait for queues or
// clients. Slices are the caller's, in any order.
type Source interface {
	// Node is asked at every scrape.
	Node() Node
	// Queues and what follows are asked only for answers that show single objects.
	Queues() []Queue
	Exchanges() []Exchange
	Channels() []Channel
	ChannelQueues() []ChannelQueue
	ChannelExchanges() []ChannelExchange
	QueueExchanges() []QueueExchange
	ChannelQueueExchanges() []ChannelQueueExchange
	Connections() []Connection
	VHosts() []string
}

// Node is the broker's numbers at one moment. What is there now comes first; totals since the start follow, and never shrink.
type Node struct {
	ConnectionCount, ChannelCount, ConsumerCount, QueueCount uint64

	Publishers             uint64  // channels that have published
	Blocked                uint64  // connections whose publishes are held back by an alarm
	MemoryAlarm, DiskAlarm bool    // publishers are held
	MemoryLimit            uint64  // bytes from which the memory alarm is on, 0 for none
	DiskFree, DiskLimit    uint64  // bytes that the data folder's disk has left, and below which the disk alarm is on
	StoreBytes             uint64  // of disk that messages take
	UnsyncedBytes          uint64  // written to the log and not yet durable
	OldestAge              float64 // seconds that the oldest message of those at the head of their queues has waited
	OldestUnackedAge       float64 // seconds since the oldest delivery that is not settled
	MostUnacked            uint64  // of the consumer that holds most
	Unattended             uint64  // queues with messages and without consumers

	ConnectionsOpened, ConnectionsClosed uint64
	ChannelsOpened, ChannelsClosed       uint64
	QueuesDeclared, QueuesCreated        uint64
	QueuesDeleted                        uint64
	Logins                               []Logins
	Published                            uint64 // messages taken from publishers
	Confirmable                          uint64 // of them, those of publishers that want confirms
	Confirmed, Returned                  uint64
	Unroutable                           uint64            // dropped: no queue wanted them and the publisher did not ask for them back
	Dropped                              map[string]uint64 // further messages dropped, by reason
	TimedOut                             uint64            // deliveries taken back from clients that took too long
	Syncs, Reads, ReadBytes              uint64            // of the store
	RecordsWritten, WrittenBytes, Writes uint64            // to its log
	DamagedRecords                       uint64            // found in the store
	SyncSeconds, ReadSeconds             float64           // that the store's syncs and reads took
	WriteSeconds                         float64           // and the writes to its log
	Wait, Processing                     Distribution      // seconds from publish to delivery, and from delivery to ack, of all messages
	Sizes                                Distribution      // bytes of the bodies of messages published

	// QueueTypes sums up all queues of a type ("classic", ...). Totals include what queues did that are gone.
	QueueTypes []Queue
	// Channels and Connections are sums over all that are open.
	Channels    Channel
	Connections Connection
	// Memory is bytes by what takes them.
	Memory map[string]uint64
}

// Logins counts those of one protocol.
type Logins struct {
	Protocol      string // as RabbitMQ's labels have it: amqp091, http
	Tried, Failed uint64
}

// Queue is one queue's numbers, or a sum over queues.
type Queue struct {
	VHost, Name, Type string

	Ready, Unacked, Consumers uint64
	ReadyBytes                uint64  // of bodies
	InMemory                  uint64  // ready messages that are in memory
	Pending                   uint64  // messages that wait for their time: delayed ones, and those that are to be tried again
	MemoryBytes               uint64  // that ready messages take, bookkeeping included
	Bodies                    uint64  // bytes of all bodies, ready and unacked
	UnackedBytes              uint64  // of the bodies of unacked messages
	Persistent                uint64  // messages that survive a restart
	PersistentBytes           uint64  // of their bodies
	UnackedInMemory           uint64  // unacked messages that are in memory
	InMemoryBytes             uint64  // of the bodies of messages that are in memory, ready and unacked
	HeadTimestamp             float64 // that the message at the head has, Unix seconds; NaN: none
	Utilisation               float64 // share of the time in which the queue could deliver at once
	Wait                      Quantiles
	Processing                Quantiles
	OldestAge                 float64 // seconds that the message at the head has waited; of a sum, the greatest
	OldestUnackedAge          float64 // seconds since the oldest delivery that is the oldest of its channel; likewise
	MostUnacked               uint64  // of the consumer that holds most; likewise
	Unattended                uint64  // 1 for a queue with messages and without consumers

	Published                            uint64 // copies put into the queue
	DeliveredManualAck, DeliveredAutoAck uint64 // to consumers
	GotManualAck, GotAutoAck, GotEmpty   uint64 // answers to basic.get
	Redelivered, Acked                   uint64
	Requeued, Rejected, Purged           uint64
	DiskWrites, DiskReads                uint64 // messages

	DeadLettered, Dropped Deaths // that went to another queue, or nowhere
}

// Deaths are messages that left their queue without an ack, by reason.
type Deaths struct{ Rejected, Expired, TooLong, DeliveryLimit uint64 }

// Quantiles are seconds that half, 95 % and 99 % of the durations of the last minutes do not exceed; all 0 if there were none.
type Quantiles struct{ P50, P95, P99 float64 }

// Distribution counts values by size.
type Distribution struct {
	Bounds []float64 // ascending: up to which value each count goes, but the last, which has no bound
	Counts []uint64
	Sum    float64
}

// Exchange is one exchange's numbers.
type Exchange struct {
	VHost, Name, Type string
	Bindings          uint64 // with the exchange as their source
	Published         uint64 // messages that came to it
	Confirmed         uint64 // of them, those of publishers that want confirms
	Returned          uint64 // and those that no queue wanted and that went back
	Dropped           uint64 // or did not
}

// Channel is one channel's numbers, or a sum. The ID stays the same for the life of the channel.
type Channel struct {
	ID                                        string
	Consumers, Unacked                        uint64
	Unconfirmed, Uncommitted, AcksUncommitted uint64
	Prefetch                                  uint64
}

// ChannelQueue is what one channel got of one queue.
type ChannelQueue struct {
	ChannelID, VHost, Queue              string
	DeliveredManualAck, DeliveredAutoAck uint64 // to consumers
	GotManualAck, GotAutoAck, GotEmpty   uint64 // answers to basic.get
	Redelivered, Acked                   uint64
}

// ChannelExchange is what one channel published to one exchange.
type ChannelExchange struct {
	ChannelID, VHost, Exchange string
	Published                  uint64
	Confirmed                  uint64 // of them, those that want confirms
	Returned, Dropped          uint64 // that no queue wanted
}

// QueueExchange is what clients published to one exchange and that went into one queue of its virtual host.
type QueueExchange struct {
	VHost, Queue, Exchange string
	Published              uint64
}

// ChannelQueueExchange is the same of one channel.
type ChannelQueueExchange struct {
	ChannelID, VHost, Queue, Exchange string
	Published                         uint64
}

// Connection is one connection's numbers, or a sum. The ID stays the same for the life of the connection.
type Connection struct {
	ID                       string
	ReceivedBytes, SentBytes uint64
	Reads, Writes            uint64 // of the socket
	PendingBytes             uint64
	Channels                 uint64
}
