package main

import (
	"crypto/tls"

	"leveret/management"
	"leveret/server"
)

// managementOptions are the settings of the HTTP API.
func (n *node) managementOptions() management.Options {
	o := management.DefaultOptions()
	o.Node, o.Cluster = n.config.Node(), n.config.Node()
	// Two versions: that of RabbitMQ which clients look for, and our own.
	o.ProductVersion, o.Version = server.DefaultOptions().ProductVersion, version
	o.Listeners = n.listeners
	o.Control = control{n} // lets the API change the process around the broker
	o.DataDir = n.config.DataDir
	o.Settings = n.config.Lines
	o.Certificates = n.servedCertificates
	return o
}

// servedCertificates are those that clients are shown at this moment.
// They may change with each call, since files are read again when they are renewed.
func (n *node) servedCertificates() []*tls.Certificate {
	var list []*tls.Certificate
	for _, c := range n.tls.all() {
		served := c.current.Load().Certificates
		for i := range served {
			list = append(list, &served[i])
		}
	}
	return list
}

// listeners are the addresses that the broker listens on, as the API shows them.
func (n *node) listeners() []management.Listener {
	var list []management.Listener
	at := n.addresses()
	// The names are RabbitMQ's; health checks ask for them.
	for _, group := range []struct {
		protocol  string
		addresses []string
		tls       bool
	}{{"amqp", at.AMQP, false}, {"amqp/ssl", at.AMQPS, true}, {"http", at.HTTP, false}, {"https", at.HTTPS, true},
		{"http/prometheus", at.Metrics, false}, {"https/prometheus", at.MetricsTLS, true},
	} {
		for _, address := range group.addresses {
			list = append(list, management.Listener{Protocol: group.protocol, Address: address, TLS: group.tls})
		}
	}
	return list
}
