package auth_test

import (
	"errors"
	"maps"
	"testing"

	"leveret/amqp"
	"leveret/auth"
)

// mapStorage is a storage that fails on demand.
type mapStorage struct {
	values map[string][]byte
	fail   error
}

func (s *mapStorage) Load(each func(string, []byte) error) error {
	for name, value := range s.values {
		if err := each(name, value); err != nil {
			return err
		}
	}
	return s.fail
}

func (s *mapStorage) Save(name string, value []byte) error {
	if s.fail != nil {
		return s.fail
	}
	if value == nil {
		delete(s.values, name)
	} else {
		s.values[name] = value
	}
	return nil
}

func open(t *testing.T, storage auth.Storage) *auth.Authenticator {
	t.Helper()
	options := auth.DefaultOptions()
	options.Storage = storage
	a, err := auth.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestUsersLast(t *testing.T) {
	storage := &mapStorage{values: map[string][]byte{}}
	a := open(t, storage)
	account := userWith(auth.Permissions{Configure: "c", Write: "w", Read: "r"})
	account.Tags = []string{"monitoring"}
	steps := []error{
		a.PutUser(account),
		a.SetTopicPermissions("u", "v", "x", auth.TopicPermissions{Write: "k"}),
		a.SetTopicPermissions("u", "v", "y", auth.TopicPermissions{}),
		a.ClearTopicPermissions("u", "v", "y"),
		a.DeleteUser("guest"),
	}
	if err := errors.Join(steps...); err != nil {
		t.Fatal(err)
	}

	b := open(t, storage)
	users := b.Users()
	if len(users) != 1 {
		t.Fatalf("%d users, want u alone: guest is made for an empty storage only", len(users))
	}
	got := users[0]
	if got.Name != "u" || got.PasswordHash != test12Hash || got.HashingAlgorithm != auth.SHA256 || len(got.Tags) != 1 ||
		got.Permissions["v"] != account.Permissions["v"] ||
		!maps.Equal(got.TopicPermissions["v"], map[string]auth.TopicPermissions{"x": {Write: "k"}}) {
		t.Errorf("came back as %+v", got)
	}
	if err := rightsOf(t, b, "v").Configure(amqp.QueueResource, "c"); err != nil {
		t.Error(err)
	}
}

func TestFailedSaveChangesNothing(t *testing.T) {
	storage := &mapStorage{values: map[string][]byte{}}
	a := open(t, storage)
	version := rightsOfGuest(t, a).Version().Load()
	storage.fail = errors.New("disk on fire")
	for name, change := range map[string]func() error{
		"put":    func() error { return a.PutUser(auth.Account{Name: "u", PasswordHash: test12Hash}) },
		"delete": func() error { return a.DeleteUser("guest") },
		"clear":  func() error { return a.ClearPermissions("guest", "/") },
	} {
		if err := change(); !errors.Is(err, storage.fail) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r := rightsOfGuest(t, a)
	if err := r.Write(amqp.QueueResource, "q"); err != nil || len(a.Users()) != 1 || r.Version().Load() != version {
		t.Errorf("changed all the same: %v, %d users, version %d, was %d", err, len(a.Users()), r.Version().Load(), version)
	}
}

func rightsOfGuest(t *testing.T, a *auth.Authenticator) *auth.Rights {
	t.Helper()
	user, err := login(a, "guest", "guest")
	if err != nil {
		t.Fatal(err)
	}
	r, ok := user.Rights("/")
	if !ok {
		t.Fatal("guest can't open /")
	}
	return r
}

func TestRefusedChanges(t *testing.T) {
	a := newAuth(t, userWith(auth.AllPermissions()))
	tests := []struct {
		name string
		err  error
		want error
	}{
		{"no name", a.PutUser(auth.Account{}), auth.ErrNoName},
		{"delete of nobody", a.DeleteUser("x"), auth.ErrNoUser},
		{"permissions of nobody", a.SetPermissions("x", "v", auth.AllPermissions()), auth.ErrNoUser},
		{"clear of nobody", a.ClearPermissions("x", "v"), auth.ErrNoUser},
		{"bad configure", a.SetPermissions("u", "v", auth.Permissions{Configure: "("}), auth.ErrInvalidRegexp},
		{"bad read", a.SetPermissions("u", "v", auth.Permissions{Read: "*"}), auth.ErrInvalidRegexp},
		{"bad topic", a.SetTopicPermissions("u", "v", "x", auth.TopicPermissions{Write: "["}), auth.ErrInvalidRegexp},
	}
	for _, tt := range tests {
		if !errors.Is(tt.err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, tt.err, tt.want)
		}
	}
	if err := rightsOf(t, a, "v").Configure(amqp.QueueResource, "q"); err != nil {
		t.Errorf("a refused change took effect: %v", err)
	}
}

func TestDamagedStorageIsReported(t *testing.T) {
	for name, storage := range map[string]*mapStorage{
		"not JSON":       {values: map[string][]byte{"u": []byte("{")}},
		"bad expression": {values: map[string][]byte{"u": []byte(`{"permissions":{"v":{"read":"("}}}`)}},
		"can't be read":  {fail: errors.New("disk on fire")},
	} {
		options := auth.DefaultOptions()
		options.Storage = storage
		if _, err := auth.New(options); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
}

func TestUsersAreCopies(t *testing.T) {
	a := newAuth(t, userWith(auth.AllPermissions()))
	if err := a.SetTopicPermissions("u", "v", "x", auth.TopicPermissions{Read: ".*"}); err != nil {
		t.Fatal(err)
	}
	got := a.Users()[0]
	got.Permissions["v"] = auth.Permissions{}
	delete(got.TopicPermissions["v"], "x")
	again := a.Users()[0]
	if again.Permissions["v"] != auth.AllPermissions() || len(again.TopicPermissions["v"]) != 1 {
		t.Errorf("what the caller did to its copy shows: %+v", again)
	}
}

func TestDefaultUserNeedsAPassword(t *testing.T) {
	options := auth.DefaultOptions()
	options.DefaultPassword = ""
	if _, err := auth.New(options); !errors.Is(err, auth.ErrBlankPassword) {
		t.Errorf("got %v", err)
	}
}
