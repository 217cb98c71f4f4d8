package queue

import "leveret/amqp"

// A tag is the one number that a queue's order must know of a message besides its place: a priority, the hash of a key, the time when it is
// due. The publisher's reader computes it, so that the queue needs not look into the message, and the log keeps it, so that a start needs
// not read the messages. Zero says nothing: the message is as all others.

// UnknownTag stands in the log for a message whose queues want different tags: the message itself has to be asked.
const UnknownTag = ^uint32(0)

// Origin is what of a message's publisher, and of its properties, a tag may depend on. It is valid during a call.
type Origin struct {
	User       string
	Connection uint64              // number of the connection, unique in the broker's life
	Index      *amqp.PropertyIndex // of the message's properties
	Due        int64               // Unix ms at which a delayed message goes on, else 0
}

// Tagged reports whether messages for the queue come with a tag, by Batch.AddTagged. It never changes.
func (q *Queue) Tagged() bool { return q.tagger != nil }

// Tag computes the tag of a message for a queue that is Tagged. Any goroutine may call it.
func (q *Queue) Tag(m amqp.Message, o *Origin) uint32 { return q.tagger(m, o) }

// tagger computes tags; it keeps no state.
type tagger func(m amqp.Message, o *Origin) uint32
