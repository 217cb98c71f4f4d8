package shovel

import "time"

// State is what a shovel is about.
type State string

// The states of a shovel. One that is terminated and has a delay for it starts again.
const (
	Starting   State = "starting"
	Running    State = "running"
	Terminated State = "terminated"
)

// Status is a shovel as it is at one moment: what it is to do, and how far it is.
type Status struct {
	VHost, Name string
	State       State
	Reason      string    // why it is terminated
	Since       time.Time // when that became so

	// SourceURI and TargetURI are the ones in use, or else the first that are configured; without credentials.
	SourceURI, TargetURI      string
	SourceQueue               string
	SourceExchange, SourceKey string
	TargetQueue               string
	TargetExchange, TargetKey string
	Blocked                   bool  // the target takes no publishes at the moment
	Remaining                 int64 // messages until its end; -1: it has none
	Forwarded                 uint64
	Pending                   int // published and not confirmed yet
}

// initial is the status of a shovel that has done nothing yet.
func (o *order) initial() Status {
	s := Status{
		VHost: o.vhost, Name: o.name, State: Starting, Since: time.Now(), SourceQueue: o.source.queue, SourceExchange: o.source.exchange,
		SourceKey: o.source.key, TargetQueue: o.target.queue, Remaining: o.count,
	}
	if len(o.source.uris) > 0 {
		s.SourceURI = withoutCredentials(o.source.uris[0])
	}
	if len(o.target.uris) > 0 {
		s.TargetURI = withoutCredentials(o.target.uris[0])
	}
	if o.target.exchange != nil {
		s.TargetExchange = *o.target.exchange
	}
	if o.target.key != nil {
		s.TargetKey = *o.target.key
	}
	return s
}
