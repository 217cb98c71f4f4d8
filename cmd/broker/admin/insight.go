package admin

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"leveret/ctl"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// What no other broker's tools can: see who holds what, look at messages without touching them, and send dead letters back. The API has it below a queue's path.

// insight are the commands that work on one queue.
func (s *session) insight() []*cobra.Command {
	return []*cobra.Command{s.peekCommand(), s.delayedCommand(), s.unackedCommand(), s.replayCommand(),
		s.switchCommand("pause", "Stop deliveries of a queue; publishing goes on"), s.switchCommand("resume", "Deliver again"), s.explainCommand()}
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
			return s.noQueue(run(cmd, ctl.Path("queues", s.vhost, name)), name)
		},
		ValidArgsFunction: s.completeFirst(s.queueNames),
	}
	cmd.Flags().StringVar(&queue, "queue", "", "the queue")
	return cmd
}

// noQueue makes of an answer that a queue is not there one that says which.
func (s *session) noQueue(err error, name string) error {
	// A replay may lack its exchange, and says so itself.
	if !ctl.IsMissing(err) || strings.Contains(err.Error(), "exchange") {
		return err
	}
	return &ctl.Refusal{Status: http.StatusNotFound, Reason: "there is no queue '" + name + "' in virtual host '" + s.vhost + "'"}
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
// A cursor stays good while messages come and go: it is a place in the queue and not a count.
func (s *session) page(cmd *cobra.Command, page ctl.Object, columns []column) error {
	messages, _ := page["messages"].([]any)
	if err := s.print(cmd.OutOrStdout(), tableOf(objectsIn(messages), columns)); err != nil {
		return err
	}
	if cursor := page.Text("cursor"); cursor != "" {
		return s.say(cmd, "more: --cursor %s", cursor)
	}
	return nil
}

// peekOptions say which messages one wants to look at.
type peekOptions struct {
	count   int
	cursor  string
	headers []string
}

// addFlags declares the flags that peek and delayed share.
func (o *peekOptions) addFlags(flags *pflag.FlagSet) {
	flags.IntVarP(&o.count, "count", "c", 10, "how many at most")
	flags.StringVar(&o.cursor, "cursor", "", "where the last look ended")
	flags.StringArrayVar(&o.headers, "header", nil, "only those with this header, NAME=VALUE")
}

// query is what the API takes.
func (o *peekOptions) query() (url.Values, error) {
	query := url.Values{"count": {strconv.Itoa(o.count)}}
	if o.cursor != "" {
		query.Set("cursor", o.cursor)
	}
	for _, h := range o.headers {
		name, value, ok := strings.Cut(h, "=")
		if !ok {
			return nil, &ctl.UsageError{Text: "--header is NAME=VALUE, not " + h}
		}
		// The broker compares texts, so 5 finds the number 5 too.
		query.Set("header."+name, value)
	}
	return query, nil
}

// peekAt lists messages.
func (s *session) peekAt(cmd *cobra.Command, path string, o *peekOptions, columns []column) error {
	query, err := o.query()
	if err != nil {
		return err
	}
	// Only peek has it: delayed messages stand in order of their time, and a cursor is all that finds a place there.
	if f := cmd.Flags().Lookup("offset"); f != nil && f.Changed {
		query.Set("offset", f.Value.String())
	}
	return s.listed(cmd, path+"?"+query.Encode(), columns)
}

// peekColumns are what a terminal has room for of a message that is ready.
var peekColumns = []column{{"message", "message"}, {"(age)", "published|since"}, {"exchange", "exchange"}, {"routing key", "routing_key"},
	{"(died in)", "properties.headers.x-first-death-queue"}, {"(of)", "properties.headers.x-first-death-reason"}, {"(redelivered)", "redelivered"},
	{"properties", "properties"}, {"payload", "payload"}}

// peekCommand looks at what is ready; `delayed` at what waits for its time.
func (s *session) peekCommand() *cobra.Command {
	var o peekOptions
	cmd := s.onQueue("peek", "Look at messages of a queue without touching them", func(cmd *cobra.Command, path string) error {
		return s.peekAt(cmd, path+"/messages", &o, peekColumns)
	})
	cmd.Long = "Look at messages of a queue without touching them: they keep their order, their flags, and their place. At most 10,000 are examined;\n" +
		"--cursor goes on where the last look ended."
	cmd.Example = "  broker ctl peek jobs --count 5\n  broker ctl peek jobs --header tenant=acme --json"
	cmd.Flags().Int("offset", 0, "how many to pass over")
	o.addFlags(cmd.Flags())
	return cmd
}

// unackedColumns are who holds a message, and for how long.
var unackedColumns = []column{{"message", "message"}, {"consumer", "consumer_tag"}, {"connection", "connection_name"}, {"channel", "channel_number"},
	{"user", "user"}, {"held for", "age|ms"}, {"(came back)", "returned|some"}}

// unackedCommand answers who keeps messages from being done.
func (s *session) unackedCommand() *cobra.Command {
	cmd := s.onQueue("unacked", "Tell who holds messages of a queue, and for how long", func(cmd *cobra.Command, path string) error {
		// Without the flag the limit is the broker's, which other versions may have another of.
		if n := cmd.Flags().Lookup("count"); n.Changed {
			path += "/unacked?count=" + n.Value.String()
		} else {
			path += "/unacked"
		}
		return s.listed(cmd, path, unackedColumns)
	})
	cmd.Long = "Tell who holds messages of a queue, and for how long. `broker ctl requeue` takes them back, one by one or all of a consumer's."
	cmd.Flags().IntP("count", "c", 1000, "how many at most")
	return cmd
}

// switchCommand pauses or resumes a queue.
func (s *session) switchCommand(verb, short string) *cobra.Command {
	return s.onQueue(verb, short, func(cmd *cobra.Command, path string) error {
		if _, _, err := s.call(cmd.Context(), http.MethodPut, path+"/"+verb, nil); err != nil {
			return err
		}
		return s.say(cmd, "%sd", verb) // paused, resumed: both verbs end in an e
	})
}

// replayed tells what a replay did, or would do.
// What was neither sent nor named here did not match, or was more than --count.
func replayed(answer ctl.Object) string {
	done := "were sent"
	if answer["dry_run"] == true {
		done = "would be sent"
	}
	text := fmt.Sprintf("%s of %s messages %s", answer.Text("sent"), answer.Text("examined"), done)
	if answer.Number("without_home") > 0 {
		text += fmt.Sprintf("; %s more have no queue to go back to", answer.Text("without_home"))
	}
	if answer.Number("unroutable") > 0 {
		text += fmt.Sprintf("; %s more stayed, as no queue took them", answer.Text("unroutable"))
	}
	return text
}

// replayCommand sends dead letters back. With --dry-run it only counts, which is worth a look before thousands of messages move.
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
		// The body is made as for a declaration: what is not given is not sent, and the broker's default counts.
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
		return s.say(cmd, "%s", replayed(answer))
	})
	cmd.Long = "Send a queue's messages, dead letters as a rule, back to the queue that each died in, or to an exchange. A message leaves the queue when it\n" +
		"has got where it goes. What comes in meanwhile is not looked at."
	cmd.Example = "  broker ctl replay jobs.dead --dry-run\n  broker ctl replay jobs.dead --headers '{\"tenant\": \"acme\"}' --rate 100\n" +
		"  broker ctl replay jobs.dead --exchange amq.default --routing-key jobs.new"
	v.addFlags(cmd.Flags(), fields)
	return cmd
}
