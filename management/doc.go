// Package management is the broker's HTTP API: what RabbitMQ serves under /api, with its paths, field names, status codes and error texts, so
// that the tools people have for it work unchanged.
//
// # Shape
//
// One table of routes says which paths there are, which methods they take and who may call them; the router, the OpenAPI description and the
// reference page are made from it. A handler gets a call, asks the server, a virtual host or the users for what it needs, and returns a reply or an
// error. Nothing else writes answers: errors become a status and JSON in one function.
//
// # Objects
//
// Answers are made of objects, which are lists of fields, not structs: columns, sorting and paging work on any field of any of them. They are
// encoded without reflection, as ten thousand queues with sixty fields each are a common answer.
//
// # Numbers
//
// Queues, channels and connections publish counters once a batch. The API reads them without asking anybody, so that what it lists is of this moment.
// Rates are made by a sampler of its own, which looks at the counters every five seconds and keeps little.
//
// All exported functions may be called from any goroutine.
package management
