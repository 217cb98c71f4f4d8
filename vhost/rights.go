package vhost

import "leveret/amqp"

// Rights is what a user may do in the virtual host. Each method returns nil, or the *amqp.Error 403 that refuses. The default exchange is
// asked about under its name, which is empty.
type Rights interface {
	Configure(kind amqp.ResourceKind, name string) error
	Write(kind amqp.ResourceKind, name string) error
	Read(kind amqp.ResourceKind, name string) error
	// WriteTopic and ReadTopic ask about the key of a message or a binding at a topic exchange.
	WriteTopic(exchange, key string) error
	ReadTopic(exchange, key string) error
}

// anyRight returns nil if the user has any right on the resource, and otherwise what refuses to configure it. A passive declare asks for that.
func anyRight(r Rights, kind amqp.ResourceKind, name string) error {
	refused := r.Configure(kind, name)
	if refused == nil || r.Write(kind, name) == nil || r.Read(kind, name) == nil {
		return nil
	}
	return refused
}

// Unrestricted are the rights of the broker itself, and of an operator: everything is allowed.
type Unrestricted struct{}

// Configure allows.
func (Unrestricted) Configure(amqp.ResourceKind, string) error { return nil }

// Write allows.
func (Unrestricted) Write(amqp.ResourceKind, string) error { return nil }

// Read allows.
func (Unrestricted) Read(amqp.ResourceKind, string) error { return nil }

// WriteTopic allows.
func (Unrestricted) WriteTopic(string, string) error { return nil }

// ReadTopic allows.
func (Unrestricted) ReadTopic(string, string) error { return nil }
