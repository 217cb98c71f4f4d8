package server

import (
	"encoding/json"
	"fmt"

	"leveret/store"
	"leveret/vhost"
)

// loadVHosts opens the virtual hosts that the store knows, and makes the default one if it knows none. A deletion that was interrupted is
// brought to its end.
func (s *Server) loadVHosts() error {
	r := &s.registry
	r.recovery = vhost.NewRecovery(s.store)
	r.census.MaxQueues, r.census.MaxExchanges = s.options.QueueMax, s.options.ExchangeMax
	records, names, err := s.storedVHosts()
	if err != nil {
		return err
	}
	for i, name := range names {
		if records[i].Deleting {
			err = s.resumeDeletion(name)
		} else if err = s.openVHost(name, records[i]); err == nil && len(names) > 1 {
			s.log.Info("virtual host opened", "vhost", name, "number", i+1, "of", len(names))
		}
		if err != nil {
			return err
		}
	}
	if len(names) == 0 && s.options.DefaultVHost != "" {
		if _, err := s.CreateVHost(s.options.DefaultVHost, vhost.Metadata{Description: "Default virtual host"}); err != nil {
			return fmt.Errorf("default virtual host: %w", err)
		}
	}
	r.recovery.Finish()
	r.recovery = vhost.NoRecovery(s.store)
	return nil
}

// storedVHosts are the records of all virtual hosts, those among them that are half deleted.
func (s *Server) storedVHosts() (records []vhostRecord, names []string, err error) {
	err = s.store.Load(vhostBucket, func(name string, value []byte) error {
		var record vhostRecord
		if err := json.Unmarshal(value, &record); err != nil {
			return fmt.Errorf("stored virtual host %q: %w", name, err)
		}
		records, names = append(records, record), append(names, name)
		return nil
	})
	return records, names, err
}

// resumeDeletion goes on with a deletion that the last stop interrupted. The messages are nobody's, so the recovery drops them.
func (s *Server) resumeDeletion(name string) error {
	s.log.Info("virtual host was being deleted when the broker stopped, going on with that", "vhost", name)
	if err := vhost.Wipe(s.store, name); err != nil {
		return fmt.Errorf("delete virtual host %q: %w", name, err)
	}
	return s.forgetVHost(name)
}

// Fresh reports whether a store knows no virtual host, as that of a broker before its first start.
func Fresh(s store.Store) (fresh bool, err error) {
	fresh = true
	err = s.Load(vhostBucket, func(string, []byte) error {
		fresh = false
		return nil
	})
	return fresh, err
}
