package admin

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"leveret/ctl"

	"github.com/spf13/cobra"
)

// completionTime is how long a person who presses the tabulator waits at most.
const completionTime = 2 * time.Second

// fieldOfAll are the values of a field in a list of the API, for the shell to complete. Without an answer there are none.
func (s *session) fieldOfAll(cmd *cobra.Command, path, field string) []string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(contextOf(cmd)), completionTime)
	defer cancel()
	raw, _, err := s.call(ctx, http.MethodGet, path+"?columns="+field, nil)
	var found []ctl.Object
	// Nothing is printed: what the shell completes stands on the line that is being typed.
	if err != nil || ctl.Decode(raw, &found) != nil {
		return nil
	}
	var all []string
	for _, o := range found {
		all = append(all, o.Text(field))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// contextOf is a command's context; when the shell completes it has none.
func contextOf(cmd *cobra.Command) context.Context {
	if ctx := cmd.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}

// completion is cobra's form of what completes a word.
type completion = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective)

// completeFirst completes the first argument with names, and others with nothing.
func (s *session) completeFirst(names func(cmd *cobra.Command) []string) completion {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			// Names of files would be offered otherwise.
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return begunWith(names(cmd), begun), cobra.ShellCompDirectiveNoFileComp
	}
}

// begunWith are the names that begin with what was typed.
func begunWith(names []string, begun string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, begun) })
}

// queueNames are those of the virtual host that is meant.
func (s *session) queueNames(cmd *cobra.Command) []string {
	return s.fieldOfAll(cmd, ctl.Path("queues", s.vhost), "name")
}

// completeIdentity completes what identifies an object: the user for whom something is, or the name of one of the kind.
func (s *session) completeIdentity(n *noun, identity []field) completion {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		var names []string
		if len(args) < len(identity) {
			names = s.namesFor(cmd, n, &identity[len(args)])
		}
		return begunWith(names, begun), cobra.ShellCompDirectiveNoFileComp
	}
}

// namesFor are what a field of an object's identity may be.
func (s *session) namesFor(cmd *cobra.Command, n *noun, f *field) []string {
	switch {
	case f.choices != nil:
		return slices.Clone(f.choices)
	case f.name == "for":
		return s.fieldOfAll(cmd, "/users", "name")
	}
	return s.fieldOfAll(cmd, values{}.expand(n.list, s.vhost), f.name)
}

// completeChoices lets the shell complete the flags that have a few values.
func completeChoices(cmd *cobra.Command, fields []field) {
	for _, f := range fields {
		if f.choices != nil && cmd.Flags().Lookup(f.name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.name, cobra.FixedCompletions(f.choices, cobra.ShellCompDirectiveNoFileComp)) // fails only for flags that are not there
		}
	}
}

// completeVHosts lets the shell complete the flag that names a virtual host.
func (s *session) completeVHosts(cmd *cobra.Command) {
	// It fails only for a flag that is not there.
	_ = cmd.RegisterFlagCompletionFunc("vhost", func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return begunWith(s.fieldOfAll(cmd, "/vhosts", "name"), begun), cobra.ShellCompDirectiveNoFileComp
	})
}
