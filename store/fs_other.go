//go:build !linux

package store

import (
	"errors"
	"math"
	"os"
)

// allocate writes zeros: other systems have no call that reserves space.
func allocate(f *os.File, size int64) error {
	zeros := make([]byte, 1<<20)
	for at := int64(0); at < size; at += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-at)], at); err != nil {
			return err
		}
	}
	return f.Sync()
}

func (f osFile) write(buffers [][]byte, offset int64) error {
	for _, b := range buffers {
		if _, err := f.WriteAt(b, offset); err != nil {
			return err
		}
		offset += int64(len(b))
	}
	return nil
}

func (f osFile) sync() error { return f.Sync() }

func (f osFile) punch(int64, int64) error { return errors.ErrUnsupported }

// free is not known here: the alarm relies on failed allocations alone.
func (f osFolder) free() (uint64, error) { return math.MaxUint64, nil }
