package admin

import (
	"io"
	"net/http"
	"os"

	"leveret/ctl"

	"github.com/spf13/cobra"
)

// publishCommand publishes one message by the API, which answers when it is safe: no tool for many.
func (s *session) publishCommand() *cobra.Command {
	v := values{}
	fields := []field{
		{name: "exchange", help: "the exchange; empty: the default one, which leads to the queue of the routing key's name"},
		{name: "routing-key", help: "the routing key", required: true},
		{name: "payload", help: "the message's body; - reads it from the input", required: true},
		// Binary bodies have to be base64, as JSON can't carry them.
		{name: "payload-encoding", help: "string or base64", fallback: "string"},
		{name: "properties", key: "properties", help: `properties, {"delivery_mode": 2, "headers": {}}`, kind: object, fallback: "{}"},
	}
	cmd := &cobra.Command{
		Use: "message [ROUTING-KEY] [PAYLOAD]", Aliases: []string{"messages"}, Short: "Publish one message", Args: usage(cobra.MaximumNArgs(2)),
		Example: "  broker ctl publish message jobs hello\n  broker ctl publish message order.created - --exchange orders --properties '{\"content_type\": \"application/json\"}' < order.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			v.take(args, "routing-key", "payload")
			if err := v.check(cmd.Flags(), fields); err != nil {
				return err
			}
			return s.publish(cmd, v, fields[4])
		},
	}
	v.addFlags(cmd.Flags(), fields)
	return group("publish", "Publish messages", cmd)
}

// publish sends the message. One that went to no queue is an error here, as it is lost, though the API says 200.
func (s *session) publish(cmd *cobra.Command, v values, properties field) error {
	headers, err := properties.parse(*v["properties"])
	if err != nil {
		return err
	}
	payload := *v["payload"]
	// All of it, into memory: the API takes a message as one JSON text, so a large body is no use here.
	if payload == "-" {
		read, err := io.ReadAll(cmd.InOrStdin())
		if err != nil {
			return err
		}
		payload = string(read)
	}
	body := map[string]any{"routing_key": *v["routing-key"], "payload": payload, "payload_encoding": *v["payload-encoding"], "properties": headers}
	raw, _, err := s.call(cmd.Context(), http.MethodPost, ctl.Path("exchanges", s.vhost, or(*v["exchange"], "amq.default"), "publish"), body)
	if err != nil {
		return err
	}
	var answer ctl.Object
	if err := ctl.Decode(raw, &answer); err != nil {
		return err
	}
	if s.json {
		return printJSON(cmd.OutOrStdout(), raw)
	}
	// As JSON it is the answer itself, in which the script can look.
	if answer["routed"] == false {
		return &ctl.Refusal{Reason: "the message went to no queue: nothing is bound to the exchange with that routing key"}
	}
	return s.say(cmd, "published")
}

// messageColumns are what a terminal has room for of a message.
var messageColumns = []column{{"exchange", "exchange"}, {"routing key", "routing_key"}, {"(redelivered)", "redelivered"}, {"properties", "properties"}, {"payload", "payload"}}

// getCommand takes messages by basic.get's rules. The default puts them back: people look more often than they take.
func (s *session) getCommand() *cobra.Command {
	queue, count, mode := "", 1, ""
	cmd := &cobra.Command{
		Use: "messages [QUEUE]", Aliases: []string{"message"}, Short: "Get messages from the head of a queue", Args: usage(cobra.MaximumNArgs(1)),
		ValidArgsFunction: s.completeFirst(s.queueNames),
		Long:              "Get messages from the head of a queue. They go back to it, redelivered, unless --ack-mode says otherwise; `broker ctl peek` looks at them\nwithout touching them.",
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := oneOf(queue, args)
			if err != nil {
				return err
			}
			// auto: texts as they are, all else in base64.
			body := map[string]any{"count": count, "ackmode": mode, "encoding": "auto"}
			raw, _, err := s.call(cmd.Context(), http.MethodPost, ctl.Path("queues", s.vhost, name, "get"), body)
			if err != nil {
				return s.noQueue(err, name)
			}
			return s.printMessages(cmd, raw, messageColumns)
		},
	}
	cmd.Flags().StringVar(&queue, "queue", "", "the queue")
	cmd.Flags().IntVarP(&count, "count", "c", 1, "how many at most")
	cmd.Flags().StringVarP(&mode, "ack-mode", "a", "ack_requeue_true", "ack_requeue_true, reject_requeue_true, ack_requeue_false or reject_requeue_false")
	return group("get", "Get messages", cmd)
}

// oneOf is a name that was given as a flag or as an argument.
// The argument has the last word, as it stands last.
func oneOf(flag string, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	if flag == "" {
		return "", &ctl.UsageError{Text: "the queue's name is missing"}
	}
	return flag, nil
}

// printMessages prints messages that were got.
func (s *session) printMessages(cmd *cobra.Command, raw []byte, columns []column) error {
	if s.json {
		return printJSON(cmd.OutOrStdout(), raw)
	}
	var list []ctl.Object
	if err := ctl.Decode(raw, &list); err != nil {
		return err
	}
	return s.print(cmd.OutOrStdout(), tableOf(list, columns))
}

// purgeCommand drops what is ready; what clients hold stays theirs.
// There is no way back, and no question either: scripts call it. The broker notes it in its audit log.
func (s *session) purgeCommand() *cobra.Command {
	queue := ""
	cmd := &cobra.Command{
		Use: "queue [NAME]", Aliases: []string{"queues"}, Short: "Drop the ready messages of a queue", Args: usage(cobra.MaximumNArgs(1)),
		ValidArgsFunction: s.completeFirst(s.queueNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := oneOf(queue, args)
			if err != nil {
				return err
			}
			if err := s.remove(cmd.Context(), ctl.Path("queues", s.vhost, name, "contents"), false); err != nil {
				return s.noQueue(err, name)
			}
			return s.say(cmd, "queue '%s' is purged", name)
		},
	}
	cmd.Flags().StringVar(&queue, "name", "", "the queue")
	return group("purge", "Drop messages", cmd)
}

// closeCommand closes connections. Their clients are told the reason, and most connect again at once.
func (s *session) closeCommand() *cobra.Command {
	cmd := group("close", "Close connections",
		s.closing(&cobra.Command{Use: "connection [NAME]", Aliases: []string{"connections"}, Short: "Close a connection by its name"},
			"name", "the connection's name is missing; see broker ctl list connections", "/connections", func(name string) string { return ctl.Path("connections", name) },
			"connection '%s' is closed"),
		s.closing(&cobra.Command{Use: "user_connections [USER]", Aliases: []string{"user-connections"}, Short: "Close all connections of a user"},
			"username", "the user is missing", "/users", func(user string) string { return ctl.Path("connections", "username", user) },
			"the connections of '%s' are closed"))
	cmd.PersistentFlags().StringVar(&s.target.Reason, "reason", "Closed via broker ctl", "what clients and the log are told")
	return cmd
}

// closing completes a command that closes what an argument, or a flag, names. The shell completes it with the names in a list of the API.
func (s *session) closing(cmd *cobra.Command, flag, missing, list string, path func(name string) string, done string) *cobra.Command {
	name := cmd.Flags().String(flag, "", "instead of the argument")
	cmd.Args = usage(cobra.MaximumNArgs(1))
	cmd.ValidArgsFunction = s.completeFirst(func(cmd *cobra.Command) []string { return s.fieldOfAll(cmd, list, "name") })
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			*name = args[0]
		}
		if *name == "" {
			return &ctl.UsageError{Text: missing}
		}
		if err := s.remove(cmd.Context(), path(*name), false); err != nil {
			return err
		}
		return s.say(cmd, done, *name)
	}
	return cmd
}

// file opens a file to read, or the input for "-".
func file(cmd *cobra.Command, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(cmd.InOrStdin()), nil
	}
	f, err := os.Open(name)
	if err != nil {
		// A file that is not there is a mistake of the command line, and has its exit code.
		return nil, &ctl.UsageError{Text: err.Error()}
	}
	return f, nil
}
