package main

import (
	"leveret/auth"
	"leveret/config"
	"leveret/events"
	"leveret/server"
	"leveret/store"
)

// authOptions and serverOptions hand settings on to the packages that they are for, which know nothing of keys, files and flags.
func authOptions(c config.Config, s store.Store, bus *events.Bus) auth.Options {
	// Field by field, and not from defaults: of whom lets in whom nothing is left to chance.
	return auth.Options{
		Storage:         userStorage{s},
		Mechanisms:      c.AuthMechanisms,
		TokensOnly:      c.TokensOnly(),
		LoopbackUsers:   c.Loopback(), // those of the settings, and the default user while it has the default password
		DefaultUser:     c.DefaultUser,
		DefaultPassword: c.DefaultPass,
		DefaultVHost:    c.DefaultVHost,

		DefaultTags:        c.DefaultTags,
		DefaultPermissions: c.DefaultPermissions,

		AnonymousUser:     c.AnonymousUser,
		AnonymousPassword: c.AnonymousPass,
		CertificateName:   c.CertificateName,
		FailureLimit:      int(c.FailureLimit),
		FailureInterval:   c.FailureInterval, // in which so many failed logins of one address as one user are taken
		TrackSources:      c.TrackSources,
		Events:            bus,
	}
}

// serverOptions starts from the package's own defaults, so what has no key keeps them.
func serverOptions(c config.Config, memoryLimit uint64) server.Options {
	o := server.DefaultOptions()
	// An empty list is one that somebody emptied: no plain listener.
	o.Addresses = c.AMQPAddrs
	o.TLSAddresses = c.AMQPSAddrs
	o.TLSHandshakeTimeout = c.TLSHandshakeTimeout
	o.ProxyProtocol, o.TrustedProxies = c.ProxyProtocol, c.TrustedProxies
	o.HandshakeTimeout = c.HandshakeTimeout
	o.ConsumerTimeout = c.ConsumerTimeout
	o.ConsumerTimeoutAll, o.ConsumerTimeoutCloses = c.ConsumerTimeoutAll, c.ConsumerTimeoutCloses
	o.Heartbeat = c.Heartbeat
	o.FrameMax = c.FrameMax
	o.ChannelMax = c.ChannelMax
	o.MaxMessageSize = uint64(c.MaxMessageSize) // bytes of a body
	o.TransactionMax = int(c.TransactionMax)
	// Computed already, as it may be a share of the machine's or the container's memory.
	o.MemoryLimit = memoryLimit
	o.ConnectionMax, o.ChannelMaxPerNode, o.ConsumerMaxPerChannel = c.ConnectionMax, c.ChannelMaxPerNode, c.ConsumerMaxPerChannel
	o.VHostMax, o.QueueMax, o.ExchangeMax = c.VHostMax, c.QueueMax, c.ExchangeMax
	o.DefaultVHost, o.DefaultQueueType = c.DefaultVHost, c.DefaultQueueType
	o.NodeName = c.Node()
	o.LogExchange = c.LogExchange
	// The virtual host that log lines and events go to; without a default one it is the package's own.
	if c.DefaultVHost != "" {
		o.AnnounceVHost = c.DefaultVHost
	}
	o.Version = version
	return o
}
