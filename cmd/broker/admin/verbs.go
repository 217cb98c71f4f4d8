package admin

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"leveret/ctl"

	"github.com/spf13/cobra"
)

// New makes `broker ctl`.
func New() *cobra.Command {
	s := new(session)
	cmd := group("ctl", "Administer a broker over its HTTP API")
	cmd.Long = "Administer a broker over its HTTP API, this one or one that is far away.\n\n" +
		"Tables fit the terminal; --json prints what the API answers, for scripts. Exit codes: 0 done, 64 the command line is wrong,\n" +
		"65 the broker refuses, 69 it does not answer, 70 it has a fault, 75 it did not answer in time."
	s.addFlags(cmd.PersistentFlags())
	cmd.SetFlagErrorFunc(flagError)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true // whoever runs it tells the error
	cmd.AddCommand(s.statusCommand(), s.listCommand(), s.showCommand(), s.declareCommand(), s.deleteCommand(), s.publishCommand(),
		s.getCommand(), s.purgeCommand(), s.requeueCommand(), s.cancelCommand(), s.closeCommand(), s.restartCommand(), s.setCommand(), s.stopCommand(),
		s.alarmsCommand(), s.healthCommand(), s.watchCommand(), s.whoamiCommand(), s.definitionsCommand())
	cmd.AddCommand(s.insight()...)
	// Last, as it is of a flag that all have.
	s.completeVHosts(cmd)
	return cmd
}

// NewDefinitions makes `broker definitions`, which is `broker ctl definitions` where people look for it.
func NewDefinitions() *cobra.Command {
	s := new(session)
	cmd := s.definitionsCommand()
	s.addFlags(cmd.PersistentFlags())
	cmd.SetFlagErrorFunc(flagError)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true // whoever runs it tells the error
	return cmd
}

// flagError makes errors of flags errors of usage. A number below 0 looks like a flag, and no argument can be one.
func flagError(_ *cobra.Command, err error) error {
	text := err.Error()
	if _, shorthand, found := strings.Cut(text, "unknown shorthand flag: "); found && len(shorthand) > 1 && shorthand[1] >= '0' && shorthand[1] <= '9' {
		_, given, _ := strings.Cut(shorthand, " in ")
		text = given + " is below 0, which can't be"
	}
	return &ctl.UsageError{Text: text}
}

// usage makes cobra's checks of arguments errors of usage.
func usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return &ctl.UsageError{Text: err.Error() + "; see " + cmd.CommandPath() + " --help"}
		}
		return nil
	}
}

// group makes a command that has no work but those below it: a word that none of them is called by is an error.
func group(use, short string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: usage(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(below...)
	return cmd
}

// names are what a noun may be called by besides its first name.
func names(first, second string) []string {
	all := []string{second, strings.ReplaceAll(first, "_", "-"), strings.ReplaceAll(second, "_", "-")}
	return slices.Compact(slices.DeleteFunc(all, func(name string) bool { return name == first })) // a name without "_" is there twice
}

// verb makes the commands of one verb for all nouns that have it. Each takes what identifies an object as arguments or as flags.
// has picks the nouns, fields the flags that a command has beside its identity, and run works, with all values in v. Each
// command has values of its own: flags of one noun are no flags of another.
func (s *session) verb(use, short string, has func(*noun) bool, fields func(*noun) []field, run func(cmd *cobra.Command, n *noun, v values) error) *cobra.Command {
	verb := group(use, short)
	for i := range nouns {
		n := &nouns[i]
		if !has(n) {
			continue
		}
		v := values{}
		identity := n.identity()
		cmd := &cobra.Command{
			Use: n.name + arguments(identity), Aliases: names(n.name, n.plural), Short: strings.ToUpper(use[:1]) + use[1:] + " " + strings.ReplaceAll(n.name, "_", " "), Args: usage(cobra.MaximumNArgs(len(identity))),
			RunE: func(cmd *cobra.Command, args []string) error {
				for i, arg := range args {
					*v[identity[i].name] = arg
				}
				if err := v.check(cmd.Flags(), identity); err != nil {
					return err
				}
				return run(cmd, n, v)
			},
			ValidArgsFunction: s.completeIdentity(n, identity),
		}
		v.addFlags(cmd.Flags(), identity)
		// What identifies the object has its flags already.
		v.addFlags(cmd.Flags(), slices.DeleteFunc(slices.Clone(fields(n)), func(f field) bool { return v[f.name] != nil }))
		completeChoices(cmd, n.fields)
		verb.AddCommand(cmd)
	}
	return verb
}

// arguments is how help shows what identifies an object.
func arguments(identity []field) string {
	var b strings.Builder
	for _, f := range identity {
		b.WriteString(" [" + strings.ToUpper(f.name) + "]")
	}
	return b.String()
}

// showCommand is for nouns that the API can show one of.
func (s *session) showCommand() *cobra.Command {
	// No path of one means that the API has no answer for one.
	return s.verb("show", "Show everything about one object", func(n *noun) bool { return n.item != "" }, func(*noun) []field { return nil }, s.show)
}

// show prints an object, a line a field.
func (s *session) show(cmd *cobra.Command, n *noun, v values) error {
	var found any
	raw, err := s.get(cmd.Context(), v.expand(n.item, s.vhost), &found)
	if err != nil {
		return s.lacks(err, n, v)
	}
	if s.json {
		return printJSON(cmd.OutOrStdout(), raw)
	}
	switch found := found.(type) {
	case map[string]any:
		return s.print(cmd.OutOrStdout(), properties(found))
	case []any: // one for each exchange, as topic permissions are
		return s.print(cmd.OutOrStdout(), tableOf(objectsIn(found), n.columns))
	}
	return printJSON(cmd.OutOrStdout(), raw)
}

// declareCommand is for those that it makes. Bindings have no path of their own and so a command of their own.
func (s *session) declareCommand() *cobra.Command {
	cmd := s.verb("declare", "Declare an object, or change it", func(n *noun) bool { return n.item != "" && !n.readOnly },
		func(n *noun) []field { return n.fields }, s.declare)
	cmd.AddCommand(s.declareBindingCommand())
	return cmd
}

// declare makes an object, or changes the one that is there. What makes no sense is refused before anything is asked of the broker.
func (s *session) declare(cmd *cobra.Command, n *noun, v values) error {
	if err := v.check(cmd.Flags(), n.fields); err != nil {
		return err
	}
	body, err := n.body(v)
	if err != nil {
		return err
	}
	// What the broker would take and the user can't mean.
	if n.refuse != nil {
		if reason := n.refuse(v); reason != "" {
			return &ctl.UsageError{Text: reason}
		}
	}
	// Last before the call: it may ask the broker what is there.
	if n.keep != nil {
		if err := n.keep(s, cmd, v, body); err != nil {
			return err
		}
	}
	_, created, err := s.call(cmd.Context(), http.MethodPut, v.expand(n.item, s.vhost), body)
	if err != nil {
		return err
	}
	// The API tells new from changed by its status, and has none for "was there already and is as you say".
	done := "is set"
	switch {
	case created:
		done = "created"
	case n.fixed:
		done = "is there"
	}
	return s.say(cmd, "%s %s %s", n.name, v.title(n), done)
}

// lacks makes of an answer that something is not there one that says what.
// The API says "Not Found" for whichever part of the path it is.
func (s *session) lacks(err error, n *noun, v values) error {
	if !ctl.IsMissing(err) {
		return err
	}
	where := ""
	if strings.Contains(n.item, "{vhost}") {
		where = " in virtual host '" + s.vhost + "'"
	}
	return &ctl.Refusal{Status: http.StatusNotFound, Reason: "there is no " + strings.ReplaceAll(n.name, "_", " ") + " " + v.title(n) + where}
}

// title is what an object is called in messages.
func (v values) title(n *noun) string {
	var parts []string
	for _, f := range n.identity() {
		parts = append(parts, "'"+*v[f.name]+"'")
	}
	return strings.Join(parts, " ")
}

// deleteCommand is for the same nouns, and for single messages of a queue.
func (s *session) deleteCommand() *cobra.Command {
	missing := field{name: "idempotently", help: "no error if there is none", kind: boolean, fallback: "false"}
	cmd := s.verb("delete", "Delete an object", func(n *noun) bool { return n.item != "" && !n.readOnly },
		func(n *noun) []field { return append(slices.Clone(n.query), missing) }, s.delete)
	cmd.AddCommand(s.deleteBindingCommand(), s.deleteMessageCommand())
	return cmd
}

// delete deletes an object; the conditions that some deletions have, --if-empty for one, go into the query.
func (s *session) delete(cmd *cobra.Command, n *noun, v values) error {
	query := url.Values{}
	for _, f := range n.query {
		// Only what is asked for goes along: a deletion without conditions has no query.
		if *v[f.name] == "true" {
			query.Set(f.name, "true")
		}
	}
	path := v.expand(n.item, s.vhost)
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	if err := s.remove(cmd.Context(), path, *v["idempotently"] == "true"); err != nil {
		return s.lacks(err, n, v)
	}
	return s.say(cmd, "%s %s deleted", n.name, v.title(n))
}

// remove deletes what stands at a path.
func (s *session) remove(ctx context.Context, path string, mayLack bool) error {
	_, _, err := s.call(ctx, http.MethodDelete, path, nil)
	if mayLack && ctl.IsMissing(err) {
		return nil
	}
	return err
}
