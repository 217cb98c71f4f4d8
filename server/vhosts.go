package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"leveret/amqp"
	"leveret/queue"
	"leveret/store"
	"leveret/vhost"
)

// vhostBucket is where the store keeps the virtual hosts, each as a vhostRecord under its name.
const vhostBucket = "virtual hosts"

// maxVHostName is how long a name may be in bytes: connection.open has it in a short string.
const maxVHostName = 255

// vhostRecord is a virtual host in the store.
type vhostRecord struct {
	vhost.Metadata
	Limits vhost.Limits `json:"limits"`
	// Deleting is set before anything of the virtual host is removed. A start that finds it goes on where the last one was interrupted.
	Deleting bool `json:"deleting,omitempty"`
}

// registry is what the server keeps of its virtual hosts beside their names.
type registry struct {
	changing sync.Mutex               // held over every change, and its commit
	deleting map[string]chan struct{} // those on their way out; closed at the end
	census   vhost.Census
	recovery *vhost.Recovery // of this start
	retired  retired
}

// retired is what was done in virtual hosts that are gone or going, so that a broker's totals never fall.
type retired struct {
	mu     sync.Mutex // a leaf lock; guards what follows
	going  map[*vhost.VHost]struct{}
	totals queue.Totals
}

// leave notes that a virtual host is on its way out.
func (r *retired) leave(v *vhost.VHost) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.going == nil {
		r.going = make(map[*vhost.VHost]struct{})
	}
	r.going[v] = struct{}{}
}

// keep takes over the totals of a virtual host that has no queues any more.
func (r *retired) keep(v *vhost.VHost) {
	totals := v.Retired()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.going, v)
	r.totals.Add(&totals)
}

// read returns the totals, and the virtual hosts that still count by themselves.
func (r *retired) read() (totals queue.Totals, going []*vhost.VHost) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.totals, slices.Collect(maps.Keys(r.going))
}

// VHost returns a virtual host by its name, nil if there is none.
func (s *Server) VHost(name string) *vhost.VHost {
	v, ok := s.vhosts.Load(name)
	if !ok {
		return nil
	}
	return v.(*vhost.VHost)
}

// VHosts are all virtual hosts, ordered by name.
func (s *Server) VHosts() []*vhost.VHost {
	var list []*vhost.VHost
	s.vhosts.Range(func(_, v any) bool {
		list = append(list, v.(*vhost.VHost))
		return true
	})
	slices.SortFunc(list, func(a, b *vhost.VHost) int { return strings.Compare(a.Name(), b.Name()) })
	return list
}

// CreateVHost makes a virtual host, or gives the one that is there other metadata. It returns when that is durable and clients may open it;
// a deletion of the same name that is under way is waited for. Errors are [*VHostRefusal] and the store's. Any goroutine may call it.
func (s *Server) CreateVHost(name string, m vhost.Metadata) (created bool, err error) {
	if name == "" || len(name) > maxVHostName || !utf8.ValidString(name) {
		return false, refuse(ErrVHostName, "virtual host name must be a text in UTF-8 of 1 to %d bytes", maxVHostName)
	}
	if err := checkMetadata(m); err != nil {
		return false, err
	}
	for {
		ending, created, err := s.putVHost(name, m)
		if ending == nil {
			return created, err
		}
		select {
		case <-ending:
		case <-s.stop:
			return false, amqp.NodeStopping()
		}
	}
}

// putVHost is one attempt of CreateVHost: ending is not nil if a deletion has to come to its end first.
func (s *Server) putVHost(name string, m vhost.Metadata) (ending <-chan struct{}, created bool, err error) {
	s.registry.changing.Lock()
	defer s.registry.changing.Unlock()
	if ending := s.registry.deleting[name]; ending != nil {
		return ending, false, nil
	}
	if v := s.VHost(name); v != nil {
		return nil, false, s.setMetadata(v, m)
	}
	if most := s.options.VHostMax; most > 0 && len(s.VHosts()) >= most {
		return nil, false, refuse(ErrVHostLimit, "cannot create vhost '%s': vhost limit of %d is reached", name, most)
	}
	r := vhostRecord{Metadata: m}
	if err := s.saveVHost(name, &r); err != nil {
		return nil, false, err
	}
	if err := s.openVHost(name, r); err != nil {
		return nil, false, err
	}
	s.log.Info("virtual host created", "vhost", name)
	s.tellVHost("vhost.created", name, amqp.Field{Name: "description", Value: m.Description})
	return nil, true, nil
}

// UpdateVHost changes the metadata of a virtual host.
func (s *Server) UpdateVHost(name string, change func(*vhost.Metadata)) error {
	s.registry.changing.Lock()
	defer s.registry.changing.Unlock()
	v := s.VHost(name)
	if v == nil {
		return noVHost()
	}
	m := v.Metadata()
	change(&m)
	if err := checkMetadata(m); err != nil {
		return err
	}
	return s.setMetadata(v, m)
}

// setMetadata keeps first and changes then, so that what a client saw survives a crash.
func (s *Server) setMetadata(v *vhost.VHost, m vhost.Metadata) error {
	if err := s.saveVHost(v.Name(), &vhostRecord{Metadata: m, Limits: v.Limits()}); err != nil {
		return err
	}
	v.SetMetadata(m)
	return nil
}

// checkMetadata refuses types of queues that nobody knows.
func checkMetadata(m vhost.Metadata) error {
	switch m.DefaultQueueType {
	case "", "undefined", "classic", "quorum", "stream":
		return nil
	}
	return refuse(ErrVHostQueueType, "%s is not a valid queue type", m.DefaultQueueType)
}

// ProtectVHost keeps a virtual host from being deleted, or lets it be deleted again.
func (s *Server) ProtectVHost(name string, protected bool) error {
	err := s.UpdateVHost(name, func(m *vhost.Metadata) { m.Protected = &protected })
	if errors.Is(err, ErrNoVHost) {
		verb := "enable"
		if !protected {
			verb = "disable"
		}
		return refuse(ErrNoVHost, "Cannot %s deletion protection of virtual host '%s' because it does not exist", verb, name)
	}
	return err
}

// SetVHostLimit sets one limit of a virtual host, one of [vhost.LimitNames]. A negative value is no limit. It counts from now on: connections
// and queues that are there already stay.
func (s *Server) SetVHostLimit(name, limit string, value int64) error {
	if !slices.Contains(vhost.LimitNames(), limit) {
		return refuse(ErrVHostUnknownLimit, "Unrecognised terms [{<<\"%s\">>,%d}] in limits", limit, value)
	}
	return s.changeLimits(name, func(l vhost.Limits) vhost.Limits { l[limit] = value; return l })
}

// ClearVHostLimit takes one limit away; that it was not set is no error.
func (s *Server) ClearVHostLimit(name, limit string) error {
	return s.changeLimits(name, func(l vhost.Limits) vhost.Limits { delete(l, limit); return l })
}

// SetVHostLimits replaces all limits of a virtual host; nil is as if none had ever been set.
func (s *Server) SetVHostLimits(name string, limits vhost.Limits) error {
	for limit, value := range limits {
		if !slices.Contains(vhost.LimitNames(), limit) {
			return refuse(ErrVHostUnknownLimit, "Unrecognised terms [{<<\"%s\">>,%d}] in limits", limit, value)
		}
	}
	return s.changeLimits(name, func(vhost.Limits) vhost.Limits { return maps.Clone(limits) })
}

// changeLimits makes one change at a time; what is over a new limit already stays.
func (s *Server) changeLimits(name string, change func(vhost.Limits) vhost.Limits) error {
	s.registry.changing.Lock()
	defer s.registry.changing.Unlock()
	v := s.VHost(name)
	if v == nil {
		return noVHost()
	}
	limits := v.Limits()
	if limits == nil {
		limits = vhost.Limits{}
	}
	limits = change(limits)
	if err := s.saveVHost(name, &vhostRecord{Metadata: v.Metadata(), Limits: limits}); err != nil {
		return err
	}
	v.SetLimits(limits)
	v.Recount()
	s.tellLimits(name, limits)
	return nil
}

// saveVHost makes a virtual host's record durable, or its absence if r is nil.
func (s *Server) saveVHost(name string, r *vhostRecord) error {
	change := store.Change{Bucket: vhostBucket, Key: name}
	if r != nil {
		value, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("save virtual host %q: %w", name, err)
		}
		change.Value = value
	}
	if err := s.store.Commit(change); err != nil {
		return fmt.Errorf("save virtual host %q: %w", name, err)
	}
	return nil
}

// openVHost loads a virtual host and lets clients in.
func (s *Server) openVHost(name string, r vhostRecord) error {
	v, err := vhost.New(vhost.Options{
		Name: name, Store: s.store, Recovery: s.registry.recovery, Budget: s.budget, Timings: &s.timings, Log: s.log, Metadata: r.Metadata, Limits: r.Limits,
		Census: &s.registry.census, Churn: &s.churn, DefaultQueueType: s.options.DefaultQueueType,
		Events: s.events, Announced: s.announced(name), OnParameters: s.parametersChanged,
	})
	if err != nil {
		return fmt.Errorf("open virtual host %q: %w", name, err)
	}
	s.vhosts.Store(name, v)
	return nil
}
