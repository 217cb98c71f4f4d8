package admin

import (
	"net/http"
	"strconv"
	"strings"

	"leveret/ctl"

	"github.com/spf13/cobra"
)

// consumerChoice says which consumer is meant. A tag is enough as long as one consumer alone has it.
type consumerChoice struct{ queue, channel string }

// onConsumer makes a command whose first argument is a consumer's tag.
// The API wants connection and channel of a consumer, which nobody types: so they are looked up by the tag.
func (s *session) onConsumer(use, short, long string, args int, run func(cmd *cobra.Command, path string, args []string) error) *cobra.Command {
	var choice consumerChoice
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long + "\nWhere several consumers have the tag, --queue or --channel says which; see broker ctl list consumers.",
		Args: usage(cobra.ExactArgs(args)),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := s.consumerPath(cmd, args[0], choice)
			if err != nil {
				return err
			}
			return run(cmd, path, args)
		},
		ValidArgsFunction: s.completeFirst(func(cmd *cobra.Command) []string { return s.fieldOfAll(cmd, "/consumers", "consumer_tag") }),
	}
	cmd.Flags().StringVar(&choice.queue, "queue", "", "the queue that it consumes from")
	cmd.Flags().StringVar(&choice.channel, "channel", "", "the name of its channel")
	return cmd
}

// consumerPath looks for a consumer and returns its path in the API.
func (s *session) consumerPath(cmd *cobra.Command, tag string, choice consumerChoice) (string, error) {
	// Of all virtual hosts, unless one is named: a generated tag is unique enough for that.
	path := "/consumers"
	if s.vhostGiven() {
		path = ctl.Path("consumers", s.vhost)
	}
	var all []ctl.Object
	if _, err := s.get(cmd.Context(), path, &all); err != nil {
		return "", err
	}
	var found []ctl.Object
	for _, c := range all {
		if c.Text("consumer_tag") == tag && fits(choice.queue, c.Text("queue.name")) && fits(choice.channel, c.Text("channel_details.name")) {
			found = append(found, c)
		}
	}
	// Several are no case for the first: to cancel the wrong one can't be taken back.
	switch len(found) {
	case 0:
		return "", &ctl.Refusal{Status: http.StatusNotFound, Reason: "there is no consumer '" + tag + "'; see broker ctl list consumers"}
	case 1:
		c := found[0]
		// The names are those of the answer and not of the command line, which may name only some of them.
		return ctl.Path("consumers", c.Text("queue.vhost"), c.Text("channel_details.connection_name"), c.Text("channel_details.number"), tag), nil
	}
	var channels []string
	for _, c := range found {
		channels = append(channels, "'"+c.Text("channel_details.name")+"'")
	}
	return "", &ctl.UsageError{Text: strconv.Itoa(len(found)) + " consumers have the tag '" + tag + "': say which with --channel, of " + strings.Join(channels, ", ")}
}

// fits tells whether a value is the one that is wanted, if one is.
func fits(wanted, value string) bool { return wanted == "" || wanted == value }

// cancelCommand ends a consumer without its connection, which has others as a rule.
func (s *session) cancelCommand() *cobra.Command {
	return group("cancel", "Cancel consumers", s.onConsumer("consumer TAG", "Cancel a consumer; its client is told",
		"Cancel a consumer. Its client gets basic.cancel, as if the queue had been deleted; what it holds stays with it until it settles it.",
		1, func(cmd *cobra.Command, path string, args []string) error {
			if err := s.remove(cmd.Context(), path, false); err != nil {
				return err
			}
			return s.say(cmd, "consumer '%s' is cancelled", args[0])
		}))
}

// requeueCommand is for clients that hang: what they hold goes to others, without a restart of anything.
func (s *session) requeueCommand() *cobra.Command {
	all := s.onConsumer("consumer TAG", "Put back all messages that a consumer holds",
		"Put back all messages that a consumer holds. They are delivered again, redelivered; its client does not hear of it, and what it settles later has no effect.",
		1, func(cmd *cobra.Command, path string, args []string) error {
			raw, _, err := s.call(cmd.Context(), http.MethodPost, path+"/requeue", nil)
			if err != nil {
				return err
			}
			if s.json {
				return printJSON(cmd.OutOrStdout(), raw)
			}
			var answer ctl.Object
			if err := ctl.Decode(raw, &answer); err != nil {
				return err
			}
			return s.say(cmd, "%s messages of consumer '%s' are back in the queue", answer.Text("messages"), args[0])
		})
	return group("requeue", "Put messages back that clients hold", s.requeueMessageCommand(), all)
}

// prefetch reads a prefetch count.
// The upper limit, that of the wire's 16 bits, is the broker's to know.
func prefetch(given string) (int, error) {
	n, err := strconv.Atoi(given)
	if err != nil || n < 0 {
		return 0, &ctl.UsageError{Text: "the prefetch is a number, 0 for no limit, not " + given}
	}
	return n, nil
}

// consumerPrefetchCommand changes what only the client could choose, before it began to consume.
func (s *session) consumerPrefetchCommand() *cobra.Command {
	return s.onConsumer("consumer_prefetch TAG COUNT", "Change the prefetch of a running consumer; 0: no limit",
		"Change how many unacked messages a running consumer may hold; 0 is no limit. What it holds beyond that stays with it.",
		2, func(cmd *cobra.Command, path string, args []string) error {
			return s.setPrefetch(cmd, path, "consumer", args)
		})
}

// channelPrefetchCommand takes the channel's name as `list channels` shows it: "127.0.0.1:50914 -> 127.0.0.1:5672 (1)".
func (s *session) channelPrefetchCommand() *cobra.Command {
	return &cobra.Command{
		Use: "channel_prefetch CHANNEL COUNT", Short: "Change the prefetch of a channel's consumers, running ones too; 0: no limit", Args: usage(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.setPrefetch(cmd, ctl.Path("channels", args[0], "prefetch"), "channel", args)
		},
		ValidArgsFunction: s.completeFirst(func(cmd *cobra.Command) []string { return s.fieldOfAll(cmd, "/channels", "name") }),
	}
}

// setPrefetch sets the prefetch at a path, of a consumer or a channel.
func (s *session) setPrefetch(cmd *cobra.Command, path, kind string, args []string) error {
	n, err := prefetch(args[1])
	if err != nil {
		return err
	}
	if _, _, err := s.call(cmd.Context(), http.MethodPut, path, map[string]any{"prefetch": n}); err != nil {
		return err
	}
	return s.say(cmd, "%s '%s' has a prefetch of %d", kind, args[0], n)
}
