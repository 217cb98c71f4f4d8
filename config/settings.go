package config

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"leveret/auth"
)

// setting is one key: how its text gets into a Config and out again. A key that ends in a dot is a family, such as listeners.tcp.NAME, and
// takes the rest of the key as name.
type setting struct {
	key   string
	flag  string // the command line's name for it, if it has one
	alias bool   // writes what another setting owns, so it is not printed
	clear func(c *Config)
	set   func(c *Config, name, value string) error
	get   func(c *Config) []assignment // nil for an alias
}

// family reports whether the key stands for any number of keys.
func (s setting) family() bool { return strings.HasSuffix(s.key, ".") }

// assignment is a key with its value, and where it comes from: a line of a file, a variable, a flag.
type assignment struct {
	key, value, origin string
}

// settings are all keys, in the order in which they are printed. The table is all there is to a setting: to add one, add a line, a field of
// Config with its default, and a paragraph of the sample file, which a test asks for.
var settings = slices.Concat(listenerSettings, tlsSettings("ssl_options", true, func(c *Config) *TLS { return &c.TLS }),
	tlsSettings("management.ssl", false, func(c *Config) *TLS { return &c.HTTPTLS }),
	tlsSettings("prometheus.ssl", false, func(c *Config) *TLS { return &c.MetricsTLS }), networkSettings, nodeSettings, loginSettings, tokenSettings, userSettings)

// listenerSettings say where the broker listens.
var listenerSettings = []setting{
	addresses("listeners.tcp", "amqp-addr", func(c *Config) *[]string { return &c.AMQPAddrs }),
	noAddresses("listeners.tcp", func(c *Config) *[]string { return &c.AMQPAddrs }),
	addresses("listeners.ssl", "amqps-addr", func(c *Config) *[]string { return &c.AMQPSAddrs }),
	noAddresses("listeners.ssl", func(c *Config) *[]string { return &c.AMQPSAddrs }),
	address("http_addr", "http-addr", func(c *Config) *string { return &c.HTTPAddr }),
	port("management.tcp.port", func(c *Config) *string { return &c.HTTPAddr }),
	host("management.tcp.ip", func(c *Config) *string { return &c.HTTPAddr }),
	address("metrics_addr", "metrics-addr", func(c *Config) *string { return &c.MetricsAddr }),
	port("prometheus.tcp.port", func(c *Config) *string { return &c.MetricsAddr }),
	host("prometheus.tcp.ip", func(c *Config) *string { return &c.MetricsAddr }),
	toggle("prometheus.return_per_object_metrics", func(c *Config) *bool { return &c.MetricsPerObject }),
	address("https_addr", "", func(c *Config) *string { return &c.HTTPSAddr }),
	port("management.ssl.port", func(c *Config) *string { return &c.HTTPSAddr }),
	host("management.ssl.ip", func(c *Config) *string { return &c.HTTPSAddr }),
	address("metrics_tls_addr", "", func(c *Config) *string { return &c.MetricsTLSAddr }),
	port("prometheus.ssl.port", func(c *Config) *string { return &c.MetricsTLSAddr }),
	host("prometheus.ssl.ip", func(c *Config) *string { return &c.MetricsTLSAddr }),
}

// networkSettings are about what comes before AMQP.
var networkSettings = []setting{
	duration("ssl_handshake_timeout", time.Millisecond, time.Hour, func(c *Config) *time.Duration { return &c.TLSHandshakeTimeout }),
	toggle("proxy_protocol", func(c *Config) *bool { return &c.ProxyProtocol }),
	list("proxy_protocol_trusted", parsePrefix, netip.Prefix.String, func(c *Config) *[]netip.Prefix { return &c.TrustedProxies }),
	list("websocket_origins", parseWord, verbatim, func(c *Config) *[]string { return &c.WebSocketOrigins }),
}

// nodeSettings are about the node, and what clients are offered.
var nodeSettings = []setting{
	folder("data_dir", "data-dir", func(c *Config) *string { return &c.DataDir }),
	share("disk_free_limit.relative", 1000, func(c *Config) *Watermark { return &c.DiskFree }),
	size("disk_free_limit.absolute", func(c *Config) *int64 { return &c.DiskFree.Absolute }),
	text("node_name", "node-name", func(c *Config) *string { return &c.NodeName }),
	choice("log.console.level", "log-level", func(c *Config) *string { return &c.LogLevel },
		option[string]{"debug", "debug"}, option[string]{"info", "info"}, option[string]{"warning", "warn"},
		option[string]{"warn", "warn"}, option[string]{"error", "error"}),
	choice("log.console.formatter", "log-format", func(c *Config) *string { return &c.LogFormat },
		option[string]{"plaintext", "text"}, option[string]{"text", "text"}, option[string]{"json", "json"}),
	toggle("log.exchange", func(c *Config) *bool { return &c.LogExchange }),
	duration("heartbeat", time.Second, 65535*time.Second, func(c *Config) *time.Duration { return &c.Heartbeat }),
	integer("frame_max", 0, 1<<31-1, func(c *Config) *uint32 { return &c.FrameMax }),
	integer("channel_max", 0, 65535, func(c *Config) *uint16 { return &c.ChannelMax }),
	size("max_message_size", func(c *Config) *int64 { return &c.MaxMessageSize }),
	size("tx_max_bytes", func(c *Config) *int64 { return &c.TransactionMax }),
	duration("handshake_timeout", time.Millisecond, time.Hour, func(c *Config) *time.Duration { return &c.HandshakeTimeout }),
	timeout("consumer_timeout", time.Millisecond, 365*24*time.Hour, func(c *Config) *time.Duration { return &c.ConsumerTimeout }),
	choice("consumer_timeout_mode", "", func(c *Config) *bool { return &c.ConsumerTimeoutAll },
		option[bool]{"quorum", false}, option[bool]{"channel", true}),
	choice("consumer_timeout_action", "", func(c *Config) *bool { return &c.ConsumerTimeoutCloses },
		option[bool]{"cancel", false}, option[bool]{"close-channel", true}),
	share("vm_memory_high_watermark.relative", 1, func(c *Config) *Watermark { return &c.Memory }),
	size("vm_memory_high_watermark.absolute", func(c *Config) *int64 { return &c.Memory.Absolute }),
}

// loginSettings are about users, and how they prove who they are.
var loginSettings = []setting{
	list("auth_mechanisms", parseWord, verbatim, func(c *Config) *[]string { return &c.AuthMechanisms }),
	choice("ssl_cert_login_from", "", func(c *Config) *auth.CertificateField { return &c.CertificateName.From },
		option[auth.CertificateField]{"distinguished_name", auth.FromDistinguishedName},
		option[auth.CertificateField]{"common_name", auth.FromCommonName},
		option[auth.CertificateField]{"subject_alternative_name", auth.FromAlternativeName},
		option[auth.CertificateField]{"subject_alt_name", auth.FromAlternativeName}),
	choice("ssl_cert_login_san_type", "", func(c *Config) *string { return &c.CertificateName.AlternativeType },
		option[string]{"dns", "dns"}, option[string]{"ip", "ip"}, option[string]{"email", "email"}, option[string]{"uri", "uri"}),
	integer("ssl_cert_login_san_index", 0, 1000, func(c *Config) *int { return &c.CertificateName.AlternativeIndex }),
	orNone("anonymous_login_user", "", func(c *Config) *string { return &c.AnonymousUser }, parseWord),
	text("anonymous_login_pass", "", func(c *Config) *string { return &c.AnonymousPass }),
	integer("auth_failure_limit", 0, 65535, func(c *Config) *uint16 { return &c.FailureLimit }),
	duration("auth_failure_interval", time.Second, 24*time.Hour, func(c *Config) *time.Duration { return &c.FailureInterval }),
	toggle("track_auth_attempt_source", func(c *Config) *bool { return &c.TrackSources }),
	loopbackUsers("loopback_users"),
	noLoopbackUsers("loopback_users"),
	text("default_user", "", func(c *Config) *string { return &c.DefaultUser }),
	text(secretKey, "", func(c *Config) *string { return &c.DefaultPass }),
	text("default_vhost", "", func(c *Config) *string { return &c.DefaultVHost }),
}

// secretKey is the first user's password.
const secretKey = "default_pass"

// secretKeys are the settings that are never shown.
var secretKeys = []string{secretKey, "anonymous_login_pass"}

// find returns the setting of a key, and for a family the name that follows it.
func find(key string) (s setting, name string, found bool) {
	for _, s := range settings {
		if s.key == key {
			return s, "", !s.family()
		}
		if rest, ok := strings.CutPrefix(key, s.key); ok && s.family() {
			return s, rest, rest != ""
		}
	}
	return setting{}, "", false
}

// Flag describes a setting that the command line offers too.
type Flag struct {
	Name, Key string
	List      bool // may be given more than once
}

// Flags returns the settings that have a flag, in the order of the sample file.
func Flags() []Flag {
	var flags []Flag
	for _, s := range settings {
		if s.flag != "" {
			flags = append(flags, Flag{Name: s.flag, Key: s.key, List: s.family()})
		}
	}
	return flags
}

// lines returns the effective value of every key of a configuration.
func lines(c Config) []assignment {
	var all []assignment
	for _, s := range settings {
		if !s.alias {
			all = append(all, s.get(&c)...)
		}
	}
	return all
}

// numbered are the lines of a family whose names carry no meaning.
func numbered(family string, values []string) []assignment {
	var all []assignment
	for i, value := range values {
		all = append(all, assignment{key: family + strconv.Itoa(i+1), value: value})
	}
	return all
}

// without returns list less value, in a new slice.
func without(list []string, value string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(have string) bool { return have == value })
}
