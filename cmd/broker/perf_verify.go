package main

import (
	"encoding/json"
	"fmt"
	"os"

	"leveret/perf"

	"github.com/spf13/cobra"
)

// newPerfVerifyCommand makes `broker perf verify`.
func newPerfVerifyCommand() *cobra.Command {
	// Of the options only those that tell the broker and the queue count here.
	o := perf.DefaultOptions()
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "Empty a queue and look whether all that was confirmed is in it",
		Long: "Take all messages out of a queue and compare them with what broker perf --confirmed-log has written into FILE.\n\n" +
			"It fails if a message is missing that was confirmed, or came twice. test/crash.sh shows how to use it.",
		Example: "  broker perf verify confirmed.log --queue jobs",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			// It empties the queue: what it has seen can't be seen again.
			v, err := perf.Verify(cmd.Context(), o, f)
			if err != nil {
				return err
			}
			if err := json.NewEncoder(cmd.OutOrStdout()).Encode(v); err != nil {
				return err
			}
			// A message that is in the queue twice is a fault too, unlike one that is delivered twice.
			if v.Lost+v.Twice > 0 {
				return fmt.Errorf("of %d confirmed messages %d are lost; %d messages came twice", v.Confirmed, v.Lost, v.Twice)
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.URI, "uri", "u", o.URI, "broker, amqp://user:password@host:port/vhost or amqps://")
	flags.BoolVar(&o.SkipVerify, "tls-skip-verify", false, "take any certificate of an amqps broker")
	flags.StringVar(&o.Queue, "queue", "", "name of the queue")
	flags.DurationVar(&o.Timeout, "timeout", o.Timeout, "longest wait for the broker")
	return cmd
}
