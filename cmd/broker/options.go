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
	return auth.Options{
		Storage:         userStorage{s},
		Mechanisms:      c.AuthMechanisms,
		TokensOnly:      c.TokensOnly(),
		LoopbackUsers:   c.Loopback(),
		DefaultUser:     c.DefaultUser,
		DefaultPassword: c.DefaultPass,
		DefaultVHost:    c.DefaultVHost,

		DefaultTags:        c.DefaultTags,
		DefaultPermissions: c.DefaultPermissions,

		AnonymousUser:     c.AnonymousUser,
		AnonymousPassword: c.AnonymousPass,
		CertificateName:   c.CertificateName,
		FailureLimit:      int(c.FailureLimit),
		FailureInterval:   c.FailureInterval,
		TrackSources:      c.TrackSources,
		Events:            bus,
	}
}

// serverOptions starts from the package's own defaults, so what has no key keeps them.
func serverOptions(c config.Config, memoryLimit uint64) server.Options {
	o := server.DefaultOptions()
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
	o.MaxMessageSize = uint64(c.MaxMessageSize)
	o.TransactionMax = int(c.TransactionMax)
	o.MemoryLimit = memoryLimit
	o.ConnectionMax, o.ChannelMaxPerNode, o.ConsumerMaxPerChannel = c.ConnectionMax, c.ChannelMaxPerNode, c.ConsumerMaxPerChannel
	o.VHostMax, o.QueueMax, o.ExchangeMax = c.VHostMax, c.QueueMax, c.ExchangeMax
	o.DefaultVHost, o.DefaultQueueType = c.DefaultVHost, c.DefaultQueueType
	o.NodeName = c.Node()
	o.LogExchange = c.LogExchange
	if c.DefaultVHost != "" {
		o.AnnounceVHost = c.DefaultVHost
	}
	o.Version = version
	return o
}
