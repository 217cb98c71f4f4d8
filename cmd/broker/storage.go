package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

	"leveret/config"
	"leveret/store"
)

// openStore opens what the broker keeps messages and definitions in: a folder that is this process's alone, or the memory.
func openStore(c config.Config, log *slog.Logger) (store.Store, error) {
	if c.DataDir == "" {
		log.Warn("messages and definitions are kept in memory and end with the process")
		return store.NewMemory(), nil
	}
	o := store.DefaultOptions()
	o.MinFree = uint64(diskLimit(c.DiskFree, memoryTotal(os.DirFS("/"))))
	o.Logger = log
	s, err := store.Open(c.DataDir, o)
	if errors.Is(err, store.ErrLocked) {
		return nil, fmt.Errorf("data folder %s: another broker runs on it: %w", c.DataDir, err)
	}
	if err != nil { // a typed nil must not look like a store
		return nil, err
	}
	return s, nil
}

// userBucket is where the store keeps users.
const userBucket = "users"

// userStorage keeps auth's users in the broker's store.
// It gives the store's interface the shape that auth asks for, as auth knows no store.
type userStorage struct{ store store.Store }

// Load is part of [auth.Storage].
func (u userStorage) Load(each func(name string, value []byte) error) error {
	return u.store.Load(userBucket, each)
}

// Save is part of [auth.Storage].
func (u userStorage) Save(name string, value []byte) error {
	return u.store.Commit(store.Change{Bucket: userBucket, Key: name, Value: value})
}
