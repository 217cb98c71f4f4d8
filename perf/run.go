package perf

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"leveret/amqp"
)

// run is one measurement, from its connections to its report:
//
//	connect    declare queues, open every connection; nobody works yet
//	start      consumers subscribe, producers publish, each in goroutines of its own
//	supervise  until the time or the count is up, or something fails; then producers stop and wait for their confirms
//	drain      until what was published has arrived, or nothing arrives any more
//	end        readers are interrupted, connections closed
//	report     what producers and consumers have counted
//	cleanUp    the run's own queues go
type run struct {
	options Options
	target  target
	id      uint64 // stands in every body
	started time.Time
	queues  []string
	ours    bool // the queues are to be deleted at the end

	producers []*producer
	consumers []*consumer

	stop       chan struct{} // closed when publishing is to end
	stopOnce   sync.Once
	failed     chan struct{} // closed at the first error
	failOnce   sync.Once
	err        error       // the first error; read it after failed is closed
	isEnding   atomic.Bool // readers that are interrupted have nothing to complain about
	publishers sync.WaitGroup
	readers    sync.WaitGroup
	taken      atomic.Uint64 // deliveries that came, as long as they are limited
}

// wantsMore counts one more delivery, and reports whether it is among those that the run is to consume. With producers that is all there are.
func (r *run) wantsMore() bool {
	return r.options.Producers > 0 || r.options.Count == 0 || r.taken.Add(1) <= r.options.Count
}

// Run makes the load and measures it. progress, if not nil, is called once a second from Run's goroutine. When ctx ends, publishing stops
// and Run reports what was measured until then. An error comes with the report of what went before it, if it came that far.
func Run(ctx context.Context, o Options, progress func(Progress)) (*Report, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	t, err := parseURI(o.URI)
	if err != nil {
		return nil, err
	}
	r := &run{options: o, target: t, stop: make(chan struct{}), failed: make(chan struct{})}
	var id [8]byte
	rand.Read(id[:])
	r.id = binary.BigEndian.Uint64(id[:])
	r.nameQueues()
	defer r.cleanUp()
	if err := r.connect(ctx); err != nil {
		r.end()
		return nil, err
	}
	r.start()
	published := r.supervise(ctx, progress)
	r.drain(ctx)
	r.end()
	return r.report(published), errors.Join(r.err, r.writeConfirmed())
}

// nameQueues gives every run names of its own, so that one that was killed does not leave messages to the next.
func (r *run) nameQueues() {
	name := r.options.Queue
	if name == "" {
		name = fmt.Sprintf("perf.%016x", r.id)
	}
	for i := range r.options.Queues {
		if r.options.Queues == 1 {
			r.queues = append(r.queues, name)
		} else {
			r.queues = append(r.queues, fmt.Sprintf("%s.%d", name, i+1))
		}
	}
}

// now is the run's clock, in nanoseconds from its start.
func (r *run) now() int64 { return int64(time.Since(r.started)) }

// stopping reports whether publishing is over. Producers ask before each write.
func (r *run) stopping() bool {
	select {
	case <-r.stop:
		return true
	default:
		return false
	}
}

// ending reports whether the readers are being interrupted, so that the error they get is none.
func (r *run) ending() bool { return r.isEnding.Load() }

// pause waits with a timer of the caller's. It is false when the run stops meanwhile.
func (r *run) pause(timer *time.Timer, d time.Duration) bool {
	timer.Reset(d)
	select {
	case <-timer.C:
		return true
	case <-r.stop:
		return false
	}
}

// fail ends the run with its first error.
func (r *run) fail(err error) {
	if err == nil {
		return
	}
	r.failOnce.Do(func() {
		r.err = err
		close(r.failed)
		r.stopOnce.Do(func() { close(r.stop) })
	})
}

// connect declares the queues and opens all connections.
func (r *run) connect(ctx context.Context) error {
	c, err := dial(ctx, r.target, &r.options)
	if err != nil {
		return err
	}
	err = r.declare(c)
	c.close()
	if err != nil {
		return err
	}
	for i := range r.options.Consumers {
		if err := r.addConsumer(ctx, i); err != nil {
			return fmt.Errorf("consumer %d: %w", i+1, err)
		}
	}
	for i := range r.options.Producers {
		if err := r.addProducer(ctx, i); err != nil {
			return fmt.Errorf("producer %d: %w", i+1, err)
		}
	}
	return nil
}

// declare makes the queues, or looks whether they are there. Those with a name of this run's own are deleted again, whatever comes next.
func (r *run) declare(c *client) error {
	r.ours = r.options.Queue == "" && !r.options.Passive
	for _, name := range r.queues {
		m := &amqp.QueueDeclare{Queue: name, Passive: r.options.Passive, Durable: r.options.Durable, Arguments: r.options.Arguments}
		if _, err := c.call(m, amqp.MethodQueueDeclareOk); err != nil {
			return err
		}
	}
	return nil
}

// addConsumer opens the connection of consumer i. With more queues than consumers each one consumes from several.
func (r *run) addConsumer(ctx context.Context, i int) error {
	c, err := dial(ctx, r.target, &r.options)
	if err != nil {
		return err
	}
	s := &consumer{run: r, client: c}
	if !r.options.AutoAck {
		s.ackEvery = uint64(r.options.AckEvery)
	}
	r.consumers = append(r.consumers, s)
	if r.options.Prefetch == 0 {
		return nil
	}
	_, err = c.call(&amqp.BasicQos{PrefetchCount: uint16(r.options.Prefetch)}, amqp.MethodBasicQosOk)
	return err
}

// subscribe starts the deliveries of consumer i, which begin before the broker's answers: so nothing is read here.
func (r *run) subscribe(i int) error {
	c := r.consumers[i].client
	for _, queue := range share(r.queues, i, r.options.Consumers) {
		c.conn.SetWriteDeadline(time.Now().Add(c.timeout))
		if err := c.send(channelNumber, &amqp.BasicConsume{Queue: queue, NoAck: r.options.AutoAck}); err != nil {
			return fmt.Errorf("consumer %d: %w", i+1, err)
		}
	}
	return nil
}

// addProducer opens the connection of producer i and encodes its messages.
func (r *run) addProducer(ctx context.Context, i int) error {
	c, err := dial(ctx, r.target, &r.options)
	if err != nil {
		return err
	}
	producers := uint64(r.options.Producers)
	p := &producer{run: r, client: c, number: uint64(i), template: newTemplate(share(r.queues, i, r.options.Producers), &r.options, r.id, c.frameMax)}
	if r.options.Rate > 0 {
		p.step = max(1, int64(producers)*int64(time.Second)/int64(r.options.Rate))
		p.phase = p.step / int64(producers) * int64(i)
	}
	// The count is divided evenly; the first producers take one more each if it does not go up.
	if p.limit = r.options.Count / producers; uint64(i) < r.options.Count%producers {
		p.limit++
	}
	r.producers = append(r.producers, p)
	if r.options.Window == 0 {
		return nil
	}
	p.window = newWindow(r.options.Window)
	p.window.confirms.keep = r.options.ConfirmedLog != nil
	_, err = c.call(&amqp.ConfirmSelect{}, amqp.MethodConfirmSelectOk)
	return err
}

// share is the part of the queues that one of several workers takes: every n-th, or one that others have too.
func share(queues []string, worker, workers int) []string {
	if workers >= len(queues) {
		return queues[worker%len(queues):][:1]
	}
	var own []string
	for i := worker; i < len(queues); i += workers {
		own = append(own, queues[i])
	}
	return own
}

// start lets everybody work.
func (r *run) start() {
	r.started = time.Now()
	for i, s := range r.consumers {
		r.fail(r.subscribe(i))
		r.readers.Go(func() { r.fail(s.consume()) })
	}
	for _, p := range r.producers {
		if r.options.Count > 0 && p.limit == 0 {
			continue // fewer messages than producers
		}
		r.readers.Go(func() { r.fail(p.read()) })
		r.publishers.Go(func() { r.fail(p.publish()) })
	}
}

// supervise waits until publishing is over, for whatever reason, and returns how long it took.
func (r *run) supervise(ctx context.Context, progress func(Progress)) time.Duration {
	published := make(chan struct{})
	go func() {
		r.publishers.Wait()
		close(published)
	}()
	r.watch(ctx, published, progress)
	duration := time.Since(r.started)
	r.stopOnce.Do(func() { close(r.stop) })
	for _, p := range r.producers {
		p.client.conn.SetWriteDeadline(time.Now().Add(time.Second)) // a write that the broker holds up
	}
	<-published
	return duration
}

// watch returns when the time or the count is up, or nothing more can come.
func (r *run) watch(ctx context.Context, published <-chan struct{}, progress func(Progress)) {
	var timeUp <-chan time.Time
	if r.options.Duration > 0 {
		timer := time.NewTimer(r.options.Duration)
		defer timer.Stop()
		timeUp = timer.C
	}
	if r.options.Producers == 0 {
		published = nil
	}
	second := time.NewTicker(time.Second)
	defer second.Stop()
	enough := time.NewTicker(enoughInterval)
	defer enough.Stop()
	var meter meter
	for {
		select {
		case <-ctx.Done():
			return
		case <-timeUp:
			return
		case <-published:
			return
		case <-r.failed:
			return
		case <-second.C:
			if progress != nil {
				progress(meter.progress(r))
			}
		case <-enough.C:
			if r.options.Producers == 0 && r.options.Count > 0 && r.count().received >= r.options.Count {
				return
			}
		}
	}
}

// enoughInterval is how often it is looked whether all has come that is waited for.
const enoughInterval = 20 * time.Millisecond

// drain waits for the deliveries that are still to come, as long as they do come.
func (r *run) drain(ctx context.Context) {
	if r.options.Producers == 0 || r.options.Consumers == 0 {
		return
	}
	tick := time.NewTicker(enoughInterval)
	defer tick.Stop()
	began := r.now()
	for {
		c := r.count()
		if c.settled() >= c.published {
			return
		}
		if r.now()-max(began, c.last) > int64(r.options.Timeout) {
			return // the report says how many are missing
		}
		select {
		case <-ctx.Done():
			return
		case <-r.failed:
			return
		case <-tick.C:
		}
	}
}

// end interrupts everybody who reads, and closes all connections.
func (r *run) end() {
	r.isEnding.Store(true)
	clients := r.clients()
	for _, c := range clients {
		c.interrupt()
	}
	r.readers.Wait()
	var closing sync.WaitGroup
	for _, c := range clients {
		closing.Go(c.close)
	}
	closing.Wait()
}

// clients are the connections of everybody.
func (r *run) clients() []*client {
	var all []*client
	for _, s := range r.consumers {
		all = append(all, s.client)
	}
	for _, p := range r.producers {
		all = append(all, p.client)
	}
	return all
}

// cleanUp deletes the queues that carry this run's own name. Nothing depends on it, so errors are passed over.
func (r *run) cleanUp() {
	if !r.ours {
		return
	}
	c, err := dial(context.Background(), r.target, &r.options)
	if err != nil {
		return
	}
	defer c.close()
	for _, name := range r.queues {
		_, err := c.call(&amqp.QueueDelete{Queue: name}, amqp.MethodQueueDeleteOk)
		var closed *ClosedError
		if errors.As(err, &closed) {
			return
		}
	}
}
