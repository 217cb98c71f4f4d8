// Package exchange holds the routing tables: which destinations a message reaches by its routing keys and headers.
//
// An Exchange knows its bindings and nothing else: not the virtual host's names, no disk, no goroutine. Each type (direct, fanout,
// topic, headers, ...) is a table in a file of its own, which registers itself under the type's name.
//
// # Concurrency
//
// All methods of an Exchange may be called from any goroutine. Its bindings stand under its own RWMutex, which is never held while
// another exchange is looked at: a message's way over several exchanges is not one atomic step, just as if it had taken a while.
// A Routing belongs to one goroutine, which uses it again for each message.
//
// # Caching
//
// A route is good for as long as what it was read from. Route says so by a Stamp: a version counter and its value from before the look.
// Routing by keys over one exchange depends on that exchange alone; a way over several depends on every exchange of
// the virtual host. Types that look at more than the keys give no stamp.
package exchange
