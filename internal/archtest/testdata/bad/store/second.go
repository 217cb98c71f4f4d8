// Package store has another one there.
package store
