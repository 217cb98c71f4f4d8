// Package store has a comment here.
package store

import (
	_ "example.org/unknown"
	_ "github.com/spf13/cobra"
	_ "go.etcd.io/bbolt"
)

// Open is documented.
func Open() {}
