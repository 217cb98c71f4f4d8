package amqp

import (
	"fmt"
	"strings"
)

// maxReplyText is the longest reply text: it travels as a short string.
const maxReplyText = 255

// Error is what ends a channel (soft) or a connection (hard): a reply code and text for channel.close or connection.close. The constructors
// of this package are the only ones that make it; it does not change afterwards and may be shared. [connection.close, channel.close]
type Error struct {
	// Code is the reply code, one of the Code constants.
	Code uint16
	// Text is the whole reply text, such as "NOT_FOUND - no queue 'q' in vhost '/'", at most 255 octets.
	Text string
	// Class and Method are the ids of the method that failed, 0 when there is none or it is not filled in yet.
	Class, Method uint16
}

// newError makes an error of the catalogue: the code's name and the explanation, cut to what a short string holds. A cut text ends in three
// dots.
func newError(code uint16, explanation string) *Error {
	text := ReplyName(code) + " - " + explanation
	if len(text) > maxReplyText {
		text = text[:maxReplyText-3] + "..."
	}
	return &Error{Code: code, Text: text}
}

// newErrorf is newError with a format.
func newErrorf(code uint16, format string, args ...any) *Error {
	return newError(code, fmt.Sprintf(format, args...))
}

// Error is the reply text.
func (e *Error) Error() string { return e.Text }

// Hard tells whether the error ends the connection.
func (e *Error) Hard() bool { return isHard(e.Code) }

// Soft tells whether the error ends the channel only. On channel 0 a soft error ends the connection too.
func (e *Error) Soft() bool { return !e.Hard() }

// At returns a copy that names the method that failed; if the error names one already, it is returned as it is.
func (e *Error) At(id MethodID) *Error {
	if e.Class != 0 {
		return e
	}
	named := *e
	named.Class, named.Method = id.Class(), id.Method()
	return &named
}

// Explanation is the text behind the code's name, as the management API shows it.
func (e *Error) Explanation() string {
	return strings.TrimPrefix(e.Text, ReplyName(e.Code)+" - ")
}

// ResourceKind is what a resource is, as reply texts say it.
type ResourceKind string

// The kinds of resources.
const (
	QueueResource    ResourceKind = "queue"
	ExchangeResource ResourceKind = "exchange"
)

// Resource is a queue or exchange as reply texts name it.
type Resource struct {
	Kind        ResourceKind
	Name, VHost string
}

// QueueIn is the resource of a queue.
func QueueIn(name, vhost string) Resource { return Resource{QueueResource, name, vhost} }

// ExchangeIn is the resource of an exchange.
func ExchangeIn(name, vhost string) Resource { return Resource{ExchangeResource, name, vhost} }

// String is the resource as it stands in reply texts: "queue 'q' in vhost '/'".
func (r Resource) String() string {
	return fmt.Sprintf("%s '%s' in vhost '%s'", r.Kind, r.Name, r.VHost)
}

// Right is what a permission allows.
type Right string

// The three rights on a resource.
const (
	Configure Right = "configure"
	Write     Right = "write"
	Read      Right = "read"
)
