package vhost

import (
	"crypto/rand"
	"encoding/base64"
	"time"

	"leveret/amqp"
	"leveret/queue"
)

// ownerPatience is how long the declare of an exclusive queue waits for the connection that owns it to end: a client that
// reconnects may be faster than the broker is with its old connection.
const ownerPatience = time.Second

// QueueDeclare is what a client asks for with queue.declare.
type QueueDeclare struct {
	Name       string // empty: the broker makes one up
	Durable    bool   // it outlives the broker, unless it is exclusive
	Exclusive  bool   // it belongs to the connection and ends with it
	AutoDelete bool   // it ends with its last consumer
	Arguments  amqp.Table
}

// DeclareQueue makes a queue, or returns the one that is there if it is equivalent. Errors are *amqp.Error 403, 405 and 406, else the
// store's. It may find the queue in its last moment: if commands to it then fail with queue.ErrClosed, declare again.
//
// [queue.declare]: the name is looked at first, then the right to configure it, then what is there, and last whether it could be made.
func (v *VHost) DeclareQueue(d QueueDeclare, owner Owner, r Rights) (*queue.Queue, error) {
	d.Durable = d.Durable && !d.Exclusive // an exclusive queue ends with its connection, so it can't outlive the broker
	v.addType(&d)
	if d.Name == "" {
		if err := v.nameByServer(&d); err != nil {
			return nil, err
		}
	} else if reserved(d.Name) {
		return nil, amqp.ReservedName(amqp.QueueResource, d.Name)
	}
	if err := r.Configure(amqp.QueueResource, d.Name); err != nil {
		return nil, err
	}
	var patience <-chan time.Time
	for {
		e, q, err := v.liveQueue(d.Name)
		if err != nil {
			return nil, err
		}
		if q == nil {
			q, err = v.makeQueue(d, owner, r)
			if q != nil || err != nil {
				if err == nil {
					v.opts.Churn.declare(true)
				}
				return q, err
			}
			continue // another declare was faster
		}
		err = v.equivalentQueue(q.Options(), d, owner)
		if err == nil {
			v.opts.Churn.declare(false)
			return q, nil
		}
		if !d.Exclusive || v.checkOwner(q, owner) == nil {
			return nil, err
		}
		if patience == nil {
			patience = time.After(ownerPatience)
		}
		select {
		case <-e.gone:
		case <-patience:
			return nil, err
		}
	}
}

// nameByServer gives the queue a name that nobody can guess. Only classic queues may have such a one.
func (v *VHost) nameByServer(d *QueueDeclare) error {
	if t := v.typeOf(d); t == quorum || t == stream {
		return amqp.ServerNamedType(t.module())
	}
	prefix := "amq.gen"
	if value, ok := d.Arguments.Get(argNamePrefix); ok {
		if wanted, ok := value.(string); ok && wanted != "" {
			prefix = wanted
		}
		if len(prefix) > maxNamePrefix {
			return amqp.NamePrefixTooLong(prefix)
		}
		d.Arguments = without(d.Arguments, argNamePrefix)
	}
	var secret [16]byte
	rand.Read(secret[:])
	d.Name = prefix + "-" + base64.RawURLEncoding.EncodeToString(secret[:])
	return nil
}

// makeQueue declares a queue that is not there. The queue is nil without an error if the name was taken meanwhile.
func (v *VHost) makeQueue(d QueueDeclare, owner Owner, r Rights) (*queue.Queue, error) {
	if err := v.checkDeadLetterExchange(d, r); err != nil {
		return nil, err
	}
	if err := v.validate(d); err != nil {
		return nil, err
	}
	if err := v.checkQueueLimits(d.Name); err != nil {
		return nil, err
	}
	e := v.queues.reserve(d.Name)
	if e == nil {
		return nil, nil
	}
	defer e.turn.Unlock()
	if err := v.checkThere(); err != nil {
		v.queues.release(d.Name, e)
		return nil, err
	}
	opts := queue.Options{
		Name: d.Name, Durable: d.Durable, Exclusive: d.Exclusive, AutoDelete: d.AutoDelete, Arguments: d.Arguments,
	}
	if d.Exclusive {
		opts.Owner, e.gone = uint64(owner), make(chan struct{})
	}
	if d.Durable { // others never come to the log, and need no number in it
		opts.ID = v.opts.Store.NextQueueID()
	}
	opts = v.completeQueue(opts)
	if err := v.addWindow(&opts, 0); err != nil {
		v.queues.release(d.Name, e)
		return nil, err
	}
	if d.Durable {
		if err := v.opts.Store.Commit(v.queueRecord(opts)); err != nil {
			v.queues.release(d.Name, e)
			return nil, err
		}
	}
	// Listed before it is visible: a connection that ends must find all its queues.
	q := queue.New(opts)
	if d.Exclusive {
		v.owned.add(q)
	}
	e.bearer.Store(q)
	v.obey(e, q) // a policy may have changed since the queue was given its settings
	v.tellQueue("queue.created", q, r)
	return q, nil
}

// completeQueue fills in what follows from the arguments and from where the queue is.
func (v *VHost) completeQueue(opts queue.Options) queue.Options {
	opts.VHost, opts.Ledger = v.opts.Name, &v.ledger
	opts.Forwarder, opts.Expired, opts.Overrun = v, v.retireExpired, v.noteOverrun
	opts.Log, opts.Budget, opts.Timings = v.opts.Store, v.opts.Budget, v.opts.Timings
	kind := v.kindOf(opts)
	fixed(&opts, kind)
	w := wishes{kind, opts.Arguments, v.policies.Load().apply(kind, opts.Name).Effective}
	opts.Settings = w.settings()
	v.warnDeadLetters(opts.Name, w, opts.Settings)
	return opts
}

// retireExpired takes a queue's name away that has closed itself because nobody used it.
func (v *VHost) retireExpired(q *queue.Queue) {
	if err := v.Retire(q); err != nil {
		v.opts.Log.Error("an expired queue is not removed", "vhost", v.opts.Name, "queue", q.Name(), "error", err)
	}
}

// checkDeadLetterExchange looks at that argument of a new queue: whoever names an exchange sends there what was in the queue.
func (v *VHost) checkDeadLetterExchange(d QueueDeclare, r Rights) error {
	value, ok := d.Arguments.Get(argDeadLetterExchange)
	if !ok {
		return nil
	}
	name, ok := value.(string)
	if !ok {
		return amqp.InvalidArgumentType(argDeadLetterExchange, v.queueResource(d.Name), value)
	}
	if err := r.Read(amqp.QueueResource, d.Name); err != nil {
		return err
	}
	return r.Write(amqp.ExchangeResource, name)
}

// CheckQueue is the passive queue.declare: it returns the queue if it is there and the connection may use it. Flags and arguments do not
// matter.
//
// [queue.declare passive]: any right on the name will do.
func (v *VHost) CheckQueue(name string, owner Owner, r Rights) (*queue.Queue, error) {
	if err := anyRight(r, amqp.QueueResource, name); err != nil {
		return nil, err
	}
	if q := v.queueNamed(name); q != nil && q.Delayed() {
		return q, nil // to be looked at
	}
	return v.Queue(name, owner)
}

// Queue finds a queue for a connection that wants to use it. The error is an *amqp.Error: 404, 405 for the exclusive queue of another, or 403 for
// the queue of an exchange's delayed messages.
func (v *VHost) Queue(name string, owner Owner) (*queue.Queue, error) {
	q := v.queueNamed(name)
	if q == nil {
		return nil, amqp.NoQueue(name, v.opts.Name)
	}
	if err := v.checkOwner(q, owner); err != nil {
		return nil, err
	}
	return q, nil
}

// HasQueue reports whether there is a queue of that name, whoever may use it.
func (v *VHost) HasQueue(name string) bool { return v.queueNamed(name) != nil }

// AnyQueue finds a queue whoever may use it: another's exclusive one and that of an exchange's delayed messages too. It is for those who look and
// do not use; nil: there is none.
func (v *VHost) AnyQueue(name string) *queue.Queue { return v.queueNamed(name) }

// queueNamed finds a queue that is there and has not closed itself, else nil.
func (v *VHost) queueNamed(name string) *queue.Queue {
	e := v.queues.find(name)
	if e == nil {
		return nil
	}
	if q := e.bearer.Load(); q != nil && !q.Closed() {
		return q
	}
	return nil
}

// checkOwner refuses the exclusive queue of another connection, and the broker's own.
//
// [queue.declare exclusive]
func (v *VHost) checkOwner(q *queue.Queue, owner Owner) error {
	if q.Delayed() {
		return amqp.InternalQueue(q.Name(), v.opts.Name)
	}
	if opts := q.Options(); opts.Exclusive && opts.Owner != uint64(owner) {
		return amqp.LockedQueue(opts.Name, v.opts.Name)
	}
	return nil
}
