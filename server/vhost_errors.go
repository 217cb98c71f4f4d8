package server

import (
	"errors"
	"fmt"
)

// What a change of virtual hosts can be refused for, to be asked for with errors.Is. The error itself is a [*VHostRefusal].
var (
	ErrNoVHost           = errors.New("no such virtual host")
	ErrVHostName         = errors.New("no name for a virtual host")
	ErrVHostProtected    = errors.New("the virtual host is protected from deletion")
	ErrVHostLimit        = errors.New("there are as many virtual hosts as there may be")
	ErrVHostQueueType    = errors.New("unknown queue type")
	ErrVHostUnknownLimit = errors.New("unknown limit")
)

// VHostRefusal is a change of virtual hosts that is turned down. Its text is RabbitMQ's, for the HTTP API.
type VHostRefusal struct {
	Kind error // one of the errors above
	Text string
}

// Error is the text.
func (r *VHostRefusal) Error() string { return r.Text }

// Unwrap is the kind.
func (r *VHostRefusal) Unwrap() error { return r.Kind }

// refuse is an error of a kind that callers tell by errors.Is, with RabbitMQ's text.
func refuse(kind error, format string, args ...any) error {
	return &VHostRefusal{kind, fmt.Sprintf(format, args...)}
}

func noVHost() error { return refuse(ErrNoVHost, "vhost_not_found") }
