// Package perf puts load on an AMQP 0-9-1 broker, any broker, and measures what comes of it: rates, and the time from publishing to
// delivery and to confirm.
//
// It speaks the wire itself so that it costs little beside the broker that it measures. A producer encodes its messages once and then only
// stamps and writes them, many at a time; a consumer looks at what one read brought and writes its acknowledgements together. Nothing is
// allocated for a message.
//
// [Run] starts one connection with one channel for each producer and each consumer, and returns when all of them have ended. Every wait on
// the broker is bounded by [Options.Timeout]; what the broker has against a channel or connection comes back as a [*ClosedError].
package perf
