package auth_test

import (
	"errors"
	"fmt"
	"regexp"
	"sync"
	"testing"

	"leveret/amqp"
	"leveret/auth"

	"pgregory.net/rapid"
)

// rightsOf logs in as the user u and opens the virtual host.
func rightsOf(t testing.TB, a *auth.Authenticator, vhost string) *auth.Rights {
	t.Helper()
	user, err := login(a, "u", "test12")
	if err != nil {
		t.Fatal(err)
	}
	r, ok := user.Rights(vhost)
	if !ok {
		t.Fatalf("no rights in %q", vhost)
	}
	return r
}

func userWith(row auth.Permissions) auth.Account {
	return auth.Account{Name: "u", PasswordHash: test12Hash, Permissions: map[string]auth.Permissions{"v": row}}
}

func TestRights(t *testing.T) {
	const queue, exchange = amqp.QueueResource, amqp.ExchangeResource
	row := auth.Permissions{Configure: "^own-", Write: "^(orders|amq\\.default)$", Read: ""}
	r := rightsOf(t, newAuth(t, userWith(row)), "v")
	tests := []struct {
		right string
		check func(amqp.ResourceKind, string) error
		kind  amqp.ResourceKind
		name  string
		text  string // empty: allowed
	}{
		{"configure", r.Configure, queue, "own-1", ""},
		{"configure", r.Configure, queue, "other", "ACCESS_REFUSED - configure access to queue 'other' in vhost 'v' refused for user 'u'"},
		{"configure", r.Configure, exchange, "an-own-1", "ACCESS_REFUSED - configure access to exchange 'an-own-1' in vhost 'v' refused for user 'u'"},
		{"write", r.Write, exchange, "orders", ""},
		{"write", r.Write, exchange, "", ""},
		{"write", r.Write, queue, "", "ACCESS_REFUSED - write access to queue '' in vhost 'v' refused for user 'u'"},
		{"write", r.Write, exchange, "orders2", "ACCESS_REFUSED - write access to exchange 'orders2' in vhost 'v' refused for user 'u'"},
		{"read", r.Read, queue, "orders", "ACCESS_REFUSED - read access to queue 'orders' in vhost 'v' refused for user 'u'"},
		{"read", r.Read, exchange, "", "ACCESS_REFUSED - read access to exchange 'amq.default' in vhost 'v' refused for user 'u'"},
	}
	for range 2 { // the second time from memory
		for _, tt := range tests {
			err := tt.check(tt.kind, tt.name)
			var wire *amqp.Error
			if tt.text == "" && err != nil || tt.text != "" && (!errors.As(err, &wire) || wire.Code != 403 || wire.Text != tt.text) {
				t.Errorf("%s %s %q: got %v, want %q", tt.right, tt.kind, tt.name, err, tt.text)
			}
		}
	}
}

func TestTopicRights(t *testing.T) {
	account := userWith(auth.AllPermissions())
	account.TopicPermissions = map[string]map[string]auth.TopicPermissions{
		"v": {"x": {Write: "^{username}\\.{vhost}\\.", Read: ""}},
		"w": {"y": {}},
	}
	r := rightsOf(t, newAuth(t, account), "v")
	if err := r.WriteTopic("x", "u.v.key"); err != nil {
		t.Error(err)
	}
	err := r.WriteTopic("x", "u.w.key")
	if want := "ACCESS_REFUSED - write access to topic 'u.w.key' in exchange 'x' in vhost 'v' refused for user 'u'"; err == nil || err.(*amqp.Error).Text != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := r.ReadTopic("x", "u.v.key"); err == nil {
		t.Error("an empty expression allows something")
	}
	if r.ReadTopic("y", "k") != nil || r.WriteTopic("y", "k") != nil {
		t.Error("an exchange without a row in this virtual host is restricted")
	}
}

func TestVariablesAreQuoted(t *testing.T) {
	a := newAuth(t, auth.Account{
		Name: ".*", PasswordHash: test12Hash,
		Permissions:      map[string]auth.Permissions{"v": auth.AllPermissions()},
		TopicPermissions: map[string]map[string]auth.TopicPermissions{"v": {"x": {Write: "^{username}$"}}},
	})
	user, err := login(a, ".*", "test12")
	if err != nil {
		t.Fatal(err)
	}
	r, _ := user.Rights("v")
	if r.WriteTopic("x", ".*") != nil || r.WriteTopic("x", "anything") == nil {
		t.Error("a user's name works as an expression")
	}
}

func TestChangesReachOpenHandlesAtOnce(t *testing.T) {
	a := newAuth(t, userWith(auth.Permissions{Write: "^a"}))
	r := rightsOf(t, a, "v")
	steps := []struct {
		name   string
		change func() error
		ok     bool
	}{
		{"as it was", func() error { return nil }, true},
		{"narrowed", func() error { return a.SetPermissions("u", "v", auth.Permissions{Write: "^b"}) }, false},
		{"widened", func() error { return a.SetPermissions("u", "v", auth.Permissions{Write: ".*"}) }, true},
		{"cleared", func() error { return a.ClearPermissions("u", "v") }, false},
		{"granted", func() error { return a.SetPermissions("u", "v", auth.AllPermissions()) }, true},
		{"user deleted", func() error { return a.DeleteUser("u") }, false},
	}
	for _, step := range steps {
		before := r.Version().Load()
		if err := step.change(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if err := r.Write(amqp.ExchangeResource, "a"); (err == nil) != step.ok {
			t.Errorf("%s: %v, want ok %v", step.name, err, step.ok)
		}
		if changed := r.Version().Load() != before; changed != (step.name != "as it was") {
			t.Errorf("%s: version changed %v", step.name, changed)
		}
	}
	if err := r.WriteTopic("x", "k"); err == nil {
		t.Error("a deleted user may publish to a topic exchange")
	}
}

// TestRightsFollowModel compares answers and the memory behind them with plain regular expressions, over changes at random.
func TestRightsFollowModel(t *testing.T) {
	expressions := rapid.SampledFrom([]string{"", "^$", ".*", "^a", "b$", "a|b", "^(a|ab)$", "^amq\\.gen.*"})
	names := rapid.SampledFrom([]string{"a", "b", "ab", "ba", "c", "amq.gen-x", "\n"})
	rapid.Check(t, func(rt *rapid.T) {
		a := newAuth(t, userWith(auth.AllPermissions()))
		r := rightsOf(t, a, "v")
		model := auth.AllPermissions()
		rt.Repeat(map[string]func(*rapid.T){
			"set": func(rt *rapid.T) {
				model = auth.Permissions{Configure: expressions.Draw(rt, "c"), Write: expressions.Draw(rt, "w"), Read: expressions.Draw(rt, "r")}
				if err := a.SetPermissions("u", "v", model); err != nil {
					rt.Fatal(err)
				}
			},
			"ask": func(rt *rapid.T) {
				name := names.Draw(rt, "name")
				want := func(expression string) bool {
					return expression != "" && regexp.MustCompile("(?s)"+expression).MatchString(name)
				}
				for _, q := range []struct {
					got  error
					want bool
				}{
					{r.Configure(amqp.QueueResource, name), want(model.Configure)},
					{r.Write(amqp.QueueResource, name), want(model.Write)},
					{r.Read(amqp.QueueResource, name), want(model.Read)},
				} {
					if (q.got == nil) != q.want {
						rt.Fatalf("%+v on %q: %v, want %v", model, name, q.got, q.want)
					}
				}
			},
		})
	})
}

func TestMemoryOfDecisionsIsBounded(t *testing.T) {
	r := rightsOf(t, newAuth(t, userWith(auth.Permissions{Write: "^[0-9]*5$"})), "v")
	for i := range 10000 {
		name := fmt.Sprint(i)
		if err := r.Write(amqp.ExchangeResource, name); (err == nil) != (i%10 == 5) {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if got := r.Remembered(); got > 256 {
		t.Errorf("%d decisions are remembered", got)
	}
}

// TestConcurrentChanges has handles asking while rights flip: each answer is one that some version of the rights gives, and the last word
// is right.
func TestConcurrentChanges(t *testing.T) {
	a := newAuth(t, userWith(auth.Permissions{Read: "^q"}))
	var asking sync.WaitGroup
	for range 4 {
		r := rightsOf(t, a, "v")
		asking.Go(func() {
			for range 2000 {
				r.Read(amqp.QueueResource, "q")
			}
		})
	}
	for i := range 101 {
		row := auth.Permissions{Read: []string{"^q", "^x"}[i%2]}
		if err := a.SetPermissions("u", "v", row); err != nil {
			t.Fatal(err)
		}
	}
	asking.Wait()
	if err := rightsOf(t, a, "v").Read(amqp.QueueResource, "q"); err != nil {
		t.Error(err)
	}
}

func BenchmarkRights(b *testing.B) {
	for _, expression := range []string{".*", "^orders-[0-9]+$"} {
		b.Run(expression, func(b *testing.B) {
			r := rightsOf(b, newAuth(b, userWith(auth.Permissions{Write: expression})), "v")
			b.ReportAllocs()
			for b.Loop() {
				if err := r.Write(amqp.ExchangeResource, "orders-17"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
