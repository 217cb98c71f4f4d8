package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"leveret/amqp"
	"leveret/perf"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// perfOptions are the flags of `broker perf`: the load, and how the result is shown.
type perfOptions struct {
	perf.Options
	// Texts as they were given, which become parts of Options before the run.
	arguments []string // name=value, for the queue
	confirmed string   // file for what was confirmed
	json      bool     // the result alone, for programs
	quiet     bool     // no live lines
}

// AddFlags declares the command's flags; the defaults are perf's own.
func (o *perfOptions) AddFlags(flags *pflag.FlagSet) {
	o.Options = perf.DefaultOptions()
	flags.StringVarP(&o.URI, "uri", "u", o.URI, "broker, amqp://user:password@host:port/vhost or amqps://")
	flags.BoolVar(&o.SkipVerify, "tls-skip-verify", false, "take any certificate of an amqps broker")
	flags.IntVarP(&o.Producers, "producers", "p", o.Producers, "producers, each on a connection of its own")
	flags.IntVarP(&o.Consumers, "consumers", "c", o.Consumers, "consumers, each on a connection of its own")
	flags.IntVarP(&o.Queues, "queues", "q", o.Queues, "queues; producers and consumers take them in turn")
	flags.StringVar(&o.Queue, "queue", "", "name of the queue (default one of this run's own, deleted at the end)")
	flags.BoolVar(&o.Durable, "durable", o.Durable, "declare durable queues")
	flags.BoolVar(&o.Passive, "passive", false, "take the queue as it is, without declaring it")
	flags.StringArrayVar(&o.arguments, "queue-argument", nil, "argument for the queue, as x-queue-type=quorum; may be repeated")
	flags.IntVarP(&o.Size, "size", "s", o.Size, "bytes of a message's body; latency needs 16")
	flags.BoolVar(&o.Persistent, "persistent", false, "publish persistent messages")
	flags.BoolVar(&o.Mandatory, "mandatory", false, "have unroutable messages returned")
	flags.IntVar(&o.Window, "confirm", 0, "publisher confirms with so many messages outstanding; 0: no confirms")
	flags.StringVar(&o.confirmed, "confirmed-log", "", "file to add to which messages were confirmed, for perf verify; needs --confirm and --size 32")
	flags.IntVar(&o.Prefetch, "prefetch", o.Prefetch, "unacknowledged messages of a consumer; 0: no limit")
	flags.BoolVar(&o.AutoAck, "auto-ack", false, "consume in automatic acknowledgement mode")
	flags.IntVar(&o.AckEvery, "multi-ack", o.AckEvery, "acknowledge so many messages at once")
	flags.IntVarP(&o.Rate, "rate", "r", 0, "messages a second of all producers together; 0: as fast as it goes")
	flags.DurationVarP(&o.Duration, "duration", "d", o.Duration, "how long to publish; 0: until the count or Ctrl-C")
	flags.Uint64VarP(&o.Count, "count", "n", 0, "messages to publish, or to consume without producers; 0: no limit")
	flags.DurationVar(&o.Timeout, "timeout", o.Timeout, "longest wait for the broker")
	flags.BoolVar(&o.json, "json", false, "print the result as one JSON object")
	flags.BoolVar(&o.quiet, "quiet", false, "no line each second")
}

// newPerfCommand makes `broker perf`.
func newPerfCommand() *cobra.Command {
	var o perfOptions
	cmd := &cobra.Command{
		Use:   "perf",
		Short: "Put load on a broker and measure it",
		Long: "Put load on an AMQP 0-9-1 broker, this one or any other, and measure rates and latencies.\n\n" +
			"A line each second goes to standard error, the result to standard output. Ctrl-C ends the publishing early.",
		Example: "  broker perf --auto-ack --duration 5s\n" +
			"  broker perf -p 4 -c 4 -q 4 --persistent --confirm 256 --size 1024\n" +
			"  broker perf --rate 10000 --auto-ack --json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if o.Arguments, err = queueArguments(o.arguments); err != nil {
				return err
			}
			// A small prefetch asks for early acknowledgements; who asks for both is told if they don't go together.
			if o.Prefetch > 0 && !cmd.Flags().Changed("multi-ack") {
				o.AckEvery = min(o.AckEvery, o.Prefetch)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			context.AfterFunc(ctx, stop) // a second signal ends the process at once
			return runPerf(ctx, o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.AddFlags(cmd.Flags())
	cmd.AddCommand(newPerfVerifyCommand())
	return cmd
}

// runPerf measures, with live lines on live and the result on out.
// The two go to different places so that the result can be piped while people watch.
func runPerf(ctx context.Context, o perfOptions, out, live io.Writer) error {
	progress := func(p perf.Progress) { fmt.Fprintln(live, p) }
	if o.quiet {
		progress = nil
	}
	if o.confirmed != "" {
		// Appended to, so that several runs before and after a crash can be verified together.
		f, err := os.OpenFile(o.confirmed, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			return err
		}
		defer f.Close()
		o.ConfirmedLog = f
	}
	// A run that broke off has a report of what went before, which is shown beside the error.
	report, err := perf.Run(ctx, o.Options, progress)
	if report == nil {
		return err
	}
	if o.json {
		if encodeErr := json.NewEncoder(out).Encode(report); err == nil {
			err = encodeErr
		}
		return err
	}
	if writeErr := report.WriteTable(out); err == nil {
		err = writeErr
	}
	return err
}

// queueArguments reads name=value. A value is a number or true or false where it looks like one, else a string.
// Their order is kept, and a name that comes twice is sent twice: it is the broker that is tested.
func queueArguments(texts []string) (amqp.Table, error) {
	var table amqp.Table
	for _, text := range texts {
		name, value, found := strings.Cut(text, "=")
		if !found || name == "" {
			return nil, fmt.Errorf("queue argument %q is not of the form name=value", text)
		}
		table = append(table, amqp.Field{Name: name, Value: argumentValue(value)})
	}
	return table, nil
}

// argumentValue guesses the type of a value, as a shell has only text.
func argumentValue(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	switch text {
	case "true":
		return true
	case "false":
		return false
	}
	return text
}
