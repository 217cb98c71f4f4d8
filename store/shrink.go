package store

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
)

// bbolt never gives pages back to the system: after a long backlog the root file would stay as large as it was at its worst. When it
// is mostly free pages, what is in use is copied to a new file, which takes the place of the old one by a rename. A crash leaves one or
// the other, and both say the same: nothing is committed meanwhile.

const (
	// shrinkFrom is the size in bytes from which the root file is worth shrinking.
	shrinkFrom = 32 << 20
	// shrinkShare is the part of the file that has to be free.
	shrinkShare = 0.75
	// shrinkMost is how many bytes may be in use for the file to be shrunk while the broker runs: declares wait as long as it takes. A
	// start copies any number.
	shrinkMost = 64 << 20
	// shrinkStep bounds the transactions of the copy.
	shrinkStep = 16 << 20
	// shrinkPause is how long a failure is left alone.
	shrinkPause = time.Minute

	shrunkName = rootName + ".new"
)

// sizes returns the bytes of the root file and those of its pages that are in use. Its pages are taken to be the system's, as those of a new file are:
// to ask would be a read beside the one that writes.
func (r *root) sizes() (all, used int64) {
	info, err := os.Stat(r.path)
	if err != nil {
		return 0, 0
	}
	r.swap.RLock()
	defer r.swap.RUnlock()
	st := r.db.Stats()
	return info.Size(), info.Size() - int64(st.FreePageN+st.PendingPageN)*int64(os.Getpagesize())
}

// wasteful says whether the root file should be shrunk, if it can be with so many bytes copied.
func (r *root) wasteful(least, most int64) bool {
	all, used := r.sizes()
	return all >= least && used <= most && float64(all-used) >= shrinkShare*float64(all)
}

// shrink makes a new root file and goes on with that. It belongs to the writing goroutine, and to the start before that runs.
func (r *root) shrink() error {
	name := filepath.Join(filepath.Dir(r.path), shrunkName)
	fresh, err := r.copyTo(name)
	if err != nil {
		return errors.Join(fmt.Errorf("shrink %s: %w", r.path, diskError(err)), removeFile(name))
	}
	_ = r.hook("shrunk")
	if err := os.Rename(name, r.path); err != nil {
		return errors.Join(err, fresh.Close(), removeFile(name))
	}
	r.swap.Lock()
	old := r.db
	r.db = fresh
	r.swap.Unlock()
	syncErr := r.hook("swapped")
	if syncErr == nil {
		syncErr = osFolder{filepath.Dir(r.path)}.syncDir()
	}
	err = guard(old.Close)
	if syncErr != nil {
		// Which of the two files a power cut would leave is not known: nothing may be committed to the new one.
		return errors.Join(fmt.Errorf("%w: %w", errUnsure, syncErr), err)
	}
	return err
}

// shrinkAtStart removes what an attempt left that a crash cut short, and makes its own, with any number of bytes in use.
func (r *root) shrinkAtStart(o Options) error {
	err := removeFile(filepath.Join(filepath.Dir(r.path), shrunkName))
	if err == nil && r.wasteful(o.shrinkFrom, math.MaxInt64) {
		o.Logger.Info("shrinking the root file, which is mostly free")
		err = r.shrink()
	}
	if errors.Is(err, errUnsure) {
		return err
	}
	if err != nil {
		o.Logger.Warn("shrink the root file", "error", err)
	}
	return nil
}

// errUnsure says that what is committed from now on may not be found again.
var errUnsure = errors.New("the new root file's name may not last")

// copyTo copies what is in use to a new file, which is synced and open when it returns.
func (r *root) copyTo(name string) (fresh *bbolt.DB, err error) {
	if err := removeFile(name); err != nil {
		return nil, err
	}
	err = guard(func() (err error) {
		if fresh, err = openBolt(name, false); err != nil {
			return err
		}
		fresh.NoSync = true // once at the end is enough
		if err := bbolt.Compact(fresh, r.db, shrinkStep); err != nil {
			return err
		}
		fresh.NoSync = false
		return errors.Join(fresh.Sync(), fresh.View(checkVersion))
	})
	if err != nil && fresh != nil {
		return nil, errors.Join(err, guard(fresh.Close))
	}
	return fresh, err
}

// removeFile removes a file whose absence is as good.
func removeFile(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// shrinkRoot has the root file shrunk if it is mostly free. It is the keeper's.
func (s *Disk) shrinkRoot() {
	if time.Now().Before(s.shrinkAfter) || !s.root.wasteful(s.options.shrinkFrom, shrinkMost) {
		return
	}
	before, _ := s.root.sizes()
	err := s.root.request(&change{do: nil})
	after, _ := s.root.sizes()
	switch {
	case errors.Is(err, errUnsure):
		s.fail(err)
	case err != nil:
		s.shrinkAfter = time.Now().Add(shrinkPause)
		s.warn("shrink the root file", err)
	default:
		s.logger.Info("root file shrunk", "before", before, "after", after)
	}
}
