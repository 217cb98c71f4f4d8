package perf

import (
	"errors"
	"fmt"
	"io"
	"time"

	"leveret/amqp"
)

// stampSize is what a body needs to carry the run and the time of publishing. Shorter bodies are fine, but tell no latency.
const stampSize = 16

// Options say what load to make.
type Options struct {
	// URI is the broker's, amqp://user:password@host:port/vhost, or amqps://.
	URI string
	// SkipVerify takes any certificate of an amqps broker.
	SkipVerify bool
	// Producers and Consumers are how many of each there are. A producer or consumer takes the queues in turn.
	Producers, Consumers int
	// Queues is how many queues there are.
	Queues int
	// Queue names them, with a number behind it if they are several. Empty makes a name of this run's own, and the queues are deleted at
	// the end; named ones stay.
	Queue string
	// Durable and Arguments are what queues are declared with; Passive takes them as they are.
	Durable, Passive bool
	Arguments        amqp.Table
	// Size is the bytes of a message's body.
	Size int
	// Persistent publishes with delivery mode 2, Mandatory asks for unroutable messages back.
	Persistent, Mandatory bool
	// Window is how many messages a producer leaves unconfirmed; 0 switches confirms off.
	Window int
	// ConfirmedLog gets, at the end, which messages were confirmed, for Verify. It needs a window and bodies of 32 bytes.
	ConfirmedLog io.Writer
	// Prefetch is how many messages a consumer holds unacknowledged; 0 is no limit.
	Prefetch int
	// AutoAck lets the delivery alone settle messages.
	AutoAck bool
	// AckEvery acknowledges so many messages at once.
	AckEvery int
	// Rate is the messages a second of all producers together; 0 is as fast as it goes. Latency is then counted from the time that a
	// message was due, so that a broker which holds the producers up does not look better for it.
	Rate int
	// Duration ends the publishing; 0 does not. With neither Duration nor Count, Run goes on until its context ends.
	Duration time.Duration
	// Count is how many messages are published, by all producers together, or consumed if there are none; 0 is no limit.
	Count uint64
	// Timeout bounds every wait on the broker: for a reply, a confirm, room to write, and for the next delivery once publishing is over.
	Timeout time.Duration
}

// DefaultOptions are those of a short run of one producer and one consumer against a broker on this machine.
func DefaultOptions() Options {
	return Options{
		URI:       "amqp://guest:guest@127.0.0.1:5672/",
		Producers: 1,
		Consumers: 1,
		Queues:    1,
		Durable:   true,
		Size:      16,
		Prefetch:  200,
		AckEvery:  50,
		Duration:  10 * time.Second,
		Timeout:   10 * time.Second,
	}
}

// Validate tells what is wrong with the options, all of it.
func (o Options) Validate() error {
	var errs []error
	within := func(name string, n, low, high int) {
		if n < low || n > high {
			errs = append(errs, fmt.Errorf("%s is %d, not between %d and %d", name, n, low, high))
		}
	}
	within("producers", o.Producers, 0, 100_000)
	within("consumers", o.Consumers, 0, 100_000)
	within("queues", o.Queues, 1, 1_000_000)
	within("size", o.Size, 0, 512<<20)
	within("confirm window", o.Window, 0, 1_000_000)
	within("prefetch", o.Prefetch, 0, 65535)
	within("ack every", o.AckEvery, 1, 1_000_000)
	within("rate", o.Rate, 0, 1_000_000_000)
	if o.Producers+o.Consumers == 0 {
		errs = append(errs, errors.New("there is neither a producer nor a consumer"))
	}
	if o.ConfirmedLog != nil && (o.Window == 0 || o.Size < numberedSize) {
		errs = append(errs, fmt.Errorf("a log of confirms needs confirms, and bodies of %d bytes", numberedSize))
	}
	if o.Duration < 0 || o.Timeout <= 0 {
		errs = append(errs, errors.New("duration and timeout must be positive"))
	}
	if o.Prefetch > 0 && !o.AutoAck && o.AckEvery > o.Prefetch {
		errs = append(errs, fmt.Errorf("ack every %d is over the prefetch of %d: the broker would wait for ever", o.AckEvery, o.Prefetch))
	}
	return errors.Join(errs...)
}
