package server_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync/atomic"
	"testing"

	"leveret/amqp"
	"leveret/auth"
	"leveret/server"
	"leveret/store"
	"leveret/vhost"
)

// dying is a store whose commits fail from some point on, as if the process had ended there.
type dying struct {
	*store.Memory
	left atomic.Int64 // commits until then
}

var errDied = errors.New("the process is gone")

func (d *dying) Commit(changes ...store.Change) error {
	if d.left.Add(-1) < 0 {
		return errDied
	}
	return d.Memory.Commit(changes...)
}

// serverOn makes a server without listeners.
func serverOn(t *testing.T, s store.Store, users *auth.Authenticator) *server.Server {
	t.Helper()
	srv, err := server.New(testOptions(), server.Dependencies{Store: s, Users: users, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return srv
}

// furnish puts something of each kind into a virtual host.
func furnish(t *testing.T, v *vhost.VHost, users *auth.Authenticator) {
	t.Helper()
	all := vhost.Unrestricted{}
	_, err := v.DeclareQueue(vhost.QueueDeclare{Name: "q", Durable: true}, 0, all)
	_, err2 := v.SetPolicy(vhost.Policy{Name: "p", Pattern: ".*", Definition: map[string]any{"max-length": int64(1)}})
	err = errors.Join(err, err2,
		v.DeclareExchange(vhost.ExchangeDeclare{Name: "x", Type: "topic", Durable: true}, all),
		v.BindQueue("q", "x", "#", amqp.Table{}, 0, all),
		users.SetPermissions("guest", v.Name(), auth.AllPermissions()))
	if err != nil {
		t.Fatal(err)
	}
}

// Wherever a deletion is interrupted, after the next start the virtual host is there as it was, or nothing of it is left.
func TestDeletionSurvivesACrash(t *testing.T) {
	for n := int64(0); ; n++ {
		users, err := auth.New(auth.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		d := &dying{Memory: store.NewMemory()}
		d.left.Store(1 << 40)
		first := serverOn(t, d, users)
		if _, err := first.CreateVHost("v", vhost.Metadata{}); err != nil {
			t.Fatal(err)
		}
		furnish(t, first.VHost("v"), users)
		d.left.Store(n)
		deleting := first.DeleteVHost("v")
		_ = first.Close(context.Background()) // its last commits fail, as they should
		if deleting != nil && !errors.Is(deleting, errDied) {
			t.Fatalf("after %d commits: %v", n, deleting)
		}
		second := serverOn(t, d.Memory, users)
		checkDeleted(t, n, second, d.Memory, users)
		if err := second.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if deleting == nil {
			if n < 5 {
				t.Errorf("the deletion took %d commits only", n)
			}
			return
		}
	}
}

// checkDeleted looks at what a deletion left that was interrupted after n commits.
func checkDeleted(t *testing.T, n int64, s *server.Server, kept *store.Memory, users *auth.Authenticator) {
	t.Helper()
	guest, _ := users.Account("guest")
	_, permitted := guest.Permissions["v"]
	v := s.VHost("v")
	if n == 0 {
		if v == nil || !v.HasQueue("q") || !permitted || len(v.Policies()) != 1 {
			t.Error("a deletion that did not begin has done something")
		}
		return
	}
	if v != nil || permitted {
		t.Errorf("after %d commits: virtual host %v, permissions %v", n, v != nil, permitted)
	}
	for _, bucket := range []string{"exchanges of v", "queues of v", "bindings of v", "parameters of v"} {
		kept.Load(bucket, func(key string, _ []byte) error {
			t.Errorf("after %d commits: %q is left in the %s", n, key, bucket)
			return nil
		})
	}
	kept.Queues(func(q store.QueueState) { t.Errorf("after %d commits: messages of queue %d are left", n, q.ID) })
}

// Who creates and deletes the same name at once waits for the other; at the end everything is consistent.
func TestConcurrentCreationAndDeletion(t *testing.T) {
	r := start(t, testOptions())
	done := make(chan struct{})
	for range 4 {
		go func() {
			defer func() { done <- struct{}{} }()
			for range 25 {
				if _, err := r.CreateVHost("v", vhost.Metadata{}); err != nil {
					t.Error(err)
				}
				if v := r.VHost("v"); v != nil {
					// Refused if the virtual host is on its way out, but never left behind.
					_, _ = v.DeclareQueue(vhost.QueueDeclare{Name: "q", Durable: true}, 0, vhost.Unrestricted{})
				}
				if err := r.DeleteVHost("v"); err != nil && !errors.Is(err, server.ErrNoVHost) {
					t.Error(err)
				}
			}
		}()
	}
	for range 4 {
		<-done
	}
	if r.VHost("v") != nil {
		r.must(r.DeleteVHost("v"))
	}
	r.mustCreate("v")
	if n := r.VHost("v").Counts().Queues; n != 0 {
		t.Errorf("the new virtual host has %d queues", n)
	}
}
