// Package dedup recognizes messages that were there before, by a key that the publisher puts into a header.
//
// # The window
//
// A Window remembers the last keys that it admitted: so many, and each for so long. It belongs to an exchange or to a queue; what comes there
// with a key that the window knows is a duplicate, and what has no key never is one.
//
// # What lasts
//
// The window of something durable is as durable as the messages: whoever appends a message to the log appends the keys that it brought
// behind it, in the same batch (Claims.Log), as records of a number of the window's own. So once a message is confirmed its key
// is on disk too, at no further sync, and a duplicate is recognized after a crash. The key of a message that is not logged is not either:
// such a message does not survive a crash, and when it is sent again it must get through.
//
// # Concurrency
//
// All methods of a Window may be called from any goroutine; it has one mutex, a leaf. None waits for the disk but Recover. Claims belong to one
// goroutine.
package dedup
