package server

import (
	"crypto/tls"
	"net/netip"
	"time"
)

// Options are the server's settings. The zero value of a limit means that there is none, unless said otherwise.
type Options struct {
	// Addresses are where plain AMQP is listened for, host:port; port 0 picks a free one.
	Addresses []string
	// TLSAddresses are where AMQP over TLS is listened for; TLS must be set then.
	TLSAddresses []string
	// TLS configures the TLS listeners. Certificates are reloaded through its GetCertificate or GetConfigForClient.
	TLS *tls.Config
	// TLSHandshakeTimeout is how long a client may take for TLS alone; it has to be set if there are TLS addresses.
	TLSHandshakeTimeout time.Duration
	// ProxyProtocol says that TrustedProxies send a PROXY protocol header before anything else. It is demanded of them, and nobody else's counts.
	ProxyProtocol  bool
	TrustedProxies []netip.Prefix
	// HandshakeTimeout is how long a client may take from connecting to connection.open; it has to be set.
	HandshakeTimeout time.Duration
	// Heartbeat is the interval that is proposed to clients; 0 proposes none. The client decides.
	Heartbeat time.Duration
	// FrameMax is the largest frame in bytes that is offered to clients; 0 is no limit.
	FrameMax uint32
	// ChannelMax is how many channels a connection may open; 0 is no limit.
	ChannelMax uint16
	// MaxMessageSize is the largest body in bytes that is taken, at most 512 MiB; it has to be set.
	MaxMessageSize uint64
	// MemoryLimit is the memory in bytes from which publishers are held back; 0 disables the alarm.
	MemoryLimit uint64
	// OnMemoryLimit is told when that is changed while the server runs; may be nil.
	OnMemoryLimit func(bytes uint64)
	// ConsumerTimeout is how long a client may take to settle a delivery of a quorum queue, unless the consumer or the queue say otherwise; 0 is
	// for ever.
	ConsumerTimeout time.Duration
	// ConsumerTimeoutAll has ConsumerTimeout hold for queues of every type, as it did before RabbitMQ 4.3.
	ConsumerTimeoutAll bool
	// ConsumerTimeoutCloses has a channel closed that takes too long, as before RabbitMQ 4.3; else the consumer is cancelled.
	ConsumerTimeoutCloses bool
	// TransactionMax is how many bytes of publishes a transaction may hold; it has to be set.
	TransactionMax int
	// DefaultVHost is the virtual host that is made if the store knows none; empty: none is made.
	DefaultVHost string
	// AnnounceVHost is the virtual host that has the exchange for events.
	AnnounceVHost string
	// LogExchange gives that virtual host an exchange for the lines of the log too.
	LogExchange bool
	// DefaultQueueType is the type of queues that are declared without one in a virtual host that has no default of its own.
	DefaultQueueType string
	// ConnectionMax is how many connections may be open at once.
	ConnectionMax int
	// ChannelMaxPerNode is how many channels may be open at once on all connections together.
	ChannelMaxPerNode int
	// ConsumerMaxPerChannel is how many consumers a channel may have.
	ConsumerMaxPerChannel int
	// VHostMax, QueueMax and ExchangeMax are how many of these there may be in the whole broker.
	VHostMax, QueueMax, ExchangeMax int
	// NodeName is the broker's name towards clients.
	NodeName string
	// Product and ProductVersion are what clients that branch on the broker's kind are told.
	Product, ProductVersion string
	// Version is this program's own version.
	Version string
}

const (
	// maxMessageCap bounds MaxMessageSize: no content header may announce more.
	maxMessageCap = 512 << 20
	// minFrameMax is the smallest frame_max that clients may ask for; the specification's own minimum.
	minFrameMax = 4096
	// initialFrameMax is the limit for frames before connection.tune-ok.
	initialFrameMax = 8192
)

// DefaultOptions are the settings without any configuration.
func DefaultOptions() Options {
	return Options{
		Addresses:           []string{":5672"},
		HandshakeTimeout:    10 * time.Second,
		TLSHandshakeTimeout: 5 * time.Second,
		Heartbeat:           60 * time.Second,
		FrameMax:            131072,
		ChannelMax:          2047,
		MaxMessageSize:      16 << 20,
		ConsumerTimeout:     30 * time.Minute,
		TransactionMax:      64 << 20,
		DefaultVHost:        "/",
		AnnounceVHost:       "/",
		DefaultQueueType:    "classic",
		NodeName:            "leveret@localhost",
		Product:             "RabbitMQ",
		ProductVersion:      "4.3.6",
		Version:             "0.1.0",
	}
}
