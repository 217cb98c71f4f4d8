package auth_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"leveret/auth"
)

// Each refused change says why in RabbitMQ's words, and changes nothing.
func TestRefusedUsers(t *testing.T) {
	options := auth.DefaultOptions()
	options.DefaultUser = ""
	options.CheckPassword = auth.MinPasswordLength(8)
	a, err := auth.New(options)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		update auth.UserUpdate
		kind   error
		reason any
	}{
		{"no tags", auth.UserUpdate{Name: "u"}, auth.ErrNoTags, "tags_not_present"},
		{"two passwords", auth.UserUpdate{Name: "u", Password: new("long enough"), PasswordHash: new("AAAA"), Tags: []string{}}, auth.ErrBothPasswords,
			"both_password_and_password_hash_are_provided"},
		{"hash", auth.UserUpdate{Name: "u", PasswordHash: new("!!"), Tags: []string{}}, auth.ErrInvalidHash, []string{"not_base64", "!!"}},
		{"tags", auth.UserUpdate{Name: "u", Tags: make([]string, 33)}, auth.ErrTooManyTags, "A user can have at most 32 tags (received 33)"},
		{"password", auth.UserUpdate{Name: "u", Password: new("short"), Tags: []string{}}, auth.ErrWeakPassword, "minimum required password length: 8"},
		{"limit", auth.UserUpdate{Name: "u", Tags: []string{}, Limits: auth.Limits{"n": 1}}, auth.ErrUnknownLimit,
			`Unrecognised terms [{<<"n">>,1}] in user-limits`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := a.SetUser(tt.update)
			var invalid *auth.Invalid
			if !errors.As(err, &invalid) || !errors.Is(err, tt.kind) || !reflect.DeepEqual(invalid.Reason, tt.reason) {
				t.Errorf("got %v, want %v", err, tt.reason)
			}
			if len(a.Users()) != 0 {
				t.Error("a user was made all the same")
			}
		})
	}
	for name, err := range map[string]error{
		"password": a.SetPassword("nobody", "long enough"), "tags": a.SetTags("nobody", nil), "limit": a.SetLimit("nobody", auth.MaxChannels, 1),
		"permissions": a.SetPermissions("nobody", "/", auth.AllPermissions()), "deletion": a.DeleteUser("nobody"),
	} {
		var invalid *auth.Invalid
		if !errors.As(err, &invalid) || !reflect.DeepEqual(invalid.Reason, []string{"no_such_user", "nobody"}) {
			t.Errorf("%s of nobody: %v", name, err)
		}
	}
}

// An update replaces password and tags, and leaves permissions; limits only if it names some.
func TestSetUserKeepsWhatItDoesNotSay(t *testing.T) {
	a := newAuth(t)
	created, err := a.SetUser(auth.UserUpdate{Name: "u", Password: new("one"), Tags: []string{"a"}, Limits: auth.Limits{auth.MaxChannels: 5},
		Permissions: map[string]auth.Permissions{"/": {Read: "first"}}})
	if !created || err != nil {
		t.Fatal(created, err)
	}
	created, err = a.SetUser(auth.UserUpdate{Name: "u", Password: new("two"), Tags: []string{"b", "c"}, Permissions: map[string]auth.Permissions{"/": {Read: "second"}}})
	if created || err != nil {
		t.Fatal(created, err)
	}
	u, _ := a.Account("u")
	if !slices.Equal(u.Tags, []string{"b", "c"}) || u.Limits[auth.MaxChannels] != 5 || u.Permissions["/"].Read != "first" {
		t.Errorf("account %+v", u)
	}
	if _, err := login(a, "u", "one"); err == nil {
		t.Error("the old password still fits")
	}
	if _, err := login(a, "u", "two"); err != nil {
		t.Error(err)
	}
	if _, err := a.SetUser(auth.UserUpdate{Name: "u", Tags: []string{}}); err != nil {
		t.Fatal(err)
	}
	if _, err := login(a, "u", "two"); err == nil {
		t.Error("an update without a password leaves it")
	}
}

// A blank password may be set, by text or hash, and lets nobody in.
func TestBlankPasswordsLetNobodyIn(t *testing.T) {
	a := newAuth(t)
	for _, u := range []auth.UserUpdate{
		{Name: "text", Password: new(""), Tags: []string{}}, {Name: "hash", PasswordHash: new(""), Tags: []string{}}, {Name: "none", Tags: []string{}},
	} {
		if _, err := a.SetUser(u); err != nil {
			t.Errorf("%s: %v", u.Name, err)
		}
		if _, err := login(a, u.Name, ""); err == nil {
			t.Errorf("%s: logged in with a blank password", u.Name)
		}
	}
}

// Hashes of every known form fit the password they were made of, and no other.
func TestImportedHashes(t *testing.T) {
	for name, tt := range map[string]struct {
		hash    string
		hashing auth.Hashing
	}{
		"sha256":                  {test12Hash, auth.SHA256},
		"sha256 by default":       {test12Hash, ""},
		"md5":                     {"kI3GChNpte2FApYFXScl+0dIluk=", auth.MD5},
		"bcrypt":                  {"$2a$04$JcT.N67vl6WX6ZuGnEGc3.39pMTmjF.GyrcnXPKl82fVOqXZd8woy", auth.Bcrypt},
		"bcrypt by another name":  {"$2a$04$JcT.N67vl6WX6ZuGnEGc3.39pMTmjF.GyrcnXPKl82fVOqXZd8woy", "lavinmq_password_hashing_bcrypt"},
		"bcrypt without any name": {"$2a$04$JcT.N67vl6WX6ZuGnEGc3.39pMTmjF.GyrcnXPKl82fVOqXZd8woy", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAuth(t)
			if _, err := a.SetUser(auth.UserUpdate{Name: "u", PasswordHash: &tt.hash, HashingAlgorithm: tt.hashing, Tags: []string{}}); err != nil {
				t.Fatal(err)
			}
			if _, err := login(a, "u", "test12"); err != nil {
				t.Error(err)
			}
			for _, wrong := range []string{"", "test1", "test123", tt.hash} {
				if _, err := login(a, "u", wrong); err == nil {
					t.Errorf("logged in with %q", wrong)
				}
			}
		})
	}
}

// A bcrypt hash whose verification would take for ever is refused before anybody logs in.
func TestExpensiveHashesAreRefused(t *testing.T) {
	a := newAuth(t)
	for _, hash := range []string{
		"$2a$31$JcT.N67vl6WX6ZuGnEGc3.39pMTmjF.GyrcnXPKl82fVOqXZd8woy", "$2a$15$.1iR4/f5zqMtZcUOnlXZGOCDIFuNSwbj2eUoLcbkrdbwb3KxnGgDu", "$2", "$2a$xx$",
	} {
		if _, err := a.SetUser(auth.UserUpdate{Name: "u", PasswordHash: &hash, Tags: []string{}}); !errors.Is(err, auth.ErrInvalidHash) {
			t.Errorf("%s: %v", hash, err)
		}
	}
	if _, err := auth.HashPassword(auth.MD5, "x"); err == nil {
		t.Error("new hashes may be MD5")
	}
}

func TestPasswordRules(t *testing.T) {
	pattern, err := auth.PasswordPattern(`^\d{10,15}$`)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		rule     func(string) error
		password string
		text     string
	}{
		{auth.MinPasswordLength(3), "abc", ""},
		{auth.MinPasswordLength(3), "ab", "minimum required password length: 3"},
		{pattern, "0123456789", ""},
		{pattern, "x0123456789", "provided password does not match the validator regular expression"},
	} {
		if err := tt.rule(tt.password); err == nil && tt.text != "" || err != nil && err.Error() != tt.text {
			t.Errorf("%q: %v, want %q", tt.password, err, tt.text)
		}
	}
	if _, err := auth.PasswordPattern("["); err == nil {
		t.Error("a bad expression is a rule")
	}
}

// A virtual host that is gone leaves no permissions of anybody.
func TestForgetVHost(t *testing.T) {
	a := newAuth(t)
	for i := range 3 {
		name := fmt.Sprint("u", i)
		if _, err := a.SetUser(auth.UserUpdate{Name: name, Tags: []string{}}); err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(a.SetPermissions("u0", "v", auth.Permissions{}), a.SetPermissions("u0", "w", auth.AllPermissions()),
		a.SetTopicPermissions("u1", "v", "x", auth.TopicPermissions{}), a.ForgetVHost("v"))
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range a.Users() {
		if _, ok := u.Permissions["v"]; ok || u.TopicPermissions["v"] != nil {
			t.Errorf("%+v", u)
		}
	}
	if u, _ := a.Account("u0"); u.Permissions["w"] != auth.AllPermissions() {
		t.Error("permissions in another virtual host are gone")
	}
}

func TestProtectedUsersAndDeletions(t *testing.T) {
	a := newAuth(t, auth.Account{Name: "p", Tags: []string{"protected"}}, auth.Account{Name: "q"}, auth.Account{Name: "r"})
	var deleted []string
	a.OnDelete(func(user string) { deleted = append(deleted, user) })
	if err := a.CheckUnprotected("p"); !errors.Is(err, auth.ErrProtected) || err.Error() != "Protected users cannot be modified via the HTTP API" {
		t.Errorf("got %v", err)
	}
	if err := errors.Join(a.CheckUnprotected("q"), a.CheckUnprotected("nobody"), a.DeleteUsers([]string{"q", "nobody", "r"})); err != nil {
		t.Error(err)
	}
	if got := strings.Join(deleted, " "); got != "q r" {
		t.Errorf("told of %q", got)
	}
}

func TestSplitTags(t *testing.T) {
	for given, want := range map[string][]string{"": {}, " , ": {}, "a": {"a"}, "a, b ,c,": {"a", "b", "c"}} {
		if got := auth.SplitTags(given); !slices.Equal(got, want) || got == nil {
			t.Errorf("%q: %q", given, got)
		}
	}
}
