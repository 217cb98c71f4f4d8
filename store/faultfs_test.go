package store

import (
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"syscall"
)

const sector = 512

// faultFS is a folder in memory that knows what is on disk and what is only in the system's cache. It can fail on demand, and
// show what a power cut would leave.
type faultFS struct {
	mu      sync.Mutex
	names   map[string]*faultFile // as the process sees them
	onDisk  map[string]*faultFile // as they were when the folder was last synced
	lying   bool                  // sync does nothing: a store with syncing switched off
	space   int64                 // bytes that files may hold; negative: no limit
	fault   func(op, name string) error
	observe func(op, name string) // before each operation that changes something

	badSector func(name string, from, to int64) bool // reads of such a part fail
}

// faultFile is one file: its content as the process sees it, and what of it is on disk.
type faultFile struct {
	fs     *faultFS
	name   string
	data   []byte
	synced []byte
	dirty  map[int]bool // sectors that differ
}

func newFaultFS() *faultFS {
	return &faultFS{names: map[string]*faultFile{}, onDisk: map[string]*faultFile{}, space: -1}
}

// before runs ahead of every operation; it may fail it.
func (fs *faultFS) before(op, name string) error {
	fs.mu.Lock()
	fault, observe := fs.fault, fs.observe
	fs.mu.Unlock()
	if observe != nil {
		observe(op, name)
	}
	if fault != nil {
		return fault(op, name)
	}
	return nil
}

func (fs *faultFS) setFault(fault func(op, name string) error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.fault = fault
}

func (fs *faultFS) setSpace(bytes int64) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.space = bytes
}

func (fs *faultFS) used() (n int64) {
	for _, f := range fs.names {
		n += int64(len(f.data))
	}
	return n
}

func (fs *faultFS) create(name string, size int64) (file, error) {
	if err := fs.before("create", name); err != nil {
		return nil, err
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.names[name] != nil {
		return nil, os.ErrExist
	}
	if fs.space >= 0 && fs.used()+size > fs.space {
		return nil, syscall.ENOSPC
	}
	f := &faultFile{fs: fs, name: name, data: make([]byte, size), synced: make([]byte, size), dirty: map[int]bool{}}
	fs.names[name] = f
	return f, nil
}

func (fs *faultFS) open(name string) (file, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f := fs.names[name]; f != nil {
		return f, nil
	}
	return nil, os.ErrNotExist
}

func (fs *faultFS) rename(from, to string) error {
	if err := fs.before("rename", from); err != nil {
		return err
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f := fs.names[from]
	if f == nil {
		return os.ErrNotExist
	}
	delete(fs.names, from)
	f.name = to
	fs.names[to] = f
	return nil
}

func (fs *faultFS) remove(name string) error {
	if err := fs.before("remove", name); err != nil {
		return err
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.names[name] == nil {
		return os.ErrNotExist
	}
	delete(fs.names, name)
	return nil
}

func (fs *faultFS) list() ([]string, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return slices.Sorted(maps.Keys(fs.names)), nil
}

func (fs *faultFS) syncDir() error {
	if err := fs.before("syncdir", ""); err != nil {
		return err
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.onDisk = maps.Clone(fs.names)
	return nil
}

func (fs *faultFS) free() (uint64, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.space < 0 {
		return 1 << 40, nil
	}
	return uint64(max(0, fs.space-fs.used())), nil
}

func (f *faultFile) ReadAt(b []byte, offset int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if bad := f.fs.badSector; bad != nil && bad(f.name, offset, offset+int64(len(b))) {
		return 0, syscall.EIO
	}
	if offset >= int64(len(f.data)) {
		return 0, io.EOF
	}
	n := copy(b, f.data[offset:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

var errShort = errors.New("short write")

func (f *faultFile) write(buffers [][]byte, offset int64) error {
	err := f.fs.before("write", f.name)
	if err != nil && !errors.Is(err, errShort) {
		return err
	}
	b := slices.Concat(buffers...)
	if err != nil {
		b = b[:len(b)/2]
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	for int64(len(f.data)) < offset+int64(len(b)) {
		f.data, f.synced = append(f.data, 0), append(f.synced, 0)
	}
	copy(f.data[offset:], b)
	for at := offset / sector; at*sector < offset+int64(len(b)); at++ {
		f.dirty[int(at)] = true
	}
	return err
}

func (f *faultFile) sync() error {
	if err := f.fs.before("sync", f.name); err != nil {
		return err
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.fs.lying {
		return nil
	}
	for at := range f.dirty {
		copy(f.synced[at*sector:], f.data[at*sector:min(len(f.data), (at+1)*sector)])
	}
	clear(f.dirty)
	return nil
}

func (f *faultFile) punch(offset, size int64) error {
	if err := f.fs.before("punch", f.name); err != nil {
		return err
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	for _, b := range [][]byte{f.data, f.synced} {
		if end := min(offset+size, int64(len(b))); end > offset {
			clear(b[offset:end])
		}
	}
	return nil
}

func (f *faultFile) size() (int64, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return int64(len(f.data)), nil
}

func (f *faultFile) Close() error { return nil }

// afterPowerCut returns the folder as the next boot might find it: of every sector that was not synced either the new content or
// the old, and of the folder's names either all changes or none. With a nil source everything unsynced is kept: a killed process.
func (fs *faultFS) afterPowerCut(random *rand.Rand) *faultFS {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	after := newFaultFS()
	names := fs.names
	if random != nil && random.IntN(2) == 0 {
		names = fs.onDisk
	}
	all := 1.0 // now and then nothing, or everything, of the cache is lost
	if random != nil {
		all = []float64{0, 0.5, 0.9, 1}[random.IntN(4)]
	}
	for name, f := range names {
		data := slices.Clone(f.synced)
		for at := range f.dirty {
			if random == nil || random.Float64() < all {
				copy(data[at*sector:], f.data[at*sector:min(len(f.data), (at+1)*sector)])
			}
		}
		after.names[name] = &faultFile{fs: after, name: name, data: data, synced: slices.Clone(data), dirty: map[int]bool{}}
	}
	after.onDisk = maps.Clone(after.names)
	return after
}
