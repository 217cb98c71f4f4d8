// Package definitions writes what a broker is set up with, users, virtual hosts, permissions, policies, parameters, queues, exchanges and
// bindings, as RabbitMQ's definitions files, and reads such files of its versions 3 and 4 into a broker.
//
// A file is one JSON object with a list for each kind. [Broker.Export] writes the whole broker, [Broker.ExportVHost] one virtual host, whose
// entries do not name it. Messages are not part of it, nor is what ends with a connection.
//
// [Broker.Import] merges: nothing is deleted; users, virtual hosts, permissions, policies and parameters are overwritten; queues and
// exchanges that are there are left alone, whatever the file says of them; bindings are added. It goes kind by kind, so that what is referred
// to is there before it is, and stops at the first error; what was done by then stays. Its errors carry RabbitMQ's texts.
//
// All of it may be called from any goroutine while the broker runs. An import waits for the disk.
package definitions
