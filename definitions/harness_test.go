package definitions_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"leveret/auth"
	"leveret/definitions"
	"leveret/server"
	"leveret/store"
)

// rig is a broker without clients, with its log.
type rig struct {
	*definitions.Broker
	t   testing.TB
	log *bytes.Buffer
}

// newRig makes a broker with guest and "/".
func newRig(t testing.TB) *rig { return newRigWith(t, func(*server.Options, *auth.Options) {}) }

func newRigWith(t testing.TB, change func(*server.Options, *auth.Options)) *rig {
	t.Helper()
	so, ao := server.DefaultOptions(), auth.DefaultOptions()
	change(&so, &ao)
	users, err := auth.New(ao)
	if err != nil {
		t.Fatal(err)
	}
	log := new(bytes.Buffer)
	logger := slog.New(slog.NewTextHandler(log, nil))
	s, err := server.New(so, server.Dependencies{Store: store.NewMemory(), Users: users, Log: logger})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &rig{&definitions.Broker{Server: s, Users: users, Cluster: "rabbit@test", Version: "4.3.6", Log: logger}, t, log}
}

// load imports a file that must be taken.
func (r *rig) load(file string) {
	r.t.Helper()
	if err := r.Import([]byte(file), ""); err != nil {
		r.t.Fatalf("import: %v", err)
	}
}

// export is the whole broker as JSON.
func (r *rig) export() string {
	r.t.Helper()
	return asJSON(r.t, r.Export())
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
