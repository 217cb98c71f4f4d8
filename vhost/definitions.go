package vhost

import (
	"crypto/sha256"
	"fmt"

	"leveret/amqp"
	"leveret/exchange"
	"leveret/queue"
	"leveret/store"
)

// A definition in the store is two field tables, one behind the other. The arguments are not a field of the first: a client may nest them as
// deep as tables go, and one level more could not be read back.
//
//	bucket                 key       fields                                    then
//	"exchanges of VHOST"   name      type, auto-delete, internal, window       arguments
//	"queues of VHOST"      name      id, auto-delete, delayed, window          arguments
//	"bindings of VHOST"    identity  source, destination, to-exchange, key     arguments
//
// Fields may be added; what is not there reads as zero.

const (
	fieldType        = "type"
	fieldAutoDelete  = "auto-delete"
	fieldInternal    = "internal"
	fieldID          = "id"
	fieldSource      = "source"
	fieldDestination = "destination"
	fieldToExchange  = "to-exchange"
	fieldKey         = "key"
	fieldDelayed     = "delayed"
	fieldWindow      = "window"
)

// Each virtual host has buckets of its own, so that to delete it is to delete these.
func (v *VHost) exchangeBucket() string { return "exchanges of " + v.opts.Name }
func (v *VHost) queueBucket() string    { return "queues of " + v.opts.Name }
func (v *VHost) bindingBucket() string  { return "bindings of " + v.opts.Name }

// commit makes changes durable; no changes cost nothing.
func (v *VHost) commit(changes []store.Change) error {
	if len(changes) == 0 {
		return nil
	}
	return v.opts.Store.Commit(changes...)
}

// record is a definition as the store keeps it: two field tables, one behind the other. Arguments stay a table of their own,
// since clients choose their names.
func record(fields, arguments amqp.Table) []byte {
	return amqp.AppendTable(amqp.AppendTable(nil, fields), arguments)
}

// parseRecord takes it apart.
func parseRecord(value []byte) (fields, arguments amqp.Table, err error) {
	fields, rest, err := amqp.DecodeTable(value)
	if err == nil {
		arguments, _, err = amqp.DecodeTable(rest)
	}
	return fields, arguments, err
}

// exchangeRecord is the change that keeps an exchange. Only durable ones are kept, so that it is durable need not be said.
func (v *VHost) exchangeRecord(x *exchange.Exchange) store.Change {
	o := x.Options()
	fields := amqp.Table{
		{Name: fieldType, Value: o.Type}, {Name: fieldAutoDelete, Value: o.AutoDelete}, {Name: fieldInternal, Value: o.Internal},
		{Name: fieldWindow, Value: windowID(x.Settings().Window)},
	}
	return store.Change{Bucket: v.exchangeBucket(), Key: o.Name, Value: record(fields, o.Arguments)}
}

// forgetExchange is the change that removes it; a change without a value deletes.
func (v *VHost) forgetExchange(name string) store.Change {
	return store.Change{Bucket: v.exchangeBucket(), Key: name}
}

// queueRecord is the change that keeps a queue. By the ID the store knows its messages; it is never given again.
func (v *VHost) queueRecord(q queue.Options) store.Change {
	fields := amqp.Table{
		{Name: fieldID, Value: int64(q.ID)}, {Name: fieldAutoDelete, Value: q.AutoDelete}, {Name: fieldDelayed, Value: q.Delayed},
		{Name: fieldWindow, Value: windowID(q.Window)},
	}
	return store.Change{Bucket: v.queueBucket(), Key: q.Name, Value: record(fields, q.Arguments)}
}

// forgetQueue is the change that removes it. Its messages are the log's to forget.
func (v *VHost) forgetQueue(name string) store.Change {
	return store.Change{Bucket: v.queueBucket(), Key: name}
}

// bindingRecord is the change that keeps a binding between two that are durable.
func (v *VHost) bindingRecord(source string, b *exchange.Binding) store.Change {
	fields := amqp.Table{
		{Name: fieldSource, Value: source}, {Name: fieldDestination, Value: b.Destination.Name()},
		{Name: fieldToExchange, Value: b.ToExchange()}, {Name: fieldKey, Value: b.Key},
	}
	return store.Change{Bucket: v.bindingBucket(), Key: bindingKey(source, b), Value: record(fields, b.Arguments)}
}

// forgetBinding is the change that removes it.
func (v *VHost) forgetBinding(source string, b *exchange.Binding) store.Change {
	return store.Change{Bucket: v.bindingBucket(), Key: bindingKey(source, b)}
}

// bindingKey is equal for equal bindings alone: kind of the destination, then the names and the key as short strings, then a hash of the
// arguments, which may be longer than a key of the store.
func bindingKey(source string, b *exchange.Binding) string {
	key := []byte{'q'}
	if b.ToExchange() {
		key[0] = 'e'
	}
	for _, part := range []string{b.Destination.Name(), source, b.Key} {
		key = append(append(key, byte(len(part))), part...)
	}
	if arguments := b.CanonicalArguments(); arguments != "" {
		sum := sha256.Sum256([]byte(arguments))
		key = append(key, sum[:]...)
	}
	return string(key)
}

// load restores exchanges, queues and bindings, in this order, and then what exchanges have by their settings. It runs before anybody else knows the virtual host.
func (v *VHost) load() error {
	if err := v.loadRecords(v.exchangeBucket(), v.loadExchange); err != nil {
		return err
	}
	if err := v.loadQueues(); err != nil {
		return err
	}
	if err := v.loadBindings(); err != nil {
		return err
	}
	return v.settleExchanges()
}

// loadRecords calls each for every record of a bucket.
func (v *VHost) loadRecords(bucket string, each func(name string, fields, arguments amqp.Table) error) error {
	return v.opts.Store.Load(bucket, func(key string, value []byte) error {
		fields, arguments, err := parseRecord(value)
		if err == nil {
			err = each(key, fields, arguments)
		}
		if err != nil {
			return fmt.Errorf("load %q of the %s: %w", key, bucket, err)
		}
		return nil
	})
}

// loadExchange makes an exchange of its record at the start, before anybody can connect.
func (v *VHost) loadExchange(name string, fields, arguments amqp.Table) error {
	return v.restoreExchange(exchange.Options{
		Name: name, Type: get[string](fields, fieldType), Durable: true, AutoDelete: get[bool](fields, fieldAutoDelete),
		Internal: get[bool](fields, fieldInternal), Arguments: arguments,
	}, uint64(get[int64](fields, fieldWindow)))
}

// restoreExchange makes one that is there already as far as the store is concerned. window is the number of its duplicates'
// window, 0 for none.
func (v *VHost) restoreExchange(opts exchange.Options, window uint64) error {
	x, err := v.newExchange(opts, window)
	if err != nil {
		return err
	}
	if e := v.exchanges.reserve(opts.Name); e != nil {
		v.announceExchange(e, x)
		e.turn.Unlock()
	}
	return nil
}

// loadQueues restores the queues with what the store holds for them.
func (v *VHost) loadQueues() error {
	returned, err := v.loadReturned()
	if err != nil {
		return err
	}
	queues, messages := 0, uint64(0)
	err = v.loadRecords(v.queueBucket(), func(name string, fields, arguments amqp.Table) error {
		opts := v.completeQueue(queue.Options{
			Name: name, ID: uint64(get[int64](fields, fieldID)), Durable: true, AutoDelete: get[bool](fields, fieldAutoDelete), Arguments: arguments,
			Delayed: get[bool](fields, fieldDelayed),
		})
		if err := v.addWindow(&opts, uint64(get[int64](fields, fieldWindow))); err != nil {
			return err
		}
		state := v.opts.Recovery.claim(opts.ID)
		q, err := queue.Recover(opts, state, returned[returnedKey(opts.ID)])
		if err != nil {
			return err
		}
		if e := v.queues.reserve(name); e != nil {
			e.bearer.Store(q)
			v.obey(e, q)
			e.turn.Unlock()
		}
		queues++
		messages += state.Messages
		return nil
	})
	if err != nil {
		return err
	}
	if queues > 0 {
		v.opts.Log.Info("queues recovered", "vhost", v.opts.Name, "queues", queues, "messages", messages)
	}
	return v.loadPaused()
}

// loadBindings restores the bindings. A record whose source or destination is gone, which a crash may leave behind, is deleted.
func (v *VHost) loadBindings() error {
	var orphans []store.Change
	err := v.opts.Store.Load(v.bindingBucket(), func(key string, value []byte) error {
		fields, arguments, err := parseRecord(value)
		if err != nil {
			return fmt.Errorf("load %q of the %s: %w", key, v.bindingBucket(), err)
		}
		restored, err := v.restoreBinding(fields, arguments)
		if !restored {
			orphans = append(orphans, store.Change{Bucket: v.bindingBucket(), Key: key})
		}
		return err
	})
	if err != nil {
		return err
	}
	return v.commit(orphans)
}

// restoreBinding makes a binding of its record; false: an end of it is not there, as a crash can leave it.
func (v *VHost) restoreBinding(fields, arguments amqp.Table) (restored bool, err error) {
	b := exchange.Binding{Key: get[string](fields, fieldKey), Arguments: arguments}
	name := get[string](fields, fieldDestination)
	var p *place
	if get[bool](fields, fieldToExchange) {
		if e, x := v.liveExchange(name); x != nil {
			p, b.Destination = &e.place, x
		}
	} else if e := v.queues.find(name); e != nil {
		p, b.Destination = &e.place, e.bearer.Load()
	}
	x := v.Exchange([]byte(get[string](fields, fieldSource)))
	if p == nil || x == nil {
		return false, nil // not an error: the ends go in one commit with their records, but the record of a binding may come late
	}
	p.addSource(x)
	return true, x.Bind(b)
}

// get returns a field of a record, or the zero value when it lacks or has another type.
func get[T any](fields amqp.Table, name string) T {
	value, _ := fields.Get(name)
	v, _ := value.(T)
	return v
}
