// Package config gathers what an operator may set, from four places: the defaults, a file in the form of rabbitmq.conf, the environment
// and the command line, each of which overrides the ones before. Keys are RabbitMQ's own wherever it has one, so that an existing
// rabbitmq.conf works: keys of its that mean nothing here are accepted with a warning, all others are errors that name the nearest key.
//
// The package only reads; it opens nothing but the file and starts nothing. Only the command line uses it: every other package has options
// of its own, which the command line fills from a [Config].
package config

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"time"

	"leveret/auth"
	"leveret/auth/oauth"
	"leveret/server"
)

// Config is all settings. It is a plain value: whoever made it owns it.
type Config struct {
	AMQPAddrs           []string // addresses to listen on for AMQP, host:port; no host means all interfaces
	AMQPSAddrs          []string // addresses to listen on for AMQP over TLS
	HTTPAddr            string   // address of the HTTP server; empty: none
	MetricsAddr         string   // address that /metrics is served on; empty: none
	MetricsPerObject    bool     // /metrics has a line for each object, as /metrics/per-object has
	HTTPSAddr           string   // address of the HTTP server over TLS; empty: none
	MetricsTLSAddr      string   // address that /metrics is served on over TLS; empty: none
	TLS                 TLS      // of the AMQP listeners
	HTTPTLS, MetricsTLS TLS      // of the others; without a certificate of their own they take TLS
	TLSHandshakeTimeout time.Duration

	ProxyProtocol    bool // TrustedProxies send a PROXY protocol header
	TrustedProxies   []netip.Prefix
	WebSocketOrigins []string // hosts whose pages may open AMQP over WebSocket, beside the broker's own

	DataDir  string    // folder for messages and definitions; empty: they are kept in memory
	DiskFree Watermark // what must be free on its disk, else publishers are held
	NodeName string    // empty: leveret@ and the host's name

	LogLevel  string // debug, info, warn or error
	LogFormat string // text or json
	// LogExchange gives the default virtual host an exchange, amq.rabbitmq.log, for the lines of the log.
	LogExchange bool

	Heartbeat        time.Duration // offered to clients, whole seconds; 0: none
	FrameMax         uint32        // bytes, offered to clients; 0: no limit
	ChannelMax       uint16        // channels a connection, offered to clients; 0: no limit
	MaxMessageSize   int64         // bytes of a message's body, at most 512 MiB
	TransactionMax   int64         // bytes of publishes that one transaction may hold until its commit
	HandshakeTimeout time.Duration // from accept to connection.open

	ConsumerTimeout       time.Duration // that a delivery may take where neither consumer nor queue say; 0: any
	ConsumerTimeoutAll    bool          // it holds for queues of every type, and not for quorum queues alone
	ConsumerTimeoutCloses bool          // the channel is closed then, and not the consumer cancelled
	Memory                Watermark

	AuthBackends []string      // where users are known: InternalBackend, TokenBackend
	OAuth        oauth.Options // of access tokens

	AuthMechanisms  []string             // offered to clients, in this order
	CertificateName auth.CertificateName // which user a client's certificate stands for
	AnonymousUser   string               // whom ANONYMOUS logs in; empty: nobody
	AnonymousPass   string
	FailureLimit    uint16        // failed logins of an address as one user; 0: no limit
	FailureInterval time.Duration // in which one of them is forgiven
	TrackSources    bool          // count logins by address and user
	LoopbackUsers   []string      // may only connect from this machine
	DefaultUser     string        // made at the first boot
	DefaultPass     string
	DefaultVHost    string

	DefaultTags        []string         // of the default user
	DefaultPermissions auth.Permissions // of the default user in the default virtual host
	PasswordRule       string           // for new passwords: MinLengthRule, PatternRule, or empty for none
	PasswordMinLength  int              // in bytes
	PasswordPattern    string

	ConnectionMax, ChannelMaxPerNode, ConsumerMaxPerChannel int // 0: no limit
	VHostMax, QueueMax, ExchangeMax                         int // of the whole broker; 0: no limit

	DefaultQueueType string // of queues that are declared without one
	Definitions      string // file, or folder of files, that is imported at each start
	DefinitionsFrom  string // where they come from: Definitions, or DefinitionsURL if this is HTTPSBackend
	DefinitionsURL   string
	DefinitionsTLS   TLS  // of the client that asks there: CAFile, and a certificate of its own
	SkipUnchanged    bool // import them only if they differ from the last ones
}

// Watermark is a number of bytes that publishers are held by: of memory in use, or of free disk.
type Watermark struct {
	Relative float64 // share of the machine's memory, or of the container's limit; used while Absolute is 0
	Absolute int64   // bytes
}

// Default returns the settings of a broker that is told nothing. What belongs to another package comes from there.
func Default() Config {
	clients, users := server.DefaultOptions(), auth.DefaultOptions()
	return Config{
		AMQPAddrs:           clients.Addresses,
		HTTPAddr:            ":15672",
		MetricsAddr:         ":15692",
		DataDir:             "leveret-data",
		DiskFree:            Watermark{Absolute: 50_000_000},
		LogLevel:            "info",
		LogFormat:           "text",
		Heartbeat:           clients.Heartbeat,
		FrameMax:            clients.FrameMax,
		ChannelMax:          clients.ChannelMax,
		MaxMessageSize:      int64(clients.MaxMessageSize),
		TransactionMax:      int64(clients.TransactionMax),
		HandshakeTimeout:    clients.HandshakeTimeout,
		ConsumerTimeout:     clients.ConsumerTimeout,
		Memory:              Watermark{Relative: 0.6},
		TLSHandshakeTimeout: clients.TLSHandshakeTimeout,
		AuthBackends:        []string{InternalBackend},
		OAuth:               oauth.DefaultOptions(),
		AuthMechanisms:      users.Mechanisms,
		CertificateName:     users.CertificateName,
		AnonymousUser:       users.AnonymousUser,
		AnonymousPass:       users.AnonymousPassword,
		FailureLimit:        uint16(users.FailureLimit),
		FailureInterval:     users.FailureInterval,
		LoopbackUsers:       users.LoopbackUsers,
		DefaultUser:         users.DefaultUser,
		DefaultPass:         users.DefaultPassword,
		DefaultVHost:        users.DefaultVHost,
		DefaultTags:         users.DefaultTags,
		DefaultPermissions:  users.DefaultPermissions,
		PasswordMinLength:   8,
		DefaultQueueType:    clients.DefaultQueueType,
		DefinitionsFrom:     FileBackend,
	}
}

// maxMessageSize bounds what the largest message may be set to, as in RabbitMQ.
const maxMessageSize = 512 << 20

// minFrameMax is the smallest frame that the protocol lets a peer ask for.
const minFrameMax = 4096

// Validate checks what no single setting can tell. All complaints are joined.
func (c Config) Validate() error {
	var errs []error
	complain := func(condition bool, format string, args ...any) {
		if condition {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	complain(len(c.AMQPAddrs)+len(c.AMQPSAddrs) == 0, "no address to listen on: set listeners.tcp.default or listeners.ssl.default")
	c.validateTLS(complain)
	c.validateUsers(complain)
	c.validateTokens(complain)
	complain(c.MaxMessageSize > maxMessageSize, "max_message_size = %d is over %d", c.MaxMessageSize, maxMessageSize)
	complain(c.MaxMessageSize < 1, "max_message_size = %d lets no message through", c.MaxMessageSize)
	complain(c.FrameMax != 0 && c.FrameMax < minFrameMax, "frame_max = %d is under %d; 0 is no limit", c.FrameMax, minFrameMax)
	complain(c.HandshakeTimeout < time.Millisecond, "handshake_timeout = %d lets nobody in", c.HandshakeTimeout.Milliseconds())
	complain(c.TransactionMax < 1, "tx_max_bytes = %d lets no transaction through", c.TransactionMax)
	complain(c.DefaultUser != "" && c.DefaultVHost == "", "default_vhost is empty, which is no name")
	complain(len(c.AuthMechanisms) == 0, "auth_mechanisms leaves no way to log in")
	complain(c.DefaultUser != "" && c.DefaultPass == "", "default_pass is empty, which no one can log in with")
	for _, mechanism := range c.AuthMechanisms {
		complain(!slices.Contains(auth.KnownMechanisms(), mechanism), "auth_mechanisms: %s is not supported", mechanism)
	}
	return errors.Join(errs...)
}

// Node returns the node's name, made up from the host's if none is set.
func (c Config) Node() string {
	if c.NodeName != "" {
		return c.NodeName
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return "leveret@" + host
}
