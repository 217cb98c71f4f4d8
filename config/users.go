package config

import (
	"slices"
	"strconv"

	"leveret/auth"
	"leveret/auth/oauth"
)

// userSettings are about what there may be in the broker, and what its first start makes.
var userSettings = []setting{
	limit("connection_max", func(c *Config) *int { return &c.ConnectionMax }),
	limit("channel_max_per_node", func(c *Config) *int { return &c.ChannelMaxPerNode }),
	limit("consumer_max_per_channel", func(c *Config) *int { return &c.ConsumerMaxPerChannel }),
	limit("vhost_max", func(c *Config) *int { return &c.VHostMax }),
	limit("cluster_queue_limit", func(c *Config) *int { return &c.QueueMax }),
	limit("exchange_max", func(c *Config) *int { return &c.ExchangeMax }),
	choice("default_queue_type", "", func(c *Config) *string { return &c.DefaultQueueType },
		option[string]{"classic", "classic"}, option[string]{"quorum", "quorum"}, option[string]{"stream", "stream"}),
	userTags("default_user_tags"),
	text("default_permissions.configure", "", func(c *Config) *string { return &c.DefaultPermissions.Configure }),
	text("default_permissions.write", "", func(c *Config) *string { return &c.DefaultPermissions.Write }),
	text("default_permissions.read", "", func(c *Config) *string { return &c.DefaultPermissions.Read }),
	choice("credential_validator.validation_backend", "", func(c *Config) *string { return &c.PasswordRule },
		option[string]{"rabbit_credential_validator_accept_everything", ""},
		option[string]{"rabbit_credential_validator_min_password_length", MinLengthRule},
		option[string]{"rabbit_credential_validator_password_regexp", PatternRule}),
	integer("credential_validator.min_length", 1, 1024, func(c *Config) *int { return &c.PasswordMinLength }),
	text("credential_validator.regexp", "", func(c *Config) *string { return &c.PasswordPattern }),
	text("load_definitions", "definitions", func(c *Config) *string { return &c.Definitions }),
	otherName("management.load_definitions", func(c *Config) *string { return &c.Definitions }),
	otherName("definitions.local.path", func(c *Config) *string { return &c.Definitions }),
	choice("definitions.import_backend", "", func(c *Config) *string { return &c.DefinitionsFrom },
		option[string]{FileBackend, FileBackend}, option[string]{HTTPSBackend, HTTPSBackend}),
	text("definitions.https.url", "", func(c *Config) *string { return &c.DefinitionsURL }),
	text("definitions.tls.cacertfile", "", func(c *Config) *string { return &c.DefinitionsTLS.CAFile }),
	text("definitions.tls.certfile", "", func(c *Config) *string { return &c.DefinitionsTLS.CertFile }),
	text("definitions.tls.keyfile", "", func(c *Config) *string { return &c.DefinitionsTLS.KeyFile }),
	toggle("definitions.skip_if_unchanged", func(c *Config) *bool { return &c.SkipUnchanged }),
}

// Where definitions may come from, for definitions.import_backend.
const (
	FileBackend  = "local_filesystem"
	HTTPSBackend = "https"
)

// ImportsDefinitions tells whether the broker starts with definitions from elsewhere.
func (c Config) ImportsDefinitions() bool {
	return c.Definitions != "" || c.DefinitionsFrom == HTTPSBackend
}

// The rules for new passwords that a Config may name.
const (
	MinLengthRule = "length"
	PatternRule   = "pattern"
)

// infinity is the word for no limit.
const infinity = "infinity"

// limit is a number of things that there may be, or infinity, which is 0 in a Config.
func limit(key string, at func(*Config) *int) setting {
	parse := func(value string) (int, error) {
		if value == infinity {
			return 0, nil
		}
		n, err := parseInteger(value, 1, 1<<31-1)
		return int(n), err
	}
	format := func(n int) string {
		if n == 0 {
			return infinity
		}
		return strconv.Itoa(n)
	}
	return parsed(key, "", at, parse, format)
}

// otherName is a second key for a text.
func otherName(key string, at func(*Config) *string) setting {
	s := text(key, "", at)
	s.alias, s.get = true, nil
	return s
}

// userTags is a family whose names are tags, each of which is added or taken away.
func userTags(key string) setting {
	return setting{
		key: key + ".",
		set: func(c *Config, name, value string) error {
			given, err := parseBool(value)
			if err != nil {
				return err
			}
			c.DefaultTags = without(c.DefaultTags, name)
			if given {
				c.DefaultTags = append(c.DefaultTags, name)
			}
			return nil
		},
		get: func(c *Config) []assignment {
			var all []assignment
			for _, name := range c.DefaultTags {
				all = append(all, assignment{key: key + "." + name, value: "true"})
			}
			return all
		},
	}
}

// Loopback are the users that may connect from this machine only. The default user is one of them as long as it has the password that everybody
// knows, by whatever name, unless the rule was lifted for all.
func (c Config) Loopback() []string {
	known := Default()
	if len(c.LoopbackUsers) == 0 || c.DefaultPass != known.DefaultPass || c.DefaultUser == known.DefaultUser || c.DefaultUser == "" {
		return c.LoopbackUsers
	}
	return append(slices.Clone(c.LoopbackUsers), c.DefaultUser)
}

// validateUsers checks what no single of the settings here can tell.
func (c Config) validateUsers(complain func(condition bool, format string, args ...any)) {
	remote := c.DefinitionsFrom == HTTPSBackend
	complain(remote && c.DefinitionsURL == "", "definitions.import_backend = https needs definitions.https.url")
	complain(remote && c.Definitions != "", "definitions come from a URL or from load_definitions, not from both")
	complain(remote && c.DefinitionsURL != "" && !oauth.Confidential(c.DefinitionsURL), "definitions.https.url = %s is not https", c.DefinitionsURL)
	complain((c.DefinitionsTLS.CertFile == "") != (c.DefinitionsTLS.KeyFile == ""), "definitions.tls.certfile and definitions.tls.keyfile belong together")
	if c.PasswordRule == PatternRule {
		_, err := c.CheckPassword()
		complain(err != nil, "credential_validator.regexp = %s: %v", c.PasswordPattern, err)
	}
}

// CheckPassword is the rule for new passwords, nil if there is none.
func (c Config) CheckPassword() (func(password string) error, error) {
	switch c.PasswordRule {
	case MinLengthRule:
		return auth.MinPasswordLength(c.PasswordMinLength), nil
	case PatternRule:
		return auth.PasswordPattern(c.PasswordPattern)
	}
	return nil, nil
}
