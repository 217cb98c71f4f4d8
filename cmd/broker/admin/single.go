package admin

import (
	"errors"
	"net/http"
	"strconv"

	"leveret/ctl"

	"github.com/spf13/cobra"
)

// onMessages makes a command whose arguments are a queue and numbers of messages in it.
func (s *session) onMessages(short, long string, run func(cmd *cobra.Command, queue, number string) error) *cobra.Command {
	return &cobra.Command{
		Use: "message QUEUE NUMBER...", Aliases: []string{"messages"}, Short: short, Args: usage(cobra.MinimumNArgs(2)),
		Long: long,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, number := range args[1:] {
				// All numbers are looked at first: a slip in the last one must not leave half of the work done.
				if _, err := strconv.ParseUint(number, 10, 64); err != nil {
					return &ctl.UsageError{Text: "a message's number, as peek and unacked show it, is wanted, not " + number}
				}
			}
			for _, number := range args[1:] {
				if err := run(cmd, args[0], number); err != nil {
					return err
				}
			}
			return nil
		},
		ValidArgsFunction: s.completeFirst(s.queueNames),
	}
}

// lost makes of an answer that there is no such message one that says which.
// The API can't say whether it was the queue that is not there, or the message, which may have gone meanwhile.
func lost(err error, number, queue, where string) error {
	if ctl.IsMissing(err) {
		return &ctl.Refusal{Status: http.StatusNotFound, Reason: "there is no message " + number + " " + where + " queue '" + queue + "', or no such queue"}
	}
	return err
}

// deleteMessageCommand removes messages one by one, for those that no consumer can digest.
func (s *session) deleteMessageCommand() *cobra.Command {
	return s.onMessages("Remove single messages that are ready, or wait for their time",
		"Remove single messages, by the numbers that `broker ctl peek` and `broker ctl delayed` show. Those that a client holds can't be removed.",
		func(cmd *cobra.Command, queue, number string) error {
			if err := s.remove(cmd.Context(), ctl.Path("queues", s.vhost, queue, "messages", number), false); err != nil {
				return lost(err, number, queue, "ready or delayed in")
			}
			return s.say(cmd, "message %s of queue '%s' is deleted", number, queue)
		})
}

// requeueMessageCommand takes messages back one by one.
func (s *session) requeueMessageCommand() *cobra.Command {
	return s.onMessages("Put back single messages that clients hold",
		"Put back single messages that clients hold, by the numbers that `broker ctl unacked` shows. Their clients do not hear of it.",
		func(cmd *cobra.Command, queue, number string) error {
			if _, _, err := s.call(cmd.Context(), http.MethodPost, ctl.Path("queues", s.vhost, queue, "unacked", number, "requeue"), nil); err != nil {
				return lost(err, number, queue, "unacked in")
			}
			return s.say(cmd, "message %s is back in queue '%s'", number, queue)
		})
}

// delayedColumns are what a terminal has room for of a message that waits for its time.
var delayedColumns = []column{{"message", "message"}, {"due in", "due|until"}, {"(waiting for)", "published|since"}, {"exchange", "exchange"},
	{"routing key", "routing_key"}, {"(properties)", "properties"}, {"payload", "payload"}}

// delayedCommand looks at what waits for its time, in a queue that retries or behind an exchange that delays.
func (s *session) delayedCommand() *cobra.Command {
	var o peekOptions
	exchange := false
	cmd := s.onQueue("delayed", "List messages of a queue that wait for their time", func(cmd *cobra.Command, path string) error {
		return s.peekAt(cmd, path+"/delayed", &o, delayedColumns)
	})
	cmd.Long = "List messages that wait for their time: those of a queue that are to be tried again, or with --exchange those of an exchange that delays.\n" +
		"`broker ctl delete message` cancels them by their numbers; those of the exchange x are in the queue amq.delayed.x."
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if exchange && len(args) == 1 {
			// The queue behind such an exchange is an ordinary one, under a reserved name.
			args = []string{"amq.delayed." + args[0]}
		}
		err := run(cmd, args)
		if refused := new(ctl.Refusal); !exchange && ctl.IsMissing(err) && errors.As(err, &refused) {
			refused.Reason += "; --exchange if that is the name of an exchange that delays"
		}
		return err
	}
	o.addFlags(cmd.Flags())
	cmd.Flags().BoolVar(&exchange, "exchange", false, "the name is that of an exchange that delays")
	return cmd
}
