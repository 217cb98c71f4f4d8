package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// committer writes the log: it takes what is pending as a group, writes it with one call, syncs, says that it is durable, and
// brings it into the index. There is no timer for what somebody waits for: while one sync runs, the next group gathers by itself.
// One goroutine does that all the time; who appends may do it instead while it sleeps, see Lead.
//
// What it does next depends on what is pending and on what is written but not synced:
//
//	a batch is pending               write, sync, tell, apply: at once
//	settlements alone are pending    write and apply, 20 ms after the first of them
//	written and not synced           sync, a second after it was written
//	all synced                       promise so, a second later, with a header without records
//
// All fields belong to who has the turn.
type committer struct {
	s    *Disk
	turn sync.Mutex
	seg  *segment
	pos  uint64 // where the next batch goes
	data uint64 // behind the last record
	safe uint64 // everything before this position is synced

	group   []*payload  // in hand
	written []*payload  // the group too: written since the last sync, kept in case the sync fails
	since   time.Time   // when the oldest of them was written, or when the last sync was
	dirty   bool        // something is written and not synced
	promise uint64      // the largest position that a header promises
	failed  error       // why nothing is written any more: what is lost must not seem durable with what would come behind it
	due     time.Time   // until when the goroutine means to sleep
	timer   *time.Timer // the goroutine's own

	head    [batchHead]byte
	staging []byte
	buffers [][]byte
}

// smallPart is the size in bytes up to which a part is copied together with its neighbours rather than written from where it is.
const smallPart = 2 << 10

// idlePromise is how long after the last write a header without records promises that it is synced.
const idlePromise = time.Second

// run works until the log is closed and everything is on disk, or until the disk fails.
func (c *committer) run() {
	c.timer = time.NewTimer(time.Hour)
	defer c.timer.Stop()
	for {
		wait, closed, err := c.step()
		switch {
		case err != nil:
			c.s.fail(err)
			return
		case wait > 0 && closed:
			return
		case wait > 0:
			c.sleep(wait)
		}
	}
}

// step does what there is to do, or returns how long there is nothing.
func (c *committer) step() (wait time.Duration, closed bool, err error) {
	c.turn.Lock()
	defer c.turn.Unlock()
	if c.failed != nil {
		return 0, true, c.failed
	}
	d, now := c.s.log.demand(), time.Now()
	if wait = c.wait(d, now); wait > 0 {
		c.due = now.Add(wait)
		return wait, d.closed, nil
	}
	switch {
	case d.pending:
		c.failed = c.commit()
	case c.dirty:
		c.failed = c.sync()
		c.finish()
	default:
		c.failed = c.writePromise()
	}
	return 0, d.closed, c.failed
}

// wait is how long there is nothing to do; zero when there is.
func (c *committer) wait(d demand, now time.Time) time.Duration {
	wait := time.Hour
	if d.urgent || d.closed && (d.pending || c.dirty) {
		return 0
	}
	if d.pending {
		wait = min(wait, d.lazySince.Add(lazyWrite).Sub(now))
	}
	if c.dirty {
		wait = min(wait, c.since.Add(lazySync).Sub(now))
	} else if c.promise < c.data && !d.closed {
		wait = min(wait, c.since.Add(idlePromise).Sub(now))
	}
	return max(wait, 0)
}

// sleep waits until something is appended, or until what is due anyway.
func (c *committer) sleep(wait time.Duration) {
	c.timer.Reset(wait)
	select {
	case <-c.s.log.wake:
	case <-c.timer.C:
	}
}

// commit writes one group, and syncs it if somebody waits for it.
func (c *committer) commit() error {
	if err := c.gather(); err != nil {
		return err
	}
	if err := c.write(c.group); err != nil {
		return err
	}
	return c.complete()
}

// complete syncs a group that is written, if somebody waits for it, and goes on with it.
func (c *committer) complete() error {
	urgent := slices.ContainsFunc(c.group, func(p *payload) bool { return !p.lazy })
	if urgent && c.dirty {
		if err := c.sync(); err != nil {
			return err
		}
	}
	c.finish()
	return nil
}

// finish brings what was written into the index, and lets go of what is synced.
func (c *committer) finish() {
	c.s.index.apply(c.seg, c.written)
	if !c.dirty {
		for _, p := range c.written {
			p.release()
		}
		clear(c.written)
		c.written = c.written[:0]
	}
	c.s.hook("applied")
}

// gather takes a group that fits into the segment, or opens the next one for it.
func (c *committer) gather() error {
	room := int(c.seg.size-c.seg.offset(c.pos)) - batchHead
	var need int
	c.group, need = c.s.log.take(c.group[:0], c.s.options.BatchSize, room)
	if len(c.group) > 0 {
		return nil
	}
	if err := c.roll(need); err != nil {
		return err
	}
	room = int(c.seg.size) - segmentHead - batchHead
	c.group, _ = c.s.log.take(c.group[:0], c.s.options.BatchSize, room)
	return nil
}

// write puts a group behind what is written already.
func (c *committer) write(group []*payload) error {
	c.wrote(group)
	err := c.writeAt(group)
	for isFull(err) { // nothing was synced or promised, so trying again is sound
		if err = c.awaitSpace(err); err != nil {
			return err
		}
		err = c.writeAt(group)
	}
	if err != nil {
		return c.retreat(err)
	}
	c.s.hook("written")
	return nil
}

// wrote notes that a group is no longer pending.
func (c *committer) wrote(group []*payload) {
	c.written = append(c.written, group...)
	if !c.dirty {
		c.dirty, c.since = true, time.Now()
	}
}

// writeAt lays a group out at the committer's position and writes it with its header.
func (c *committer) writeAt(group []*payload) error {
	records, size := 0, 0
	for _, p := range group {
		p.place(c.pos + batchHead + uint64(size))
		size += p.length()
		records += len(p.recs)
	}
	header := batchHeader{
		segment: c.seg.id, pos: c.pos, synced: c.safe, salt: c.seg.salt, size: uint32(size), records: uint32(records),
	}
	header.encode(c.head[:])
	c.layOut(group)
	offset := c.seg.offset(c.pos)
	end := c.overwrite(offset + int64(batchHead+size))
	start := time.Now()
	if err := c.seg.file.write(c.buffers, offset); err != nil {
		return fmt.Errorf("append to segment %d at %d: %w", c.seg.id, offset, err)
	}
	c.seg.overwrites = max(c.seg.overwrites, end)
	clear(c.buffers)
	c.promise = max(c.promise, c.safe)
	c.pos += uint64(batchHead + size)
	if records > 0 {
		c.data = c.pos
	}
	c.s.counters.batches.Add(1)
	c.s.counters.writeNanos.Add(int64(time.Since(start)))
	return nil
}

// layOut collects the header and the parts of a group into buffers. Small parts are copied together: a system call takes a
// limited number of buffers, and each costs more than copying a few bytes.
func (c *committer) layOut(group []*payload) {
	small := batchHead
	for _, p := range group {
		p.parts(func(part []byte) {
			if len(part) <= smallPart {
				small += len(part)
			}
		})
	}
	if cap(c.staging) < small {
		c.staging = make([]byte, 0, max(small, 2*cap(c.staging)))
	}
	c.staging = append(c.staging[:0], c.head[:]...)
	c.buffers = c.buffers[:0]
	from := 0
	flush := func() {
		if from < len(c.staging) {
			c.buffers = append(c.buffers, c.staging[from:])
			from = len(c.staging)
		}
	}
	for _, p := range group {
		p.parts(func(part []byte) {
			if len(part) <= smallPart {
				c.staging = append(c.staging, part...)
				return
			}
			flush()
			c.buffers = append(c.buffers, part)
		})
	}
	flush()
}

// sync makes everything that is written durable, and says so.
func (c *committer) sync() error {
	start := time.Now()
	if err := c.seg.file.sync(); err != nil {
		return c.retreat(fmt.Errorf("sync segment %d: %w", c.seg.id, err))
	}
	c.s.counters.syncs.Add(1)
	took := int64(time.Since(start))
	c.s.counters.lastSync.Store(took)
	c.s.counters.syncNanos.Add(took)
	c.settled()
	return nil
}

// settled notes that everything written is synced, and wakes who waits for it.
func (c *committer) settled() {
	c.dirty, c.safe, c.since = false, c.pos, time.Now()
	c.s.hook("synced")
	if n := len(c.written); n > 0 {
		bytes := 0
		for _, p := range c.written {
			bytes += p.length()
		}
		c.s.log.unsynced.Add(-int64(bytes))
		c.s.log.durable.Store(uint64(c.written[n-1].lsn))
		c.s.kick()
	}
}

// roll seals the segment and goes on in the next one, with room for need bytes of records.
func (c *committer) roll(need int) error {
	if c.dirty {
		if err := c.sync(); err != nil {
			return err
		}
		c.finish()
	}
	next, err := c.prepared(need)
	if err != nil {
		return err
	}
	c.advance(next, c.pos)
	return nil
}

// prepared gets a file for the next segment; while the disk is full it waits.
func (c *committer) prepared(need int) (preparedFile, error) {
	for {
		f, err := c.s.pool.take(int64(need + batchHead))
		if err == nil {
			return f, nil
		}
		if !isFull(err) {
			return f, err
		}
		if err = c.awaitSpace(err); err != nil {
			return f, err
		}
	}
}

// advance makes a prepared file the segment that is written, from a position on.
func (c *committer) advance(f preparedFile, pos uint64) {
	seg := &segment{id: f.id, pos: pos, prev: c.seg.id, salt: rand.Uint32(), size: f.size, file: f.file}
	if f.used {
		seg.overwrites = f.size
	}
	c.s.index.seal(c.seg, pos)
	c.seg, c.pos = seg, pos
	c.s.addSegment(seg)
	c.writeHeader()
	c.s.wakeKeeper()
	c.s.hook("rolled")
}

// writeHeader writes the segment's header; it is synced with the first batch, which repeats what recovery needs of it. If it
// can't be written, the first batch can't either, and that is where it is dealt with.
func (c *committer) writeHeader() {
	header := segmentHeader{id: c.seg.id, pos: c.seg.pos, prev: c.seg.prev, salt: c.seg.salt}
	if err := c.seg.file.write([][]byte{header.encode()}, 0); err != nil {
		c.s.logger.Error("write segment header", "segment", c.seg.id, "error", err)
	}
}

// retreat leaves a segment that refused a write or a sync. The system may have dropped what it could not write, so syncing again
// would prove nothing: what is not known to be on disk is still in memory and goes to a new segment, which begins at the last
// safe position and so hides whatever the old one holds behind it. If that fails too, the store has failed.
func (c *committer) retreat(cause error) error {
	c.s.logger.Error("disk error, going on in another segment", "segment", c.seg.id, "error", cause)
	need := 0
	for _, p := range c.written {
		need += p.length()
	}
	next, err := c.s.pool.take(int64(need + batchHead))
	if err != nil {
		return fmt.Errorf("%w, and no other segment: %w", cause, err)
	}
	c.seg.failed = true
	c.advance(next, c.safe)
	if err := c.writeAt(c.written); err != nil {
		return fmt.Errorf("%w, and again: %w", cause, err)
	}
	if err := c.seg.file.sync(); err != nil {
		return fmt.Errorf("%w, and again: %w", cause, err)
	}
	c.settled()
	return nil
}

// writePromise writes a header without records when nothing else comes: it promises that the last batch is synced, so that
// damage in it can be told from a torn write.
func (c *committer) writePromise() error {
	c.since = time.Now()
	if c.seg.size-c.seg.offset(c.pos) < batchHead {
		c.promise = c.safe // no room; the next segment will say it
		return nil
	}
	if err := c.writeAt(nil); err != nil {
		return c.retreat(err)
	}
	c.dirty = true
	return nil
}

// awaitSpace waits a while for space on a full disk. It returns an error when the store is to end.
func (c *committer) awaitSpace(cause error) error {
	c.s.setShortage(true)
	c.timer.Reset(spaceRetry)
	select {
	case <-c.s.abort:
		return cause
	case <-c.timer.C:
		return nil
	}
}
