package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// maxVector is the number of buffers that one system call takes (IOV_MAX).
const maxVector = 1024

// allocate gives the file its full size and its space, so that later writes change no metadata and cannot run out of space.
func allocate(f *os.File, size int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return f.Truncate(size)
	}
	return err
}

// write hands all buffers to the system together: one call for a batch, however many parts it has.
func (f osFile) write(buffers [][]byte, offset int64) error {
	rest := append(make([][]byte, 0, len(buffers)), buffers...)
	for len(rest) > 0 {
		n, err := unix.Pwritev(int(f.Fd()), rest[:min(len(rest), maxVector)], offset)
		if err != nil {
			if errors.Is(err, unix.EINTR) {
				continue
			}
			return &os.PathError{Op: "write", Path: f.Name(), Err: err}
		}
		offset += int64(n)
		rest = advance(rest, n)
	}
	return nil
}

// advance drops the first n bytes, and empty buffers at the front.
func advance(buffers [][]byte, n int) [][]byte {
	for len(buffers) > 0 && n >= len(buffers[0]) {
		n -= len(buffers[0])
		buffers = buffers[1:]
	}
	if n > 0 {
		buffers[0] = buffers[0][n:]
	}
	return buffers
}

// sync leaves the file's times alone: they would cost a write of the inode for each batch.
func (f osFile) sync() error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func (f osFile) punch(offset, size int64) error {
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, offset, size)
}

func (f osFolder) free() (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(f.path, &st); err != nil {
		return 0, err
	}
	return st.Bavail * uint64(st.Bsize), nil
}
