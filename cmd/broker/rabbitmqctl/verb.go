package rabbitmqctl

import (
	"fmt"
	"slices"
	"strings"

	"leveret/ctl"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// verb is one command.
type verb struct {
	name    string // as on the command line
	args    string // what it takes, for people: <name> is required, [name] is not, and ... takes any number
	doing   string // said before it works; {0}, {1} stand for arguments, {vhost} for the virtual host
	options []option
	missing string // said if what is named is not there
	run     func(s *session, args []string) error
}

// takesUser tells whether the first argument is a user who has to be there.
func (v *verb) takesUser() bool { return v.firstIs("user") && v.name != "add_user" }

// firstIs tells what the first argument is.
func (v *verb) firstIs(what string) bool { return strings.HasPrefix(v.args, "<"+what+">") }

// option is an option of one verb alone.
type option struct{ name, fallback, help string }

// verbs are all of them.
func verbs() []verb {
	return slices.Concat(listVerbs(), userVerbs, permissionVerbs, vhostVerbs, ruleVerbs, objectVerbs, queueVerbs, nodeVerbs, diagnosticVerbs)
}

// Tools are the names that the command may be called by.
var Tools = []string{"rabbitmqctl", "rabbitmq-diagnostics", "rabbitmq-queues", "rabbitmq-upgrade", "rabbitmq-plugins"}

// New makes the command; name is what it is called by, one of [Tools]. All take the same verbs but rabbitmq-plugins, which has its own.
func New(name string) *cobra.Command {
	s := new(session)
	root := &cobra.Command{
		Use:               name,
		Short:             "RabbitMQ's command line tool, for its scripts and health checks",
		Args:              unknown,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	s.addFlags(root.PersistentFlags())
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return &failure{"Error (argument validation): Invalid options for this command:\n" + err.Error(), ctl.ExitUsage}
	})
	all := verbs()
	if name == "rabbitmq-plugins" {
		all = pluginVerbs
	}
	for _, v := range all {
		root.AddCommand(v.command(s))
	}
	return root
}

// unknown is for words that are no verb, with RabbitMQ's sentence and exit code.
func unknown(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &failure{fmt.Sprintf("Command '%s' not found. See '%s help'.", args[0], cmd.Name()), ctl.ExitUsage}
	}
	return nil
}

// command makes cobra's form of a verb.
func (v verb) command(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: strings.TrimSpace(v.name + " " + v.args),
		Args: func(cmd *cobra.Command, args []string) error {
			least, most := v.count()
			if len(args) >= least && len(args) <= most {
				return nil
			}
			much := "not enough"
			if len(args) > most {
				much = "too many"
			}
			return &failure{fmt.Sprintf("Error (argument validation): %s arguments.\nUsage\n\n%s %s", much, cmd.Root().Name(), cmd.Use), ctl.ExitUsage}
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			// One client for all of the verb's calls, which ends with it.
			stop, err := s.start(cmd, v.reason(args))
			if err != nil {
				return err
			}
			defer stop()
			// RabbitMQ's tool says what it is about to do before it knows whether that succeeds.
			if v.doing != "" && s.talks() {
				if err := s.say("%s ...", v.says(s, args)); err != nil {
					return err
				}
			}
			return s.told(&v, args, v.run(s, args))
		},
	}
	// Each verb has its own, beside those of the session that all have.
	v.addFlags(cmd.Flags())
	return cmd
}

// or is a value, or what stands for it when there is none.
func or(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}

// count is how many arguments the verb takes.
func (v verb) count() (least, most int) {
	least = strings.Count(v.args, "<")
	most = least + strings.Count(v.args, "[")
	if strings.Contains(v.args, "...") {
		// Any number, as far as anybody types.
		most = 1000
	}
	return least, most
}

// reason is what the clients of closed connections are told: the last argument of the verbs that close some.
func (v verb) reason(args []string) string {
	if strings.HasPrefix(v.name, "close_") && len(args) > 0 {
		return args[len(args)-1]
	}
	return ""
}

// says fills the sentence about what is being done.
func (v verb) says(s *session, args []string) string {
	text := strings.NewReplacer("{vhost}", s.vhost, "{priority}", s.flag("priority"), "{timeout}", fmt.Sprintf("%.1f", s.timeout)).Replace(v.doing)
	for i, arg := range args {
		text = strings.ReplaceAll(text, fmt.Sprintf("{%d}", i), arg)
	}
	return text
}

// addFlags declares a verb's own options. They are texts, as what is not a switch goes to the API unseen; switches may stand without a value.
func (v verb) addFlags(flags *pflag.FlagSet) {
	for _, o := range v.options {
		flags.String(o.name, o.fallback, o.help)
		if o.fallback == "false" || o.fallback == "true" {
			flags.Lookup(o.name).NoOptDefVal = "true"
		}
	}
}
