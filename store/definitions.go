package store

import (
	"fmt"
	"slices"

	"go.etcd.io/bbolt"
)

// commitDefinitions is the change behind Commit.
func commitDefinitions(tx *bbolt.Tx, changes []Change) error {
	for _, c := range changes {
		bucket := []byte(definitionsPrefix + c.Bucket)
		_, err := tx.CreateBucketIfNotExists(bucket)
		if err != nil {
			return err
		}
		if c.Value == nil {
			err = deleteValue(tx, bucket, []byte(c.Key))
		} else {
			err = putValue(tx, bucket, []byte(c.Key), c.Value)
		}
		if err != nil {
			return fmt.Errorf("commit %q in %q: %w", c.Key, c.Bucket, err)
		}
	}
	return nil
}

// load is the work behind Load. It checks the bucket as a whole and then copies a thousand keys at
// a time, so that a slow caller holds no transaction open.
func (r *root) load(bucket string, each func(key string, value []byte) error) error {
	const atOnce = 1000
	if err := r.view(func(tx *bbolt.Tx) error { return checkDefinitions(tx, bucket) }); err != nil {
		return err
	}
	from := []byte{}
	for more := true; more; {
		var keys, values [][]byte
		err := r.view(func(tx *bbolt.Tx) error {
			b := tx.Bucket([]byte(definitionsPrefix + bucket))
			if b == nil {
				return nil
			}
			c := b.Cursor()
			for k, v := c.Seek(from); k != nil && len(keys) < atOnce; k, v = c.Next() {
				value, err := openValue(k, v)
				if err != nil {
					return err
				}
				keys, values = append(keys, slices.Clone(k)), append(values, slices.Clone(value))
			}
			return nil
		})
		if err != nil {
			return err
		}
		for i, key := range keys {
			if err := each(string(key), values[i]); err != nil {
				return err
			}
		}
		if more = len(keys) == atOnce; more {
			from = append(keys[atOnce-1], 0)
		}
	}
	return nil
}

// checkDefinitions says whether a bucket is whole.
func checkDefinitions(tx *bbolt.Tx, bucket string) error {
	name := []byte(definitionsPrefix + bucket)
	if tx.Bucket(name) == nil {
		return checkCount(tx, name, 0)
	}
	return eachValue(tx, name, func(_, _ []byte) error { return nil })
}
