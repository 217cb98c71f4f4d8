package definitions

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"leveret/amqp"
	"leveret/auth"
	"leveret/server"
	"leveret/vhost"
)

// Import puts a file of the whole broker into it; caller is the user who asked for that, who gets all permissions in the virtual hosts that are
// made, empty for nobody. An error is a [*Refusal], or the store's; what was done before it stays.
func (b *Broker) Import(raw []byte, caller string) error {
	f, err := Parse(raw)
	if err != nil {
		return err
	}
	b.importing.Lock()
	defer b.importing.Unlock()
	for _, step := range []func(*File) error{
		// The order is that of dependence, and RabbitMQ's: permissions need users and virtual hosts, topic permissions need
		// exchanges, queues should find their policies and limits, and bindings need both ends.
		b.importUsers,
		func(f *File) error { return b.importVHosts(f, caller) },
		b.checkQueueLimits,
		b.importPermissions,
		b.importExchanges,
		b.importTopicPermissions,
		b.importGlobalParameters,
		b.importPolicies,
		b.importParameters,
		b.importQueues,
		b.importBindings,
	} {
		if err := step(f); err != nil {
			return asRefusal(err)
		}
	}
	b.Log.Info("definitions imported", "users", len(f.Users), "vhosts", len(f.VHosts), "policies", len(f.Policies),
		"queues", len(f.Queues), "exchanges", len(f.Exchanges), "bindings", len(f.Bindings))
	return nil
}

// ImportVHost puts a file of one virtual host into the one of this name, whatever its entries say.
func (b *Broker) ImportVHost(name string, raw []byte) error {
	f, err := parse(raw, true)
	if err != nil {
		return err
	}
	b.importing.Lock()
	defer b.importing.Unlock()
	if b.Server.VHost(name) == nil {
		return refusedf("vhost_not_found")
	}
	// The file may be that of another virtual host: that is how one is copied.
	f.moveTo(name)
	for _, step := range []func(*File) error{
		b.checkQueueLimits, b.importExchanges, b.importPolicies, b.importParameters, b.importQueues, b.importBindings,
	} {
		if err := step(f); err != nil {
			return asRefusal(err)
		}
	}
	if f.Metadata != nil {
		return asRefusal(b.Server.UpdateVHost(name, f.Metadata.apply))
	}
	return nil
}

// moveTo writes the name of the virtual host into all entries.
// Its entries may name another one, if somebody cut it out of the whole broker's file.
func (f *File) moveTo(name string) {
	for i := range f.Parameters {
		f.Parameters[i].VHost = name
	}
	for i := range f.Policies {
		f.Policies[i].VHost = name
	}
	for i := range f.Queues {
		f.Queues[i].VHost = name
	}
	for i := range f.Exchanges {
		f.Exchanges[i].VHost = name
	}
	for i := range f.Bindings {
		f.Bindings[i].VHost = name
	}
}

// asRefusal gives what the parts of the broker refuse the form of an import's error.
func asRefusal(err error) error {
	// Whatever is none of these is a fault of the broker's, such as a full disk, and is not dressed up as one of the file.
	var refusal *Refusal
	var wire *amqp.Error
	var host *server.VHostRefusal
	var user *auth.Invalid
	switch {
	case err == nil || errors.As(err, &refusal):
		return err
	case errors.As(err, &wire):
		return &Refusal{Text: strings.ToLower(amqp.ReplyName(wire.Code)) + ": " + wire.Explanation(), cause: err}
	case errors.As(err, &host):
		return &Refusal{Text: host.Text, cause: err}
	case errors.As(err, &user):
		return &Refusal{Text: userText(user), cause: err}
	}
	return err
}

// userText is how RabbitMQ prints what is wrong with a user: a list of a word and a value is a tuple in its own notation.
func userText(i *auth.Invalid) string {
	// RabbitMQ tells no more of it: the file's reader may not be who is to know the rule.
	if i.Kind == auth.ErrWeakPassword {
		return "credential_validation_failed"
	}
	words, ok := i.Reason.([]string)
	if !ok || len(words) != 2 {
		return i.Error()
	}
	return fmt.Sprintf("{%s,<<\"%s\">>}", words[0], words[1])
}

// vhost finds the virtual host of an entry.
func (b *Broker) vhost(name string) (*vhost.VHost, error) {
	v := b.Server.VHost(name)
	if v == nil {
		return nil, refusedf("Please create virtual host \"%s\" prior to importing definitions.", name)
	}
	return v, nil
}

// atOnce is how many entries of one kind are worked on at a time, so that their commits share a sync.
const atOnce = 64

// each calls do for the entries of one kind, several at a time. Of several errors it returns the one that stands first in the file; after
// an error no further entries are begun.
func each[T any](entries []T, do func(*T) error) error {
	var next, failed atomic.Int64
	failed.Store(int64(len(entries)))
	errs := make([]error, len(entries))
	var workers sync.WaitGroup
	for range min(atOnce, len(entries)) {
		workers.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= failed.Load() {
					return
				}
				if errs[i] = do(&entries[i]); errs[i] != nil {
					lower(&failed, i)
				}
			}
		})
	}
	workers.Wait()
	return firstOf(errs)
}

// lower sets a to n, if that is less.
func lower(a *atomic.Int64, n int64) {
	for old := a.Load(); n < old && !a.CompareAndSwap(old, n); old = a.Load() {
	}
}

func firstOf(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
