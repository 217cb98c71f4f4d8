package admin

import (
	"net/http"
	"strconv"

	"leveret/ctl"

	"github.com/spf13/cobra"
)

// What is changed here holds for the running broker, and not for the next one. The cluster's name is kept.

// setCommand is the group of what can be changed.
func (s *session) setCommand() *cobra.Command {
	return group("set", "Change the running broker", s.consumerPrefetchCommand(), s.channelPrefetchCommand(),
		s.setOne("cluster_name NAME", "Name the cluster", "/cluster-name", func(given string) (map[string]any, error) {
			return map[string]any{"name": given}, nil
		}),
		s.setOne("log_level LEVEL", "How much is logged, until the broker ends: debug, info, warn or error", "/leveret/log-level", func(given string) (map[string]any, error) {
			return map[string]any{"level": given}, nil
		}),
		s.setOne("memory_watermark LIMIT", "From how much memory publishers are held, until the broker ends: bytes, or a fraction such as 0.6", "/leveret/memory-watermark", limit("absolute", "relative")),
		s.setOne("disk_free_limit LIMIT", "Below how much free disk publishers are held, until the broker ends: bytes, or a fraction of the memory", "/leveret/disk-free-limit", limit("bytes", "mem_relative")),
	)
}

// setOne makes a command that sets one thing.
// The argument goes to the API as body makes it; the broker says what is wrong with it.
func (s *session) setOne(use, short, path string, body func(given string) (map[string]any, error)) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			content, err := body(args[0])
			if err != nil {
				return err
			}
			if _, _, err := s.call(cmd.Context(), http.MethodPut, path, content); err != nil {
				return err
			}
			return s.say(cmd, "%s is %s", cmd.Name(), args[0])
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
}

// limit reads bytes or a fraction. A small number without a unit is a fraction: nobody means that many bytes.
func limit(bytesKey, fractionKey string) func(given string) (map[string]any, error) {
	return func(given string) (map[string]any, error) {
		// NaN fails both comparisons, and goes on as bytes, which refuse it.
		if fraction, err := strconv.ParseFloat(given, 64); err == nil && fraction >= 0 && fraction <= largestFraction {
			return map[string]any{fractionKey: fraction}, nil
		}
		n, err := ctl.ParseBytes(given)
		if err != nil {
			return nil, &ctl.UsageError{Text: "a limit is bytes such as 512MiB, or a fraction such as 0.6, not " + given}
		}
		return map[string]any{bytesKey: n}, nil
	}
}

// largestFraction of the memory that somebody may mean.
// As a share of the memory that is far more than any disk needs free; as bytes it is nothing that could be meant.
const largestFraction = 100

// stopCommand asks for the end and does not wait for it: the API goes with the broker.
func (s *session) stopCommand() *cobra.Command {
	return &cobra.Command{
		Use: "stop", Short: "End the broker, as a signal does: clients are told, and everything is written down", Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, _, err := s.call(cmd.Context(), http.MethodPost, "/leveret/stop", nil); err != nil {
				return err
			}
			return s.say(cmd, "the broker ends")
		},
	}
}

// whoamiCommand is what people try first when something is refused.
func (s *session) whoamiCommand() *cobra.Command {
	return &cobra.Command{
		Use: "whoami", Short: "Tell as whom you are logged in, and with which tags", Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var answer ctl.Object
			raw, err := s.get(cmd.Context(), "/whoami", &answer)
			if err != nil {
				return err
			}
			if s.json {
				return printJSON(cmd.OutOrStdout(), raw)
			}
			return s.print(cmd.OutOrStdout(), properties(answer))
		},
	}
}
