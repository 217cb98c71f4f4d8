package vhost

import (
	"maps"
	"slices"
)

// Metadata is what an operator says of a virtual host. The fields' names are those of a definitions file.
type Metadata struct {
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	// DefaultQueueType is the type of queues that are declared without one: "classic", "quorum" or "stream". Empty: the broker's default.
	DefaultQueueType string `json:"default_queue_type,omitempty"`
	// Protected keeps the virtual host from being deleted. Nil means that nobody ever said so or otherwise, which is as good as false.
	Protected *bool `json:"protected_from_deletion,omitempty"`
	// Tracing makes the virtual host tell of every message on its trace exchange.
	Tracing bool `json:"tracing,omitempty"`
}

// IsProtected reports whether the virtual host may not be deleted.
func (m Metadata) IsProtected() bool { return m.Protected != nil && *m.Protected }

// clone copies the metadata so deeply that changing the copy leaves the original alone.
func (m Metadata) clone() Metadata {
	m.Tags = slices.Clone(m.Tags)
	return m
}

// The limits that a virtual host may have. The last two are ours: RabbitMQ knows no such limits.
const (
	MaxConnections = "max-connections"
	MaxQueues      = "max-queues"
	MaxMessages    = "max-messages" // of all queues together, ready and unacked
	MaxBytes       = "max-bytes"    // of the ready messages of all queues together
)

// LimitNames are the names that [Limits] may hold.
func LimitNames() []string { return []string{MaxConnections, MaxQueues, MaxMessages, MaxBytes} }

// Limits are a virtual host's limits by their names. A negative number is no limit, 0 forbids everything. Nil means that none was ever set.
type Limits map[string]int64

// Of returns a limit, or false when there is none of that name.
func (l Limits) Of(name string) (limit int64, ok bool) {
	limit, ok = l[name]
	return limit, ok && limit >= 0
}

// Metadata is what the operator said of the virtual host last. The copy is the caller's.
func (v *VHost) Metadata() Metadata { return v.metadata.Load().clone() }

// SetMetadata puts other metadata into force. It does not last by itself: the server calls it, when it has stored them.
func (v *VHost) SetMetadata(m Metadata) {
	m = m.clone()
	v.metadata.Store(&m)
}

// Limits are the virtual host's limits. The copy is the caller's.
func (v *VHost) Limits() Limits { return maps.Clone(*v.limits.Load()) }

// limit is one limit, without a copy of all.
func (v *VHost) limit(name string) (int64, bool) { return v.limits.Load().Of(name) }

// SetLimits puts other limits into force. They do not last by themselves: the server calls it, when it has stored them.
func (v *VHost) SetLimits(l Limits) {
	l = maps.Clone(l)
	v.limits.Store(&l)
	v.Recount() // who raises a limit is not to be refused any more, and who lowers one not to be passed by
}
