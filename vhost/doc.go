// Package vhost is one virtual host: the names in it, who may use them, and where a message goes.
//
// # Names
//
// A name is reserved by the first declare that wants it; what it stands for is then committed to the store, if it is durable, and
// becomes visible, and only then is the declare answered. Deletion goes the other way: what the name stands for closes, its record
// and its bindings go, and last the name. Whoever meets a name that is on its way in or out waits for the end of that and looks again, or
// for a queue that closed itself does what is left to do. So an answered declare is never undone by a deletion that began before.
//
// # Locks
//
// A name has a turn, a mutex that is held by whoever changes what the name stands for or which bindings lead to it, over the commit:
// it keeps the order in memory and on disk the same. Nobody holds two turns, but for the queue of an exchange's delayed messages, whose turn
// is taken inside the exchange's; and nobody who only looks takes one. There is no lock over
// the whole virtual host.
//
// # Blocking
//
// What changes a durable thing waits for the disk. Declaring an exclusive queue that another connection still owns waits up to a second for
// that connection's end. Nothing else blocks, and Exchange and Route, which are for every message, never do.
package vhost
