package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"leveret/auth"
	"leveret/config"
)

// load reads a file with these lines, and these variables and flags over it.
func load(t *testing.T, lines string, environ []string, flags map[string][]string) (*config.Loaded, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "test.conf")
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.Load(config.Sources{File: file, Environ: environ, Flags: flags})
}

func mustLoad(t *testing.T, lines string) *config.Loaded {
	t.Helper()
	l, err := load(t, lines, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestNothingGivenIsDefault(t *testing.T) {
	l, err := config.Load(config.Sources{})
	if err != nil || !reflect.DeepEqual(l.Config, config.Default()) || l.Warnings != nil {
		t.Errorf("got %+v, warnings %q, %v", l.Config, l.Warnings, err)
	}
	if err := l.Validate(); err != nil {
		t.Error(err)
	}
}

func TestSettings(t *testing.T) {
	tests := []struct {
		line string
		got  func(c config.Config) any
		want any
	}{
		{"listeners.tcp.default = 5673", amqp, []string{":5673"}},
		{"listeners.tcp.local = 127.0.0.1:0\nlisteners.tcp.other = ::1:5672", amqp, []string{"127.0.0.1:0", "[::1]:5672"}},
		{"listeners.tcp.1 = [::]:5672", amqp, []string{"[::]:5672"}},
		{"listeners.tcp.1 = 1\nlisteners.tcp.1 = 2", amqp, []string{":2"}},
		{"listeners.tcp = none", amqp, []string(nil)},
		{"listeners.ssl.default = 5671", func(c config.Config) any { return c.AMQPSAddrs }, []string{":5671"}},
		{"ssl_options.certfile = /etc/a b.pem", func(c config.Config) any { return c.TLS.CertFile }, "/etc/a b.pem"},
		{"ssl_options.verify = verify_peer", func(c config.Config) any { return c.TLS.VerifyPeer }, true},
		{"ssl_options.fail_if_no_peer_cert = on", func(c config.Config) any { return c.TLS.RequirePeerCert }, true},
		{"ssl_options.versions.1 = tlsv1.3\nssl_options.versions.2 = tlsv1.1", func(c config.Config) any { return c.TLS.Versions }, []string{"tlsv1.3", "tlsv1.1"}},
		{"ssl_options.ciphers.1 = X", func(c config.Config) any { return c.TLS.Ciphers }, []string{"X"}},
		{"ssl_options.certificates.a.b.certfile = c\nssl_options.certificates.a.b.keyfile = k",
			func(c config.Config) any { return c.TLS.Certificates }, []config.Certificate{{Name: "a.b", CertFile: "c", KeyFile: "k"}}},
		{"management.ssl.certfile = c", func(c config.Config) any { return c.HTTPTLS.Or(c.TLS).CertFile }, "c"},
		{"ssl_options.certfile = c", func(c config.Config) any { return c.HTTPTLS.Or(c.TLS).CertFile }, "c"},
		{"management.ssl.ip = 1\nmanagement.ssl.port = 2\nmanagement.ssl.ip = ::1", func(c config.Config) any { return c.HTTPSAddr }, "[::1]:2"},
		{"prometheus.ssl.port = 2", func(c config.Config) any { return c.MetricsTLSAddr }, ":2"},
		{"ssl_handshake_timeout = 7", func(c config.Config) any { return c.TLSHandshakeTimeout }, 7 * time.Millisecond},
		{"proxy_protocol_trusted.1 = 10.1.2.3/8\nproxy_protocol_trusted.2 = ::ffff:10.0.0.1\nproxy_protocol_trusted.3 = fd00::/8",
			func(c config.Config) any { return fmt.Sprint(c.TrustedProxies) }, "[10.0.0.0/8 10.0.0.1/32 fd00::/8]"},
		{"ssl_cert_login_from = subject_alt_name", func(c config.Config) any { return c.CertificateName.From }, auth.FromAlternativeName},
		{"ssl_cert_login_san_index = 3", func(c config.Config) any { return c.CertificateName.AlternativeIndex }, 3},
		{"anonymous_login_user = none", func(c config.Config) any { return c.AnonymousUser }, ""},
		{"auth_failure_limit = 0", func(c config.Config) any { return c.FailureLimit }, uint16(0)},
		{"auth_failure_interval = 60", func(c config.Config) any { return c.FailureInterval }, time.Minute},
		{"track_auth_attempt_source = true", func(c config.Config) any { return c.TrackSources }, true},
		{"metrics_addr = none", metrics, ""},
		{"metrics_addr = localhost:1", metrics, "localhost:1"},
		{"prometheus.tcp.port = 9090", metrics, ":9090"},
		{"prometheus.tcp.ip = 127.0.0.1\nprometheus.tcp.port = 9090", metrics, "127.0.0.1:9090"},
		{"prometheus.tcp.ip = ::1", metrics, "[::1]:15692"},
		{"prometheus.return_per_object_metrics = true", func(c config.Config) any { return c.MetricsPerObject }, true},
		{"management.tcp.port = 80", func(c config.Config) any { return c.HTTPAddr }, ":80"},
		{"log.console.level = warning", func(c config.Config) any { return c.LogLevel }, "warn"},
		{"log.console.formatter = json", func(c config.Config) any { return c.LogFormat }, "json"},
		{"heartbeat = 0", func(c config.Config) any { return c.Heartbeat }, time.Duration(0)},
		{"heartbeat = 90s", func(c config.Config) any { return c.Heartbeat }, 90 * time.Second},
		{"handshake_timeout = 1500", func(c config.Config) any { return c.HandshakeTimeout }, 1500 * time.Millisecond},
		{"consumer_timeout = 1000", slow, time.Second},
		{"consumer_timeout = 2h", slow, 2 * time.Hour},
		{"consumer_timeout = 0", slow, time.Duration(0)},
		{"consumer_timeout = undefined", slow, time.Duration(0)},
		{"consumer_timeout = infinity", slow, time.Duration(0)},
		{"consumer_timeout = false", slow, time.Duration(0)},
		{"consumer_timeout_mode = channel", func(c config.Config) any { return c.ConsumerTimeoutAll }, true},
		{"consumer_timeout_action = close-channel", func(c config.Config) any { return c.ConsumerTimeoutCloses }, true},
		{"frame_max=0", func(c config.Config) any { return c.FrameMax }, uint32(0)},
		{"channel_max = 65535", func(c config.Config) any { return c.ChannelMax }, uint16(65535)},
		{"max_message_size = 64MB", func(c config.Config) any { return c.MaxMessageSize }, int64(64e6)},
		{"max_message_size = 64 MiB", func(c config.Config) any { return c.MaxMessageSize }, int64(64 << 20)},
		{"tx_max_bytes = 1k", func(c config.Config) any { return c.TransactionMax }, int64(1024)},
		{"vm_memory_high_watermark.relative = 0.25", memory, config.Watermark{Relative: 0.25}},
		{"disk_free_limit.relative = 1.5", func(c config.Config) any { return c.DiskFree }, config.Watermark{Relative: 1.5}},
		{"disk_free_limit.relative = 1.5\ndisk_free_limit.absolute = 1GB", func(c config.Config) any { return c.DiskFree }, config.Watermark{Relative: 1.5, Absolute: 1e9}},
		{"disk_free_limit.absolute = 0", func(c config.Config) any { return c.DiskFree }, config.Watermark{}},
		{"definitions.import_backend = https\ndefinitions.https.url = https://x/d", func(c config.Config) any { return c.ImportsDefinitions() && c.DefinitionsURL == "https://x/d" }, true},
		{"definitions.https.url = https://x/d", func(c config.Config) any { return c.ImportsDefinitions() }, false},
		{"load_definitions = d.json", func(c config.Config) any { return c.ImportsDefinitions() }, true},
		{"vm_memory_high_watermark.absolute = 2GB", memory, config.Watermark{Relative: 0.6, Absolute: 2e9}},
		{"auth_mechanisms.1 = AMQPLAIN", func(c config.Config) any { return c.AuthMechanisms }, []string{"AMQPLAIN"}},
		{"loopback_users = none", loopback, []string(nil)},
		{"loopback_users.guest = false", loopback, []string{}},
		{"loopback_users.other = true", loopback, []string{"guest", "other"}},
		{"default_pass = 'a#b = c'  # comment", pass, "a#b = c"},
		{"default_pass = a#b", pass, "a"},
		{"  default_pass\t=\tx  \r", pass, "x"},
		{"default_pass = x=y", pass, "x=y"},
		{"\n  # a comment\n#default_pass = x", pass, "guest"},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			l := mustLoad(t, tt.line)
			if got := tt.got(l.Config); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %#v, want %#v", got, tt.want)
			}
			if l.Warnings != nil {
				t.Errorf("warnings %q", l.Warnings)
			}
		})
	}
}

func amqp(c config.Config) any     { return c.AMQPAddrs }
func metrics(c config.Config) any  { return c.MetricsAddr }
func memory(c config.Config) any   { return c.Memory }
func slow(c config.Config) any     { return c.ConsumerTimeout }
func loopback(c config.Config) any { return c.LoopbackUsers }
func pass(c config.Config) any     { return c.DefaultPass }

func TestErrorsTellWhere(t *testing.T) {
	tests := []struct{ line, want string }{
		{"heartbeet = 1", "test.conf:2: unknown key heartbeet, nearest is heartbeat"},
		{"listeners.tpc.default = 1", "test.conf:2: unknown key listeners.tpc.default, nearest is listeners.tcp.default"},
		{"listeners.tcp. = 1", "unknown key listeners.tcp."},
		{"disk_free_limits.absolute = 1", "unknown key disk_free_limits.absolute"},
		{"heartbeat", `test.conf:2: "heartbeat" is not of the form key = value`},
		{"= 1", "is not of the form key = value"},
		{"default pass = 1", "is not of the form key = value"},
		{"default_pass = 'x", "the quotes around default_pass's value don't match"},
		{"default_pass = 'x' y", "the quotes around default_pass's value don't match"},
		{"heartbeat = soon", `test.conf:2: heartbeat: "soon" is not a duration in units of 1s`},
		{"heartbeat = 1500ms", "is not a duration in units of 1s"},
		{"heartbeat = -1", "is not a duration"},
		{"heartbeat = 65536", "is more than 18h12m15s"},
		{"consumer_timeout = -1", "is not a duration in units of 1ms"},
		{"consumer_timeout_mode = classic", `"classic" is not one of quorum, channel`},
		{"consumer_timeout_action = warn", `"warn" is not one of cancel, close-channel`},
		{"channel_max = 65536", "65536 is not between 0 and 65535"},
		{"channel_max = 1k", `"1k" is not a whole number`},
		{"max_message_size = -1", "is not a size"},
		{"max_message_size = 1XB", "is not a size"},
		{"max_message_size = 9900000000GB", "is not a size"},
		{"max_message_size = MB", "is not a size"},
		{"vm_memory_high_watermark.relative = 1.5", "is not a number from 0 to 1"},
		{"disk_free_limit.relative = -1", "is not a number from 0 to 1000"},
		{"vm_memory_high_watermark.relative = NaN", "is not a number from 0 to 1"},
		{"listeners.tcp.default = 70000", "is not a port"},
		{"listeners.tcp.default = localhost", "is not a port"},
		{"listeners.tcp = 5672", `"5672" is not none; single values are set as listeners.tcp.NAME`},
		{"prometheus.tcp.port = 1:2", "is not a port"},
		{"metrics_addr = none\nprometheus.tcp.ip = ::1", "there is no port"},
		{"log.console.level = loud", `"loud" is not one of debug, info, warning, warn, error`},
		{"loopback_users.guest = maybe", "is not true or false"},
		{"ssl_options.fail_if_no_peer_cert = 1", "is not true or false"},
		{"ssl_options.versions.1 = sslv3", `"sslv3" is not one of tlsv1.2, tlsv1.3`},
		{"ssl_options.certificates.a = b", "NAME.certfile and ssl_options.certificates.NAME.keyfile alone"},
		{"proxy_protocol_trusted.1 = proxy", `"proxy" is not an address or a network`},
		{"proxy_protocol_trusted.1 = 10.0.0.0/33", "is not an address or a network"},
		{"proxy_protocol_trusted.1 = fe80::1%eth0", "is not an address or a network"},
		{"ssl_cert_login_from = surname", "is not one of distinguished_name"},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			_, err := load(t, "\n"+tt.line, nil, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestAllErrorsAreTold(t *testing.T) {
	_, err := load(t, "heartbeat = x\nnonsense\nfoo = 1\n", []string{"LEVERET_FRAME_MAX=x"}, map[string][]string{"log-level": {"x"}})
	if err == nil {
		t.Fatal("loaded")
	}
	for _, want := range []string{"test.conf:1:", "test.conf:2:", "test.conf:3:", "LEVERET_FRAME_MAX: frame_max:", "--log-level: log.console.level:"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s is missing in:\n%v", want, err)
		}
	}
}

func TestForeignKeysWarn(t *testing.T) {
	l := mustLoad(t, "cluster_formation.peer_discovery_backend = dns\nnet_ticktime = 10\nlog.file = false\n")
	if len(l.Warnings) != 3 || !strings.HasSuffix(l.Warnings[0], "test.conf:1: cluster_formation.peer_discovery_backend has no effect here") {
		t.Errorf("warnings %q", l.Warnings)
	}
	if !reflect.DeepEqual(l.Config, config.Default()) {
		t.Errorf("and changed %+v", l.Config)
	}
}

func TestValidate(t *testing.T) {
	tests := []struct{ lines, want string }{
		{"listeners.tcp = none", "no address to listen on"},
		{"listeners.ssl.1 = 5671\nssl_options.certfile = c", "needs ssl_options.certfile and ssl_options.keyfile"},
		{"ssl_options.verify = verify_peer", "needs ssl_options.cacertfile"},
		{"ssl_options.fail_if_no_peer_cert = true", "needs ssl_options.verify"},
		{"max_message_size = 1GiB", "max_message_size = 1073741824 is over 536870912"},
		{"max_message_size = 0", "max_message_size = 0 lets no message through"},
		{"frame_max = 100", "frame_max = 100 is under 4096"},
		{"frame_max = 0", ""},
		{"handshake_timeout = 0", "handshake_timeout = 0 lets nobody in"},
		{"tx_max_bytes = 0", "tx_max_bytes = 0 lets no transaction through"},
		{"default_vhost =", "default_vhost is empty"},
		{"auth_mechanisms.1 = EXTERNAL", ""},
		{"auth_mechanisms.1 = KERBEROS", "KERBEROS is not supported"},
		{"management.ssl.port = 15671", "management.ssl needs management.ssl.certfile and management.ssl.keyfile"},
		{"management.ssl.port = 15671\nssl_options.certfile = c\nssl_options.keyfile = k", ""},
		{"prometheus.ssl.port = 1\nprometheus.ssl.certfile = c\nprometheus.ssl.keyfile = k", ""},
		{"prometheus.ssl.port = 1\nprometheus.ssl.certfile = c", "prometheus.ssl needs"},
		{"management.ssl.verify = verify_peer", "management.ssl.verify = verify_peer needs management.ssl.cacertfile"},
		{"ssl_options.certificates.a.certfile = c", "ssl_options.certificates.a needs a certfile and a keyfile"},
		{"proxy_protocol = true", "proxy_protocol needs the proxies' addresses"},
		{"proxy_protocol = true\nproxy_protocol_trusted.1 = 10.0.0.1", ""},
		{"definitions.import_backend = https", "needs definitions.https.url"},
		{"definitions.import_backend = https\ndefinitions.https.url = http://example.com/d", "is not https"},
		{"definitions.import_backend = https\ndefinitions.https.url = https://x/d", ""},
		{"definitions.import_backend = https\ndefinitions.https.url = https://x/d\nload_definitions = d", "not from both"},
		{"definitions.tls.certfile = c", "belong together"},
		{"default_pass =", "default_pass is empty"},
		{"listeners.tcp = none\nlisteners.ssl.1 = 5671\nssl_options.certfile = c\nssl_options.keyfile = k", ""},
		{"default_pass =\ndefault_user =", ""},
	}
	for _, tt := range tests {
		t.Run(tt.lines, func(t *testing.T) {
			err := mustLoad(t, tt.lines).Validate()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestNodeName(t *testing.T) {
	if got := mustLoad(t, "node_name = rabbit@here").Node(); got != "rabbit@here" {
		t.Errorf("set, it is %q", got)
	}
	if got := config.Default().Node(); !strings.HasPrefix(got, "leveret@") || got == "leveret@" {
		t.Errorf("by default it is %q", got)
	}
}

func TestMissingFile(t *testing.T) {
	if _, err := config.Load(config.Sources{File: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("loaded")
	}
}
