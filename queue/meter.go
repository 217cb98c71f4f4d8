package queue

import (
	"time"

	"leveret/amqp"
)

// meter measures how long messages wait and how long they take, without a cost for each: at most once a millisecond it looks at the first and the
// last message of what the queue does at that moment, and takes them for all since the last look. Owned by whoever runs the queue.
type meter struct {
	next  time.Duration // from when on it looks again at what it delivered to consumers, since the queue's first delivery
	first int64         // Unix ms at which the first message that this turn delivered was published; 0: it had been delivered before
	last  int64         // and the last
	waits tempo
	takes tempo
}

// tempo says when a kind of duration was last looked at, and how many there were by then.
type tempo struct {
	at    int64 // ms
	count uint64
}

// due returns how many durations the next look stands for; 0: it is not time for one.
func (t *tempo) due(now int64, count uint64) uint64 {
	if now == t.at || count <= t.count {
		return 0
	}
	fresh := count - t.count
	t.at, t.count = now, count
	return fresh
}

// timings are what a queue shows of its durations; it has none before its first delivery.
type timings struct{ wait, processing recent }

// timings makes room for durations.
func (q *Queue) timings() *timings {
	t := q.stats.timings.Load()
	if t == nil {
		t = new(timings)
		q.stats.timings.Store(t)
	}
	return t
}

// Wait returns how long the messages of the last minutes waited, from their publish to their first delivery. Any goroutine may call it.
func (q *Queue) Wait(now time.Time) Histogram {
	return q.recently(now, func(t *timings) *recent { return &t.wait })
}

// Processing returns how long clients took for the messages of the last minutes, from delivery to ack. Any goroutine may call it.
func (q *Queue) Processing(now time.Time) Histogram {
	return q.recently(now, func(t *timings) *recent { return &t.processing })
}

func (q *Queue) recently(now time.Time, of func(*timings) *recent) (h Histogram) {
	if t := q.stats.timings.Load(); t != nil {
		h = of(t).histogram(now.UnixMilli())
	}
	return h
}

// noteFirst notes when the first message that this turn delivers was published.
func (k *meter) noteFirst(published int64, redelivered bool) {
	k.first, k.last = 0, 0
	if !redelivered {
		k.first = published
	}
}

// noteLast notes the last message that this turn has delivered so far.
func (k *meter) noteLast(m amqp.Message, redelivered bool) {
	if !redelivered {
		k.last = m.Published()
	}
}

// service is what a queue that has delivered knows of its deliveries.
type service struct {
	began   time.Time
	meter   meter
	holding holding
}

// serving notes that the queue delivers: most queues of a broker that has many never do, and need no room for that.
func (q *Queue) serving() {
	if q.service == nil {
		q.service = &service{began: time.Now()}
	}
}

// measureWaits is called in a turn that delivered to consumers.
func (q *Queue) measureWaits() {
	since := time.Since(q.service.began) // half of what time.Now costs
	if k := &q.service.meter; since >= k.next {
		k.next = since + time.Millisecond
		q.measureWait(time.Now().UnixMilli())
	}
	if q.flowing() > FlowLimit {
		q.mailbox.lately = time.Now()
	}
}

// measureWait looks at what the turn delivered.
func (q *Queue) measureWait(now int64) {
	k, t := &q.service.meter, &q.counted
	if k.first == 0 && k.last == 0 {
		return
	}
	times := k.waits.due(now, t.Delivered+t.DeliveredAuto+t.Got+t.GotAuto-t.Redelivered)
	if times == 0 {
		return
	}
	if k.first == 0 {
		k.first = k.last
	}
	if k.last == 0 {
		k.last = k.first
	}
	record(&q.timings().wait, &q.opts.Timings.Wait, now, now-k.first, now-k.last, times)
}

// measureProcessing looks at an ack, if its channel knows when it had delivered.
func (q *Queue) measureProcessing(s *Settlement) {
	if s.at == 0 {
		return
	}
	if times := q.service.meter.takes.due(s.at, q.counted.Acked); times > 0 {
		record(&q.timings().processing, &q.opts.Timings.Processing, time.Now().UnixMilli(), s.at-s.first, s.at-s.last, times)
	}
}

// record counts two durations in ms, each for half of the times.
func record(own *recent, all *Durations, now, first, last int64, times uint64) {
	half := times / 2
	own.add(now, first, times-half)
	all.add(first, times-half)
	if half > 0 {
		own.add(now, last, half)
		all.add(last, half)
	}
}
