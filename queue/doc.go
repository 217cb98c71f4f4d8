// Package queue is the queue engine: what a queue holds, who consumes from it, and who gets the next message.
//
// # Ownership
//
// A queue has a mailbox and a state. Anyone may push messages and commands into the mailbox, under its mutex and without waiting. The
// state (window of messages, consumers, counters) belongs to whoever runs the queue: at most one goroutine at a time, for as long as
// there is work. A push that finds nobody running makes its caller the runner, who runs the queue on its own goroutine or starts one;
// an idle queue has no goroutine at all. See Queue.Push and Queue.Run.
//
// # Order
//
// The push into the mailbox numbers a message. That number is its place in the queue for good: a message that comes back
// (requeue) returns to it. In one turn the messages of the mailbox are taken before the commands; a connection waits for the answer
// to every command that counts messages, so it sees its own publishes.
//
// # Delivery
//
// The queue walks its consumers, highest priority first and in turn among equals. A consumer whose prefetch is used up, or whose connection has no room,
// stands aside until it is settled or drained. A queue never waits: not for a socket, not for another queue, not for a consumer.
// While it hands over messages it holds the consumer's Outbox and no other lock.
//
// # Memory
//
// What the store has too is in memory at the two ends of a queue alone. Goroutines that are not the queue's turn read what is wanted next, and
// put aside what is too much; their results come back as commands. See paging, Budget and Log.
package queue
