package auth_test

import (
	"strings"
	"testing"
	"time"

	"leveret/amqp"
	"leveret/auth"

	"pgregory.net/rapid"
)

// granted logs in with a token that has these scopes.
func granted(t testing.TB, scopes ...string) *auth.User {
	t.Helper()
	a := newAuthWith(t, func(o *auth.Options) {
		o.Tokens = trusting(auth.Token{User: "u", Scopes: scopes, Expires: time.Now().Add(time.Hour)})
	})
	user, err := login(a, "", aToken)
	if err != nil {
		t.Fatal(err)
	}
	return user
}

func TestScopes(t *testing.T) {
	type check struct {
		vhost, right, name string
		allowed            bool
	}
	tests := []struct {
		name   string
		scopes []string
		checks []check
	}{
		{"none", nil, []check{{"/", "read", "q", false}}},
		{"one right", []string{"read:*/*"}, []check{{"/", "read", "q", true}, {"/", "write", "q", false}, {"/", "configure", "q", false}}},
		{"one name", []string{"write:v/q"}, []check{{"v", "write", "q", true}, {"v", "write", "qq", false}, {"w", "write", "q", false}}},
		{"beginning", []string{"configure:v/a*"}, []check{{"v", "configure", "a", true}, {"v", "configure", "abc", true}, {"v", "configure", "ba", false}}},
		{"end", []string{"read:v/*a"}, []check{{"v", "read", "a", true}, {"v", "read", "ba", true}, {"v", "read", "ab", false}}},
		{"both ends", []string{"read:v/a*a"}, []check{{"v", "read", "aa", true}, {"v", "read", "a", false}, {"v", "read", "aba", true}}},
		{"middle", []string{"read:v/a*b*c"}, []check{{"v", "read", "abc", true}, {"v", "read", "a1b2c", true}, {"v", "read", "acb", false}, {"v", "read", "ac", false}}},
		{"repeated end", []string{"read:v/foo*bar"}, []check{{"v", "read", "foobarbar", true}, {"v", "read", "foobarb", false}}},
		{"line break", []string{"read:v/a*"}, []check{{"v", "read", "a\nb", true}}},
		{"root", []string{"read:%2F/*"}, []check{{"/", "read", "q", true}, {"v", "read", "q", false}}},
		{"literal star", []string{"read:v/%2A"}, []check{{"v", "read", "*", true}, {"v", "read", "q", false}}},
		{"several", []string{"read:v/a", "read:v/b", "write:w/*"}, []check{{"v", "read", "a", true}, {"v", "read", "b", true}, {"v", "write", "a", false}, {"w", "write", "a", true}}},
		{"no expression", []string{"read:v/."}, []check{{"v", "read", "q", false}, {"v", "read", ".", true}}},
		{"with a key", []string{"write:v/x/k"}, []check{{"v", "write", "x", true}}},
		{"default exchange", []string{"write:v/amq.default"}, []check{{"v", "write", "", true}}},
		{"malformed", []string{"read:v", "read:v/a/b/c", "read", "admin:v/*", "read:v/%zz", "READ:v/*"}, []check{{"v", "read", "a", false}, {"v", "read", "", false}}},
	}
	for _, tt := range tests {
		user := granted(t, tt.scopes...)
		for _, c := range tt.checks {
			rights, ok := user.Rights(c.vhost)
			if !ok && c.allowed {
				t.Errorf("%s: may not open %s", tt.name, c.vhost)
				continue
			}
			ask := map[string]func(amqp.ResourceKind, string) error{"configure": rights.Configure, "write": rights.Write, "read": rights.Read}[c.right]
			for range 2 { // the second answer may be a remembered one
				if err := ask(amqp.ExchangeResource, c.name); (err == nil) != c.allowed || err != nil && code(err) != 403 {
					t.Errorf("%s: %s %q in %s: %v", tt.name, c.right, c.name, c.vhost, err)
				}
			}
		}
	}
}

func TestScopesOpenVirtualHosts(t *testing.T) {
	user := granted(t, "read:team*/q", "tag:administrator")
	for vhost, want := range map[string]bool{"team": true, "team1": true, "ateam": false, "/": false} {
		if _, ok := user.Rights(vhost); ok != want {
			t.Errorf("%s: opened %v", vhost, ok)
		}
	}
	if !user.HasTag("administrator") || user.HasTag("management") || user.HasAccount() || !user.FromToken() {
		t.Errorf("tags %q, account %v", user.Tags(), user.HasAccount())
	}
}

// A token's user needs a word for routing keys too, where accounts are free of them.
func TestScopesOfTopics(t *testing.T) {
	rights, _ := granted(t, "write:v/x*/a.*", "write:v/x1/b", "write:v/y", "read:v/x/*").Rights("v")
	tests := []struct {
		name, exchange, key string
		ask                 func(exchange, key string) error
		allowed             bool
	}{
		{"matches", "x", "a.b", rights.WriteTopic, true},
		{"other key", "x", "b", rights.WriteTopic, false},
		{"another scope's key", "x1", "b", rights.WriteTopic, true},
		{"other exchange", "z", "a.b", rights.WriteTopic, false},
		{"scope without a key", "y", "a.b", rights.WriteTopic, false},
		{"any key", "x", "whatever", rights.ReadTopic, true},
		{"right of another", "x1", "a.b", rights.ReadTopic, false},
	}
	for _, tt := range tests {
		for range 2 {
			if err := tt.ask(tt.exchange, tt.key); (err == nil) != tt.allowed || err != nil && code(err) != 403 {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
	}
}

// matches is what wildcards mean, without any thought of speed.
func matches(pattern, text string) bool {
	if pattern == "" {
		return text == ""
	}
	if pattern[0] == '*' {
		return matches(pattern[1:], text) || text != "" && matches(pattern, text[1:])
	}
	return text != "" && text[0] == pattern[0] && matches(pattern[1:], text[1:])
}

func TestWildcardsAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pattern := rapid.StringMatching(`[ab*]{0,8}`).Draw(rt, "pattern")
		text := rapid.StringMatching(`[ab]{0,10}`).Draw(rt, "text")
		if got := auth.MatchWildcard(pattern, text); got != matches(pattern, text) {
			rt.Fatalf("%q matches %q: %v", pattern, text, got)
		}
	})
}

func FuzzScope(f *testing.F) {
	f.Add("read:v/a*/k", "v", "a")
	f.Add("read:%2F/%2a", "/", "*")
	f.Add("tag:administrator", "v", "a")
	f.Fuzz(func(t *testing.T, text, vhost, name string) {
		user := granted(t, text)
		rights, ok := user.Rights(vhost)
		for _, ask := range []func(amqp.ResourceKind, string) error{rights.Configure, rights.Write, rights.Read} {
			if ask(amqp.QueueResource, name) == nil && (!ok || strings.Count(text, "/") == 0) {
				t.Errorf("%q gives rights on %q in %q", text, name, vhost)
			}
		}
	})
}
