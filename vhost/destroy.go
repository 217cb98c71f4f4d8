package vhost

import (
	"leveret/amqp"
	"leveret/queue"
	"leveret/store"
)

// buckets are those of the store that hold what belongs to the virtual host of this name. Whoever keeps more in the store for a virtual host
// adds its bucket here, or it would be found again by the next virtual host of the name.
func buckets(name string) []string {
	v := VHost{opts: Options{Name: name}}
	return []string{v.bindingBucket(), v.exchangeBucket(), v.queueBucket(), v.returnedBucket(), v.pausedBucket(), v.parameterBucket()}
}

// Destroy ends the virtual host: its queues close with their messages, its exchanges and bindings go, and nothing of it is left in the store.
// No connection may be inside any more. Declares that are under way are waited for; those that come later are refused. An error is the
// store's; what is left over then is removed by Wipe at the next start.
func (v *VHost) Destroy() error {
	v.gone.Store(true)
	for _, e := range v.queues.list() {
		v.destroyQueue(e)
	}
	for _, e := range v.exchanges.list() {
		e.turn.Lock()
		if x := e.bearer.Load(); x != nil {
			x.Delete(false)
			v.dropWindow(x.Settings().Window)
			v.exchanges.release(x.Name(), e)
		}
		e.turn.Unlock()
	}
	v.graph.Add(1)
	return Wipe(v.opts.Store, v.opts.Name)
}

// destroyQueue closes a queue and frees its name. Its records are not looked at: they go together with all others.
func (v *VHost) destroyQueue(e *entry[queue.Queue]) {
	e.wait() // whoever declares it may be about to make it visible
	q := e.bearer.Load()
	if q == nil {
		return
	}
	_, _ = q.Delete(false, false) // without a condition it can only be closed already
	e.turn.Lock()
	defer e.turn.Unlock()
	if e.bearer.Load() != q {
		return // somebody else found it closed, and retired it
	}
	for _, x := range e.sources {
		x.UnbindAll(q)
	}
	e.sources = nil
	if q.Durable() {
		v.opts.Store.DropQueue(q.Options().ID)
		v.dropWindow(q.Window())
	}
	v.owned.remove(q)
	v.queues.release(q.Name(), e)
	v.tellQueue("queue.deleted", q, nil)
}

// wipedAtOnce is how many records one commit removes. It bounds the time for which others wait for the same transaction.
const wipedAtOnce = 1000

// Wipe removes from the store what belongs to the virtual host of this name. The messages of its queues are not touched: nobody claims them
// at the next start, so they are dropped then, if not before.
func Wipe(s store.Store, name string) error {
	for _, bucket := range buckets(name) {
		var changes []store.Change
		err := s.Load(bucket, func(key string, _ []byte) error {
			changes = append(changes, store.Change{Bucket: bucket, Key: key})
			return nil
		})
		if err != nil {
			return err
		}
		for len(changes) > 0 {
			n := min(len(changes), wipedAtOnce)
			if err := s.Commit(changes[:n]...); err != nil {
				return err
			}
			changes = changes[n:]
		}
	}
	return nil
}

// checkThere refuses to make anything in a virtual host that is being deleted. It is called with the name reserved: either this sees that
// the end has begun, or the end sees the name.
func (v *VHost) checkThere() error {
	if v.gone.Load() {
		return amqp.NoVHost(v.opts.Name)
	}
	return nil
}
