package admin

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"leveret/ctl"

	"github.com/spf13/cobra"
)

// watchColumns are what changes about queues.
var watchColumns = []column{{"queue", "name"}, {"ready", "messages_ready"}, {"unacked", "messages_unacknowledged"}, {"(delayed)", "messages_delayed|some"},
	{"consumers", "consumers"},
	{"in/s", "message_stats.publish_details.rate"}, {"out/s", "message_stats.deliver_get_details.rate"}, {"ack/s", "message_stats.ack_details.rate"}, {"(oldest)", "oldest_ready_age|age"},
	{"(state)", "state"}}

// clearScreen moves a terminal's cursor to the top left corner and clears what is below.
const clearScreen = "\x1b[H\x1b[J"

// watchOptions are the flags of watch.
type watchOptions struct {
	interval time.Duration // between the beginnings of two looks; a slow answer delays the next
	rounds   int           // 0: no end
	sort     string        // a path in the API's objects; ties keep the order of the answer reversed
	top      int           // rows; the sums above them are of all queues
}

// watchCommand ends without an error when it is interrupted, as that is the usual end.
func (s *session) watchCommand() *cobra.Command {
	var o watchOptions
	cmd := &cobra.Command{
		Use: "watch", Short: "Show a live table of queues, the longest first", Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return s.watch(ctx, cmd.OutOrStdout(), o)
		},
	}
	cmd.Flags().DurationVarP(&o.interval, "interval", "i", 2*time.Second, "time between two looks")
	cmd.Flags().IntVarP(&o.rounds, "rounds", "n", 0, "looks before it ends, 0: until interrupted")
	cmd.Flags().StringVar(&o.sort, "sort", "messages", "field by which the largest come first, as the API calls it")
	cmd.Flags().IntVar(&o.top, "top", 20, "how many queues")
	return cmd
}

// watch draws the table again and again. On what is no terminal the tables follow one another.
func (s *session) watch(ctx context.Context, out io.Writer, o watchOptions) error {
	if o.interval <= 0 {
		return &ctl.UsageError{Text: "--interval has to be over 0"}
	}
	tick := time.NewTicker(o.interval)
	defer tick.Stop()
	for round := 1; ; round++ {
		screen, err := s.screen(ctx, o, terminalWidth(out))
		if ctx.Err() != nil {
			return nil // interrupted, which is how it ends
		}
		if err != nil {
			return err
		}
		if terminalWidth(out) > 0 {
			screen = append([]byte(clearScreen), screen...)
		}
		if _, err := out.Write(screen); err != nil {
			return err
		}
		// Looked at after the output: one round means one table, and no wait behind it.
		if round == o.rounds {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// screen is one look at the queues.
func (s *session) screen(ctx context.Context, o watchOptions, width int) ([]byte, error) {
	path := "/queues"
	if s.vhostGiven() {
		path = ctl.Path("queues", s.vhost)
	}
	var queues []ctl.Object
	// As JSON each look is a line-separated document, for jq and its like.
	raw, err := s.get(ctx, path, &queues)
	if err != nil || s.json {
		return append(raw, '\n'), err
	}
	// All queues are fetched, as the sum over them stands above the table.
	ctl.Sort(queues, o.sort)
	// Sort is ascending, and the largest are wanted.
	slices.Reverse(queues)
	ready, unacked := 0.0, 0.0
	for _, q := range queues {
		ready += q.Number("messages_ready")
		unacked += q.Number("messages_unacknowledged")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s  %d queues, %.0f ready, %.0f unacked\n\n", time.Now().Format(time.TimeOnly), len(queues), ready, unacked)
	t := tableOf(queues[:min(o.top, len(queues))], watchColumns)
	// The width is asked for anew each time, as windows change.
	if t.Width = s.width; t.Width == 0 {
		t.Width = width
	}
	err = t.Write(&b)
	return b.Bytes(), err
}
