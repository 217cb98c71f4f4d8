package main

import (
	"log/slog"

	"leveret/config"
	"leveret/store"
)

// openStore opens what the broker keeps messages and definitions in. It is the memory alone: no queue is brought back after a restart, so
// nothing is written that would have to be.
func openStore(c config.Config, log *slog.Logger) (store.Store, error) {
	log.Warn("messages and definitions are kept in memory and end with the process", "data_dir", c.DataDir)
	return store.NewMemory(), nil
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
