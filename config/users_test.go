package config_test

import (
	"slices"
	"strings"
	"testing"

	"leveret/config"
)

// A default user with the password that everybody knows may come from this machine alone, whatever it is called, unless somebody has lifted the rule for all.
func TestLoopback(t *testing.T) {
	for name, tt := range map[string]struct {
		lines string
		want  []string
	}{
		"nothing said":                        {"", []string{"guest"}},
		"another user with the same password": {"default_user = admin\n", []string{"guest", "admin"}},
		"another password":                    {"default_user = admin\ndefault_pass = long and secret\n", []string{"guest"}},
		"guest with another password":         {"default_pass = long and secret\n", []string{"guest"}},
		"nobody has to":                       {"default_user = admin\nloopback_users = none\n", nil},
		"guest need not":                      {"default_user = admin\nloopback_users.guest = false\n", nil},
		"others have to":                      {"default_user = admin\nloopback_users.ops = true\n", []string{"guest", "ops", "admin"}},
	} {
		if got := mustLoad(t, tt.lines).Loopback(); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(tt.want))) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	c := config.Default()
	before := slices.Clone(c.LoopbackUsers)
	c.DefaultUser = "admin"
	c.Loopback()
	if !slices.Equal(c.LoopbackUsers, before) {
		t.Errorf("to ask changes the setting to %q", c.LoopbackUsers)
	}
}

// New passwords are checked by the rule that is named, and by none if none is.
func TestPasswordRules(t *testing.T) {
	for name, tt := range map[string]struct {
		lines     string
		good, bad []string
	}{
		"none":       {"", []string{"", "x"}, nil},
		"everything": {"credential_validator.validation_backend = rabbit_credential_validator_accept_everything\n", []string{"x"}, nil},
		"length": {"credential_validator.validation_backend = rabbit_credential_validator_min_password_length\ncredential_validator.min_length = 5\n",
			[]string{"12345", "123456", "ääääääää"}, []string{"", "1234"}},
		"pattern": {"credential_validator.validation_backend = rabbit_credential_validator_password_regexp\ncredential_validator.regexp = ^[a-z]+[0-9]$\n",
			[]string{"abc1"}, []string{"abc", "1", "ABC1", ""}},
	} {
		check, err := mustLoad(t, tt.lines).CheckPassword()
		if err != nil || (check == nil) != (tt.bad == nil) {
			t.Errorf("%s: there is a rule: %t, %v", name, check != nil, err)
			continue
		}
		if check == nil {
			continue
		}
		for _, password := range tt.good {
			if err := check(password); err != nil {
				t.Errorf("%s refuses %q: %v", name, password, err)
			}
		}
		for _, password := range tt.bad {
			if check(password) == nil {
				t.Errorf("%s takes %q", name, password)
			}
		}
	}
}

// What no single setting can tell is looked at when all are known.
func TestUsersThatContradict(t *testing.T) {
	const pattern = "credential_validator.validation_backend = rabbit_credential_validator_password_regexp\ncredential_validator.regexp = "
	const remote = "definitions.import_backend = https\n"
	for lines, want := range map[string]string{
		pattern + "(\n":   "credential_validator.regexp = (",
		pattern + "^.+\n": "",
		remote:            "needs definitions.https.url",
		remote + "definitions.https.url = http://h/d\n":                                    "is not https",
		remote + "definitions.https.url = https://h/d\n":                                   "",
		remote + "definitions.https.url = https://h/d\nload_definitions = /d\n":            "not from both",
		remote + "definitions.https.url = https://h/d\ndefinitions.local.path = /d\n":      "not from both",
		remote + "definitions.https.url = https://h/d\nmanagement.load_definitions = /d\n": "not from both",
		remote + "definitions.https.url = https://h/d\ndefinitions.tls.certfile = /c\n":    "belong together",
		"load_definitions = /d\n": "",
	} {
		err := mustLoad(t, lines).Validate()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", lines, err, want)
		}
	}
}

// Limits on how many things there may be are numbers or infinity; all else is an error that names the key.
func TestLimitsOfThings(t *testing.T) {
	for value, want := range map[string]int{"infinity": 0, "1": 1, "2147483647": 1<<31 - 1} {
		if got := mustLoad(t, "connection_max = "+value+"\n").ConnectionMax; got != want {
			t.Errorf("%s: %d, want %d", value, got, want)
		}
	}
	for _, value := range []string{"0", "-1", "2147483648", "many", "1.5", "1e3", "0x10", "٣"} {
		if l, err := load(t, "connection_max = "+value+"\n", nil, nil); err == nil || !strings.Contains(err.Error(), "connection_max") {
			t.Errorf("%s: %+v, %v", value, l.ConnectionMax, err)
		}
	}
}

// Tags of the default user are added and taken away one by one.
func TestDefaultTags(t *testing.T) {
	for lines, want := range map[string]string{
		"": "administrator", "default_user_tags.monitoring = true\n": "administrator monitoring",
		"default_user_tags.administrator = false\ndefault_user_tags.management = true\n": "management",
		"default_user_tags.administrator = true\n":                                       "administrator",
		"default_user_tags.monitoring = true\ndefault_user_tags.monitoring = false\n":    "administrator",
	} {
		got := mustLoad(t, lines).DefaultTags
		if slices.Sort(got); strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", lines, got, want)
		}
	}
	if _, err := load(t, "default_user_tags.monitoring = perhaps\n", nil, nil); err == nil {
		t.Error("what is neither true nor false is taken")
	}
}
