package config

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// TLS is one set of listeners' settings for it.
type TLS struct {
	CertFile, KeyFile string        // PEM
	CAFile            string        // PEM; who may sign client certificates
	VerifyPeer        bool          // check the client's certificate if it shows one
	RequirePeerCert   bool          // refuse clients that show none; needs VerifyPeer
	Versions          []string      // tlsv1.2, tlsv1.3; empty: both
	Ciphers           []string      // of TLS 1.2, as IANA or OpenSSL name them; empty: all that are safe
	Certificates      []Certificate // further ones, shown to clients that ask for a name of theirs
}

// Certificate is a certificate with its key. Its own name only tells several apart.
type Certificate struct{ Name, CertFile, KeyFile string }

// Or is what holds for listeners that may have no certificate of their own.
func (t TLS) Or(fallback TLS) TLS {
	if t.CertFile == "" {
		return fallback
	}
	return t
}

// validateTLS looks at the settings of all listeners with TLS.
func (c Config) validateTLS(complain func(condition bool, format string, args ...any)) {
	for _, l := range []struct {
		listens     bool
		key, prefix string
		tls         TLS
	}{
		{len(c.AMQPSAddrs) > 0, "listeners.ssl", "ssl_options", c.TLS},
		{c.HTTPSAddr != "", "management.ssl", "management.ssl", c.HTTPTLS},
		{c.MetricsTLSAddr != "", "prometheus.ssl", "prometheus.ssl", c.MetricsTLS},
	} {
		t := l.tls.Or(c.TLS)
		complain(l.listens && (t.CertFile == "" || t.KeyFile == ""), "%s needs %s.certfile and %s.keyfile", l.key, l.prefix, l.prefix)
		complain(l.tls.VerifyPeer && l.tls.CAFile == "", "%s.verify = verify_peer needs %s.cacertfile", l.prefix, l.prefix)
		complain(l.tls.RequirePeerCert && !l.tls.VerifyPeer, "%s.fail_if_no_peer_cert needs %s.verify = verify_peer", l.prefix, l.prefix)
		for _, further := range l.tls.Certificates {
			complain(further.CertFile == "" || further.KeyFile == "", "%s.certificates.%s needs a certfile and a keyfile", l.prefix, further.Name)
		}
	}
	complain(c.ProxyProtocol && len(c.TrustedProxies) == 0, "proxy_protocol needs the proxies' addresses in proxy_protocol_trusted.1 and so on; "+
		"0.0.0.0/0 and ::/0 let everybody claim any address")
}

// tlsSettings are the keys below one prefix, with flags or without.
func tlsSettings(prefix string, flags bool, at func(*Config) *TLS) []setting {
	flag := func(name string) string {
		if flags {
			return name
		}
		return ""
	}
	return []setting{
		text(prefix+".certfile", flag("tls-cert"), func(c *Config) *string { return &at(c).CertFile }),
		text(prefix+".keyfile", flag("tls-key"), func(c *Config) *string { return &at(c).KeyFile }),
		text(prefix+".cacertfile", flag("tls-ca"), func(c *Config) *string { return &at(c).CAFile }),
		choice(prefix+".verify", "", func(c *Config) *bool { return &at(c).VerifyPeer },
			option[bool]{"verify_none", false}, option[bool]{"verify_peer", true}),
		toggle(prefix+".fail_if_no_peer_cert", func(c *Config) *bool { return &at(c).RequirePeerCert }),
		list(prefix+".versions", parseVersion, verbatim, func(c *Config) *[]string { return &at(c).Versions }),
		list(prefix+".ciphers", parseWord, verbatim, func(c *Config) *[]string { return &at(c).Ciphers }),
		furtherCertificates(prefix+".certificates", func(c *Config) *[]Certificate { return &at(c).Certificates }),
	}
}

// parseVersion reads a version of TLS. The old ones are in many a rabbitmq.conf; they are broken, and nothing here speaks them.
func parseVersion(value string) (string, error) {
	if !slices.Contains([]string{"tlsv1.3", "tlsv1.2", "tlsv1.1", "tlsv1"}, value) {
		return "", fmt.Errorf("%q is not one of tlsv1.2, tlsv1.3", value)
	}
	return value, nil
}

// furtherCertificates is a family of pairs, NAME.certfile and NAME.keyfile.
func furtherCertificates(key string, at func(*Config) *[]Certificate) setting {
	return setting{
		key:   key + ".",
		clear: func(c *Config) { *at(c) = nil },
		set: func(c *Config, name, value string) error {
			name, part, _ := cutLast(name, ".")
			if part != "certfile" && part != "keyfile" {
				return fmt.Errorf("there are %s.NAME.certfile and %s.NAME.keyfile alone", key, key)
			}
			certificate := named(at(c), name)
			if part == "certfile" {
				certificate.CertFile = value
			} else {
				certificate.KeyFile = value
			}
			return nil
		},
		get: func(c *Config) []assignment {
			var all []assignment
			for _, further := range *at(c) {
				base := key + "." + further.Name
				all = append(all, assignment{key: base + ".certfile", value: further.CertFile}, assignment{key: base + ".keyfile", value: further.KeyFile})
			}
			return all
		},
	}
}

// named finds a certificate by its name, or adds one.
func named(list *[]Certificate, name string) *Certificate {
	for i := range *list {
		if (*list)[i].Name == name {
			return &(*list)[i]
		}
	}
	*list = append(*list, Certificate{Name: name})
	return &(*list)[len(*list)-1]
}

// parsePrefix reads a network, or an address that stands for itself alone.
func parsePrefix(value string) (netip.Prefix, error) {
	if !strings.Contains(value, "/") {
		address, err := netip.ParseAddr(value)
		if err != nil || address.Zone() != "" {
			return netip.Prefix{}, fmt.Errorf("%q is not an address or a network such as 10.0.0.0/8", value)
		}
		return netip.PrefixFrom(address.Unmap(), address.Unmap().BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(value)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("%q is not an address or a network such as 10.0.0.0/8", value)
	}
	return prefix.Masked(), nil
}
