package store

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A segment is one file of the log, or one of spilled messages. The life of a file of the log:
//
//	prepared   allocated or used before, under its new name, which is synced
//	written    by the committer, batch after batch
//	sealed     full, and all of it synced
//	saved      a checkpoint has its index, so a start need not read it
//	moved      few messages are left: they are in the root file, and the file is prepared again
//	punched    few are left, but large ones: they stay, and the space between them was given back
//	freed      no message is left: the root file forgets it, and the file is prepared again
//
// Nothing is ever appended to a file that was found at the start: what stands behind its last sound batch is not known.
type segment struct {
	id   uint64 // names the file; never used again
	pos  uint64 // of its first batch in the log
	prev uint64 // id of the segment before
	salt uint32
	size int64 // of the file

	// mu keeps the file in place while somebody reads it. The keeper alone takes it for writing, to take the file away.
	mu   sync.RWMutex
	file file // nil once its survivors are in the root file, or nobody needs it

	overwrites int64 // the committer's: bytes of the file, from its beginning, that were written before

	// Guarded by the index's mutex.
	end     uint64   // behind the last batch
	sealed  bool     // nothing is added any more, and all of it is on disk
	saved   bool     // a checkpoint has it: a start need not replay it
	moved   bool     // its survivors are in the root file
	punched bool     // its dead parts were given back; survivors stand where they were
	touched bool     // a message was settled since the keeper looked
	refs    int      // live messages, counted once for each queue
	disk    int64    // and about how many bytes of the file they hold
	fade    fade     // how fast that shrinks, of a sparse segment
	chunks  []*chunk // all that were made for it; the dead are dropped now and then
	failed  bool     // the disk refused it once: the file is not used again
	spilled bool
}

const (
	segmentSuffix = ".seg"
	spillSuffix   = ".spill"
)

// The names sort by id, which is nearly the order of the log.
func segmentName(id uint64) string { return fmt.Sprintf("%016x%s", id, segmentSuffix) }
func spillName(id uint64) string   { return fmt.Sprintf("%016x%s", id, spillSuffix) }

// parseSegmentName returns the id in a segment's name; ok says whether it is one.
func parseSegmentName(name string) (id uint64, ok bool) {
	hex, found := strings.CutSuffix(name, segmentSuffix)
	if !found || len(hex) != 16 {
		return 0, false
	}
	id, err := strconv.ParseUint(hex, 16, 64)
	return id, err == nil
}

// offset is the place in the file of a position of the log.
func (seg *segment) offset(pos uint64) int64 { return segmentHead + int64(pos-seg.pos) }

// position is the inverse of offset.
func (seg *segment) position(offset int64) uint64 { return seg.pos + uint64(offset-segmentHead) }

// detach takes the file away once nobody reads it any more.
func (seg *segment) detach() file {
	seg.mu.Lock()
	defer seg.mu.Unlock()
	f := seg.file
	seg.file = nil
	return f
}

// pool prepares segment files ahead of their use: allocated, or used before, under their new name, with the name synced. So
// taking one costs no metadata, and the space for what is already accepted is there before the disk is full.
type pool struct {
	fs   fileSystem
	size int64
	want int // files to have ready
	most int // files to keep when segments are freed

	mu     sync.Mutex
	ready  []preparedFile
	nextID uint64
	failed uint64        // attempts that found no space
	wake   chan struct{} // a file was taken
}

// preparedFile is a file that waits to become a segment.
type preparedFile struct {
	id   uint64
	size int64
	file file
	used bool // it was a segment before
}

// take returns a file for a segment that has room for need bytes of batches.
func (p *pool) take(need int64) (preparedFile, error) {
	defer p.kick()
	p.mu.Lock()
	if len(p.ready) > 0 && need+segmentHead <= p.size {
		f := p.ready[0]
		p.ready = p.ready[1:]
		p.mu.Unlock()
		return f, nil
	}
	p.mu.Unlock()
	return p.prepare(max(p.size, need+segmentHead))
}

// kick tells the preparer that a file is wanted.
func (p *pool) kick() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// prepare makes a new file.
func (p *pool) prepare(size int64) (preparedFile, error) {
	id := p.newID()
	f, err := p.fs.create(segmentName(id), size)
	if err == nil {
		if err = p.fs.syncDir(); err == nil {
			return preparedFile{id: id, size: size, file: f}, nil
		}
		err = errors.Join(err, f.Close(), p.fs.remove(segmentName(id)))
	}
	p.mu.Lock()
	p.failed++
	p.mu.Unlock()
	return preparedFile{}, fmt.Errorf("prepare segment %d: %w", id, diskError(err))
}

// newID gives the id for a file, of the log or spilled.
func (p *pool) newID() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.nextID++
	return p.nextID - 1
}

// next is the id that the next new file gets.
func (p *pool) next() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.nextID
}

// fill prepares files until enough are ready.
func (p *pool) fill() error {
	for p.count() < p.want {
		f, err := p.prepare(p.size)
		if err != nil {
			return err
		}
		p.add(f)
	}
	return nil
}

// count is the number of files that are ready.
func (p *pool) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.ready)
}

// stats returns the numbers for Stats.
func (p *pool) stats() (ready int, failed uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.ready), p.failed
}

// add puts a file at the end of those that are ready.
func (p *pool) add(f preparedFile) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready = append(p.ready, f)
}

// recycle takes a segment's file that nobody needs: it is kept under a new name, or removed. Overwriting it later changes no
// metadata, which makes syncs cheaper than those of a new file.
func (p *pool) recycle(id uint64, size int64, f file) error {
	if size != p.size || p.count() >= p.most {
		return errors.Join(f.Close(), p.fs.remove(segmentName(id)))
	}
	next := p.newID()
	if err := p.fs.rename(segmentName(id), segmentName(next)); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := p.fs.syncDir(); err != nil {
		return errors.Join(err, f.Close())
	}
	p.add(preparedFile{id: next, size: size, file: f, used: true})
	return nil
}

// trim removes files that are ready beyond the number wanted.
func (p *pool) trim() error {
	p.mu.Lock()
	var spare []preparedFile
	if len(p.ready) > p.want {
		spare = p.ready[p.want:]
		p.ready = p.ready[:p.want:p.want]
	}
	p.mu.Unlock()
	var err error
	for _, f := range spare {
		err = errors.Join(err, f.file.Close(), p.fs.remove(segmentName(f.id)))
	}
	return err
}

// close closes the files that are ready; they stay in the folder for the next start.
func (p *pool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var err error
	for _, f := range p.ready {
		err = errors.Join(err, f.file.Close())
	}
	p.ready = nil
	return err
}

// diskError adds ErrFull to what the system calls a full disk.
func diskError(err error) error {
	if isFull(err) {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}

// byPosition sorts segments into the order of the log, empty ones first.
func byPosition(segments []*segment) {
	slices.SortFunc(segments, func(a, b *segment) int {
		return cmp.Or(cmp.Compare(a.pos, b.pos), cmp.Compare(a.end, b.end), cmp.Compare(a.id, b.id))
	})
}

// removeQuietly removes a file whose absence is as good.
func removeQuietly(fs fileSystem, name string) error {
	if err := fs.remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
