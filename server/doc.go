// Package server speaks AMQP 0-9-1 with clients: listeners, handshake, channels, publishing, delivery, confirms and flow control.
//
// # Goroutines
//
// A connection has one goroutine, its reader, which parses frames and runs every method. A second one, the writer, exists only while
// there are bytes that the socket did not take at once. Channels have none.
//
// # Ownership
//
// The state of a connection and of its channels belongs to the reader. What queues share with it stands in the connection's outbox,
// under one mutex: outgoing bytes, delivery tags, unacked deliveries, channel-wide prefetch, consumers by tag and confirms. Fields say
// which side they are on. While the outbox is locked no other lock is taken.
//
// # The way of a message
//
// The reader takes what the socket has, copies each message once into a chunk that many messages share, routes it by a cache of its own
// and gathers it for its queues. Before it blocks, and before every method but publish and settle, it hands over: one push a queue, then the settlements,
// then the confirms. Only readers wait: before a read, never inside a message.
package server
