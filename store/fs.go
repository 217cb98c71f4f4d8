package store

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// fileSystem is the little of a file system that the log asks for: one flat folder. Tests put one in its place that fails, or
// that forgets what was not synced.
type fileSystem interface {
	// create makes a file whose space is allocated, or fails without leaving one.
	create(name string, size int64) (file, error)
	open(name string) (file, error)
	// rename, remove and create last once syncDir returned.
	rename(from, to string) error
	remove(name string) error
	list() ([]string, error)
	syncDir() error
	// free is the number of bytes that can still be written.
	free() (uint64, error)
}

// file is an open file. Reads and writes of disjoint places may run at once.
type file interface {
	io.ReaderAt
	// write puts the buffers one after another at an offset: all of them, or it returns an error.
	write(buffers [][]byte, offset int64) error
	// sync waits until the content, though not the times, is on disk. After a failure nothing is known of what was written.
	sync() error
	// punch gives back the space of a part, which reads as zeros from then on.
	punch(offset, size int64) error
	size() (int64, error)
	Close() error
}

// osFolder is the fileSystem of a real folder.
type osFolder struct{ path string }

// osFile is the file of a real folder.
type osFile struct{ *os.File }

// openFolder makes the folder if there is none.
func openFolder(path string) (osFolder, error) {
	return osFolder{path}, os.MkdirAll(path, 0o750)
}

func (f osFolder) create(name string, size int64) (file, error) {
	path := filepath.Join(f.path, name)
	opened, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return nil, err
	}
	if err := allocate(opened, size); err != nil {
		opened.Close()
		os.Remove(path)
		return nil, err
	}
	return osFile{opened}, nil
}

func (f osFolder) open(name string) (file, error) {
	opened, err := os.OpenFile(filepath.Join(f.path, name), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return osFile{opened}, nil
}

func (f osFolder) rename(from, to string) error {
	return os.Rename(filepath.Join(f.path, from), filepath.Join(f.path, to))
}

func (f osFolder) remove(name string) error { return os.Remove(filepath.Join(f.path, name)) }

func (f osFolder) list() ([]string, error) {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

func (f osFolder) syncDir() error {
	dir, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

func (f osFile) size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// isFull says whether the system refused for want of space.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
