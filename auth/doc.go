// Package auth knows who may log in and what they may do: users with hashed passwords, SASL mechanisms, and the permissions that a user
// has in a virtual host.
//
// All users stand in one immutable directory behind an atomic pointer. A change copies the directory, saves what differs, and only then
// swaps the pointer, so that a reader never waits and never sees what could be lost again. Reading is safe from any goroutine; changes
// are serialised by one mutex, which is held while [Storage] saves.
//
// What a connection holds are handles: a [User] and its [Rights] name the user and the virtual host, and look the rest up. A change of
// rights therefore reaches a channel that is busy with its very next check. Whoever remembers the outcome of a check of its own compares
// [Rights.Version] before relying on it.
//
// The package knows no sockets and writes no log: a refused login is a [*Refusal] that tells the reason for the log, and unwraps to the
// error that the client may see, which is the same for every reason.
package auth
