package main

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"leveret/config"
)

const (
	someDefinitions = `{"rabbit_version": "4.3.6", "vhosts": [{"name": "v"}],
		"users": [{"name": "u", "password": "secret", "tags": ["administrator"]}],
		"permissions": [{"user": "u", "vhost": "v", "configure": ".*", "write": ".*", "read": ".*"}],
		"queues": [{"name": "q", "vhost": "v", "arguments": {"x-max-length": 5}}]}`
	moreDefinitions = `{"queues": [{"name": "r", "vhost": "v"}]}`
	badDefinitions  = `{"queues": [{"name": "r", "vhost": "nowhere"}]}`
)

// boot starts a node on a folder, without listeners, and lets look at it before it stops.
func boot(t testing.TB, dir string, change func(c *config.Config), look func(n *node)) {
	t.Helper()
	c := config.Default()
	c.DataDir = dir
	change(&c)
	n, err := newNode(c, slog.New(slog.NewTextHandler(io.Discard, nil)), new(slog.LevelVar))
	if err != nil {
		t.Fatal(err)
	}
	look(n)
	if err := n.stop(); err != nil {
		t.Error(err)
	}
}

// vhosts and users are the names of what there is.
func (n *node) vhosts() (names []string) {
	for _, v := range n.server.VHosts() {
		names = append(names, v.Name())
	}
	return names
}

func (n *node) userNames() (names []string) {
	for _, u := range n.users.Users() {
		names = append(names, u.Name)
	}
	return names
}

// The first start makes the default user and virtual host, later ones nothing: who has deleted guest does not want it back.
func TestFirstStart(t *testing.T) {
	dir := t.TempDir()
	named := func(c *config.Config) {
		c.DefaultUser, c.DefaultPass, c.DefaultVHost = "admin", "secret", "first"
		c.DefaultTags, c.DefaultPermissions.Write = []string{"monitoring"}, "^x"
	}
	boot(t, dir, named, func(n *node) {
		u, _ := n.users.Account("admin")
		if !slices.Equal(n.vhosts(), []string{"first"}) || !slices.Equal(u.Tags, []string{"monitoring"}) || u.Permissions["first"].Write != "^x" {
			t.Errorf("virtual hosts %q, account %+v", n.vhosts(), u)
		}
		if d := n.server.VHost("first").Metadata().Description; d != "Default virtual host" {
			t.Errorf("description %q", d)
		}
		if err := n.users.DeleteUser("admin"); err != nil {
			t.Fatal(err)
		}
	})
	boot(t, dir, func(*config.Config) {}, func(n *node) {
		if len(n.userNames()) != 0 || !slices.Equal(n.vhosts(), []string{"first"}) {
			t.Errorf("the second start makes %q and %q", n.userNames(), n.vhosts())
		}
	})
}

// With definitions to import there is nothing but what they say, and they are imported again unless the settings say otherwise.
func TestDefinitionsAtTheStart(t *testing.T) {
	dir, from := t.TempDir(), file(t, "d.json", someDefinitions)
	imports := func(c *config.Config) { c.Definitions = from }
	boot(t, dir, imports, func(n *node) {
		if !slices.Equal(n.userNames(), []string{"u"}) || !slices.Equal(n.vhosts(), []string{"v"}) || !n.server.VHost("v").HasQueue("q") {
			t.Errorf("users %q, virtual hosts %q", n.userNames(), n.vhosts())
		}
		if err := n.users.DeleteUser("u"); err != nil {
			t.Fatal(err)
		}
	})
	skips := func(c *config.Config) { imports(c); c.SkipUnchanged = true }
	boot(t, dir, skips, func(n *node) {
		if len(n.userNames()) != 0 || !n.server.VHost("v").HasQueue("q") {
			t.Error("what has not changed is imported again")
		}
	})
	boot(t, dir, imports, func(n *node) {
		if !slices.Equal(n.userNames(), []string{"u"}) {
			t.Errorf("users %q", n.userNames())
		}
	})
	if err := os.WriteFile(from, []byte(moreDefinitions), 0o600); err != nil {
		t.Fatal(err)
	}
	boot(t, dir, skips, func(n *node) {
		if !n.server.VHost("v").HasQueue("r") {
			t.Error("what has changed is passed over")
		}
	})
}

// A folder means all its files by their names, hidden ones and folders aside.
func TestFolderOfDefinitions(t *testing.T) {
	from := t.TempDir()
	for name, text := range map[string]string{"2.json": moreDefinitions, "1.json": someDefinitions, ".hidden": "{"} {
		if err := os.WriteFile(filepath.Join(from, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(from, "0-folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	boot(t, "", func(c *config.Config) { c.Definitions = from }, func(n *node) {
		if v := n.server.VHost("v"); v == nil || !v.HasQueue("q") || !v.HasQueue("r") {
			t.Error("not all files are imported")
		}
	})
}

// Definitions that can't be imported end the start, with the file and the reason.
func TestBadDefinitionsEndTheStart(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"unknown virtual host": {badDefinitions, `d.json: Please create virtual host "nowhere" prior to importing definitions.`},
		"no JSON":              {"x", "d.json: failed_to_parse_json"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := broker(t, "", "serve", "--data-dir", "none", "--amqp-addr", "127.0.0.1:0", "--http-addr", "none",
				"--metrics-addr", "none", "--definitions", file(t, "d.json", tt.text))
			if code != 1 || !strings.Contains(stderr, tt.want) {
				t.Errorf("exit code %d:\n%s", code, stderr)
			}
		})
	}
	code, _, stderr := broker(t, "", "serve", "--data-dir", "none", "--definitions", filepath.Join(t.TempDir(), "none"))
	if code != 1 || !strings.Contains(stderr, "broker: definitions: ") {
		t.Errorf("exit code %d:\n%s", code, stderr)
	}
}

func TestDefinitionsCheck(t *testing.T) {
	good, more, bad := file(t, "good.json", someDefinitions), file(t, "more.json", moreDefinitions), file(t, "bad.json", badDefinitions)
	code, stdout, _ := broker(t, "", "definitions", "check", good, more)
	if want := good + ": 1 users, 1 virtual hosts, 0 policies, 0 parameters, 1 queues, 0 exchanges, 0 bindings\n"; code != 0 || !strings.HasPrefix(stdout, want) {
		t.Errorf("exit code %d:\n%s", code, stdout)
	}
	for _, name := range []string{more, bad} { // more is no file of its own
		if code, _, stderr := broker(t, "", "definitions", "check", name); code != 1 || !strings.Contains(stderr, "Please create virtual host") {
			t.Errorf("%s: exit code %d:\n%s", name, code, stderr)
		}
	}
}

// The password that everybody knows opens the broker from elsewhere under no name, unless the operator lifted the rule.
func TestKnownPasswordsStayAtHome(t *testing.T) {
	for _, tt := range []struct {
		user, password string
		loopback, want []string
	}{
		{"guest", "guest", []string{"guest"}, []string{"guest"}},
		{"admin", "guest", []string{"guest"}, []string{"guest", "admin"}},
		{"admin", "secret", []string{"guest"}, []string{"guest"}},
		{"admin", "guest", nil, nil},
		{"guest", "secret", []string{"guest"}, []string{"guest"}},
		{"", "guest", []string{"guest"}, []string{"guest"}},
	} {
		c := config.Default()
		c.DefaultUser, c.DefaultPass, c.LoopbackUsers = tt.user, tt.password, tt.loopback
		if got := authOptions(c, nil, nil).LoopbackUsers; !slices.Equal(got, tt.want) {
			t.Errorf("%s with %s: %q from this machine only, want %q", tt.user, tt.password, got, tt.want)
		}
	}
}
