package admin

import (
	"encoding/json"
	"net/http"
	"strings"

	"leveret/ctl"

	"github.com/spf13/cobra"
)

// bindingFields identify a binding: all of them together.
// There may be several between the same two ends, with other keys or arguments.
var bindingFields = []field{
	{name: "source", help: "the exchange that messages come from", required: true},
	{name: "destination", help: "the queue or exchange that they go to", required: true},
	{name: "destination-type", help: "queue or exchange", fallback: "queue"},
	{name: "routing-key", help: "the binding key"},
	{name: "arguments", help: `arguments, {"x-match": "any"}`, kind: object, fallback: "{}"},
}

// declareBindingCommand takes the ends and the key as arguments or flags, in the order of rabbitmqadmin.
func (s *session) declareBindingCommand() *cobra.Command {
	v := values{}
	cmd := &cobra.Command{
		Use: "binding [SOURCE] [DESTINATION] [ROUTING-KEY]", Aliases: []string{"bindings"}, Short: "Bind a queue or an exchange to an exchange", Args: usage(cobra.MaximumNArgs(3)),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, arguments, err := s.binding(cmd, args, v)
			if err != nil {
				return err
			}
			_, _, err = s.call(cmd.Context(), http.MethodPost, path, map[string]any{"routing_key": *v["routing-key"], "arguments": arguments})
			if err != nil {
				return err
			}
			return s.say(cmd, "'%s' is bound to '%s'", *v["destination"], *v["source"])
		},
	}
	v.addFlags(cmd.Flags(), bindingFields)
	return cmd
}

// deleteBindingCommand has to find out first what the API calls the binding.
func (s *session) deleteBindingCommand() *cobra.Command {
	v := values{}
	cmd := &cobra.Command{
		Use: "binding [SOURCE] [DESTINATION] [ROUTING-KEY]", Aliases: []string{"bindings"}, Short: "Delete a binding", Args: usage(cobra.MaximumNArgs(3)),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, arguments, err := s.binding(cmd, args, v)
			if err != nil {
				return err
			}
			key, err := s.propertiesKey(cmd, path, *v["routing-key"], arguments)
			if err != nil {
				return err
			}
			if err := s.remove(cmd.Context(), path+ctl.Path(key), false); err != nil {
				return err
			}
			return s.say(cmd, "'%s' is not bound to '%s' any more", *v["destination"], *v["source"])
		},
	}
	v.addFlags(cmd.Flags(), bindingFields)
	return cmd
}

// binding is the path of the bindings between two ends, and the arguments of the one that is meant.
func (s *session) binding(cmd *cobra.Command, args []string, v values) (path string, arguments any, err error) {
	v.take(args, "source", "destination", "routing-key")
	if err := v.check(cmd.Flags(), bindingFields); err != nil {
		return "", nil, err
	}
	kind := *v["destination-type"]
	if kind != "queue" && kind != "exchange" {
		return "", nil, &ctl.UsageError{Text: "--destination-type is queue or exchange, not " + kind}
	}
	arguments, err = bindingFields[4].parse(*v["arguments"])
	// The API has q for queues and e for exchanges.
	return ctl.Path("bindings", s.vhost, "e", *v["source"], kind[:1], *v["destination"]), arguments, err
}

// propertiesKey is how the API calls one of the bindings between two ends. Where there are no arguments it is the routing key, but nobody but the
// broker can tell what stands for arguments.
func (s *session) propertiesKey(cmd *cobra.Command, path, routingKey string, arguments any) (string, error) {
	var found []ctl.Object
	if _, err := s.get(cmd.Context(), path, &found); err != nil {
		return "", err
	}
	// Compared as texts, in which 1 and 1.0 differ: the broker has told the one that it has.
	want, _ := json.Marshal(arguments) // it was JSON a moment ago; maps are encoded in order of their names
	for _, b := range found {
		got, err := json.Marshal(b["arguments"])
		if err == nil && b.Text("routing_key") == routingKey && string(got) == string(want) {
			return b.Text("properties_key"), nil
		}
	}
	return "", &ctl.Refusal{Status: http.StatusNotFound, Reason: "there is no such binding: " + strings.TrimPrefix(path, "/")}
}
