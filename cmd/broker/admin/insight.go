package admin

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"leveret/ctl"

	"github.com/spf13/cobra"
)

// What no other broker's tools can: see who holds what, look at messages without touching them, and send dead letters back. The API has it below a queue's path.

// insight are the commands that work on one queue.
func (s *session) insight() []*cobra.Command {
	return []*cobra.Command{s.peekCommand(), s.unackedCommand(), s.replayCommand(), s.switchCommand("pause", "Stop deliveries of a queue; publishing goes on"),
		s.switchCommand("resume", "Deliver again"), s.policyCommand()}
}

// onQueue makes a command whose argument, or flag, is a queue.
func (s *session) onQueue(use, short string, run func(cmd *cobra.Command, path string) error) *cobra.Command {
	queue := ""
	cmd := &cobra.Command{
		Use: use + " [QUEUE]", Short: short, Args: usage(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := oneOf(queue, args)
			if err != nil {
				return err
			}
			return run(cmd, ctl.Path("queues", s.vhost, name))
		},
	}
	cmd.Flags().StringVar(&queue, "queue", "", "the queue")
	return cmd
}

// listed asks for a list and prints it.
func (s *session) listed(cmd *cobra.Command, path string, columns []column) error {
	raw, _, err := s.call(cmd.Context(), http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	if s.json {
		return printJSON(cmd.OutOrStdout(), raw)
	}
	var list []ctl.Object
	if err := ctl.Decode(raw, &list); err != nil {
		var page ctl.Object // a page of a longer list
		if err := ctl.Decode(raw, &page); err != nil {
			return err
		}
		return s.page(cmd, page, columns)
	}
	return s.print(cmd.OutOrStdout(), tableOf(list, columns))
}

// page prints one page of messages, and how to go on.
func (s *session) page(cmd *cobra.Command, page ctl.Object, columns []column) error {
	messages, _ := page["messages"].([]any)
	var list []ctl.Object
	for _, m := range messages {
		if o, ok := m.(map[string]any); ok {
			list = append(list, o)
		}
	}
	if err := s.print(cmd.OutOrStdout(), tableOf(list, columns)); err != nil {
		return err
	}
	if cursor := page.Text("cursor"); cursor != "" {
		return s.say(cmd, "more: --cursor %s", cursor)
	}
	return nil
}

func (s *session) peekCommand() *cobra.Command {
	var offset, count int
	var cursor string
	var headers []string
	cmd := s.onQueue("peek", "Look at messages of a queue without touching them", func(cmd *cobra.Command, path string) error {
		query := url.Values{"offset": {strconv.Itoa(offset)}, "count": {strconv.Itoa(count)}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		for _, h := range headers {
			name, value, ok := strings.Cut(h, "=")
			if !ok {
				return &ctl.UsageError{Text: "--header is NAME=VALUE, not " + h}
			}
			query.Set("header."+name, value)
		}
		return s.listed(cmd, path+"/messages?"+query.Encode(), slices.Concat([]column{{"message", "message"}}, messageColumns))
	})
	cmd.Flags().IntVar(&offset, "offset", 0, "how many to pass over")
	cmd.Flags().IntVarP(&count, "count", "c", 10, "how many at most")
	cmd.Flags().StringVar(&cursor, "cursor", "", "where the last look ended")
	cmd.Flags().StringSliceVar(&headers, "header", nil, "only those with this header, NAME=VALUE")
	return cmd
}

func (s *session) unackedCommand() *cobra.Command {
	return s.onQueue("unacked", "Tell who holds messages of a queue", func(cmd *cobra.Command, path string) error {
		return s.listed(cmd, path+"/unacked", []column{{"message", "message"}, {"consumer", "consumer_tag"}, {"connection", "connection_name"}, {"channel", "channel_number"}, {"user", "user"}, {"age ms", "age"}})
	})
}

func (s *session) policyCommand() *cobra.Command {
	return s.onQueue("explain", "Tell which policy applies to a queue, and why others don't", func(cmd *cobra.Command, path string) error {
		var answer ctl.Object
		raw, err := s.get(cmd.Context(), path+"/policy", &answer)
		if err != nil {
			return err
		}
		if s.json {
			return printJSON(cmd.OutOrStdout(), raw)
		}
		return s.print(cmd.OutOrStdout(), properties(answer))
	})
}

// switchCommand pauses or resumes a queue.
func (s *session) switchCommand(verb, short string) *cobra.Command {
	return s.onQueue(verb, short, func(cmd *cobra.Command, path string) error {
		if _, _, err := s.call(cmd.Context(), http.MethodPut, path+"/"+verb, nil); err != nil {
			return err
		}
		return s.say(cmd, "%sd", verb)
	})
}

func (s *session) replayCommand() *cobra.Command {
	v := values{}
	fields := []field{
		{name: "exchange", key: "exchange", help: "where to publish them; without it, each goes back to where it died"},
		{name: "routing-key", key: "routing_key", help: "with which routing key; without it, their own"},
		{name: "count", key: "count", help: "how many at most", kind: number},
		{name: "rate", key: "rate", help: "how many a second at most", kind: number},
		{name: "headers", key: "headers", help: `only those with these headers, {"tenant": "a"}`, kind: object},
		{name: "dry-run", key: "dry_run", help: "only tell what would be done", kind: boolean, fallback: "false"},
	}
	cmd := s.onQueue("replay", "Send dead letters back to where they died, or elsewhere", func(cmd *cobra.Command, path string) error {
		n := noun{fields: fields}
		body, err := n.body(v)
		if err != nil {
			return err
		}
		raw, _, err := s.call(cmd.Context(), http.MethodPost, path+"/replay", body)
		if err != nil {
			return err
		}
		if s.json || s.quiet {
			return printJSON(cmd.OutOrStdout(), raw)
		}
		var answer ctl.Object
		if err := ctl.Decode(raw, &answer); err != nil {
			return err
		}
		return s.print(cmd.OutOrStdout(), properties(answer))
	})
	v.addFlags(cmd.Flags(), fields)
	return cmd
}
