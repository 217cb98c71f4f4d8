package admin

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"leveret/ctl"

	"github.com/spf13/cobra"
)

// listOptions are what one wants to see of a list.
// Fields are paths: message_stats.publish is a field of a field.
type listOptions struct {
	columns, sort, where []string
}

// listCommand has a command below it for each noun, so that help and completion know what can be listed.
func (s *session) listCommand() *cobra.Command {
	cmd := group("list", "List objects of a kind")
	for i := range nouns {
		n := &nouns[i]
		var o listOptions
		list := &cobra.Command{
			Use: n.plural, Aliases: names(n.plural, n.name), Short: "List " + n.short, Args: usage(cobra.NoArgs),
			Long:              "List " + n.short + ". Fields are called as in the API's answers, which --json prints.",
			Example:           n.example(),
			RunE:              func(cmd *cobra.Command, _ []string) error { return s.list(cmd, n, o) },
			ValidArgsFunction: cobra.NoFileCompletions,
		}
		list.Flags().StringSliceVar(&o.columns, "columns", nil, "fields to show: name,messages,message_stats.publish")
		list.Flags().StringSliceVar(&o.sort, "sort", nil, "fields to sort by")
		list.Flags().StringArrayVar(&o.where, "where", nil, "only those with this value in a field, FIELD=VALUE; several have to fit all")
		cmd.AddCommand(list)
	}
	return cmd
}

// example is one use of the list, with fields that these objects have.
func (n *noun) example() string {
	first, _, _ := strings.Cut(n.columns[0].path, "|")
	last, _, _ := strings.Cut(n.columns[len(n.columns)-1].path, "|")
	return "  broker ctl list " + n.plural + " --columns " + first + "," + last + " --sort " + last
}

// list prints a table of objects: of all virtual hosts, unless the command line names one.
func (s *session) list(cmd *cobra.Command, n *noun, o listOptions) error {
	// Without --vhost a list is of all virtual hosts, which the API has under the same path without the last part.
	path := strings.TrimSuffix(n.list, "/{vhost}")
	if s.vhostGiven() {
		if path != n.list {
			path = values{}.expand(n.list, s.vhost)
		} else if n.ofVHost { // the API can't narrow these lists down, so it is done here
			o.where = append(slices.Clone(o.where), "vhost="+s.vhost)
		}
	}
	// Before the broker is asked: a mistake costs no call.
	wanted, err := conditions(o.where)
	if err != nil {
		return err
	}
	columns := n.columns
	if len(o.columns) > 0 {
		// The API is asked for what is needed alone: the fields that are shown, sorted by and compared.
		path += "?columns=" + url.QueryEscape(strings.Join(slices.Concat(o.columns, o.sort, wanted.fields()), ","))
		columns = nil
		for _, name := range o.columns {
			columns = append(columns, column{name, name})
		}
	}
	raw, _, err := s.call(cmd.Context(), http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	if s.json {
		return s.printListJSON(cmd, raw, wanted)
	}
	var found []ctl.Object
	if err := ctl.Decode(raw, &found); err != nil {
		return err
	}
	// The API has no filter by values, but for names; lists are short beside the network.
	found = slices.DeleteFunc(found, func(one ctl.Object) bool { return !wanted.fit(one) })
	ctl.Sort(found, o.sort...)
	return s.print(cmd.OutOrStdout(), tableOf(found, columns))
}

// printListJSON prints the objects that are wanted, each as it came.
// Nothing is decoded and encoded again that is kept: numbers and the order of fields stay.
func (s *session) printListJSON(cmd *cobra.Command, raw []byte, wanted condition) error {
	if len(wanted) == 0 {
		return printJSON(cmd.OutOrStdout(), raw)
	}
	var all []json.RawMessage
	if err := ctl.Decode(raw, &all); err != nil {
		return err
	}
	kept := []json.RawMessage{} // an empty list, and not null
	for _, one := range all {
		var o ctl.Object
		if err := ctl.Decode(one, &o); err != nil {
			return err
		}
		if wanted.fit(o) {
			kept = append(kept, one)
		}
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	return printJSON(cmd.OutOrStdout(), text)
}

// condition is what objects must have: pairs of a field's path and its value as a text.
type condition [][2]string

// conditions reads FIELD=VALUE.
func conditions(given []string) (condition, error) {
	var all condition
	for _, g := range given {
		field, value, ok := strings.Cut(g, "=")
		if !ok {
			return nil, &ctl.UsageError{Text: "--where is FIELD=VALUE, not " + g}
		}
		all = append(all, [2]string{field, value})
	}
	return all, nil
}

// fields are the paths that the condition looks at.
func (c condition) fields() []string {
	var all []string
	for _, pair := range c {
		all = append(all, pair[0])
	}
	return all
}

// fit tells whether an object has all the values. They are compared as the tables show them: true, 5, a b.
func (c condition) fit(o ctl.Object) bool {
	return !slices.ContainsFunc(c, func(pair [2]string) bool { return o.Text(pair[0]) != pair[1] })
}

// vhostGiven tells whether a virtual host was named at all.
func (s *session) vhostGiven() bool {
	return s.flags.Changed("vhost") || os.Getenv("LEVERET_VHOST") != ""
}
