// Package shovel moves messages from one queue or exchange to another, in this broker or in others, as runtime parameters of the component "shovel"
// say. Each shovel is an ordinary AMQP client on both sides, so that it can do nothing that a client could not, and any broker will do.
//
// A [Manager] keeps one worker a parameter: it starts, replaces and ends them as parameters come, change and go. A worker makes one session after
// another, each with a connection to the source and one to the target. In a session the nth message taken is the nth published, so both sides know it
// by the same number. With the mode on-confirm a message is acknowledged at the source when the target has confirmed it; if either side drops before,
// the source has it still. It may arrive twice then, but is not lost.
package shovel
