package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"leveret/config"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// healthOptions are the flags of `broker health`.
type healthOptions struct {
	configFlags
	readyFile string
	timeout   time.Duration
}

// AddFlags declares the command's flags.
func (o *healthOptions) AddFlags(flags *pflag.FlagSet) {
	o.configFlags.AddFlags(flags)
	flags.StringVar(&o.readyFile, "ready-file", "", "file that serve wrote its addresses to, instead of the settings")
	// Docker gives a health check some seconds; it should end by itself before it is ended.
	flags.DurationVar(&o.timeout, "timeout", 4*time.Second, "longest wait for all answers")
}

// newHealthCommand makes `broker health`. A container's health check runs it with the environment that serve runs with, so it finds the
// same addresses.
func newHealthCommand() *cobra.Command {
	var o healthOptions
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Tell whether the broker on this machine answers",
		Long: "Tell whether the broker on this machine answers, by the exit code.\n\n" +
			"Every AMQP listener must take a connection and every HTTP listener must answer. Settings are found as serve finds them.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := o.addresses()
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), o.timeout)
			defer cancel()
			return checkHealth(ctx, cmd.OutOrStdout(), at)
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}

// addresses are where the broker should be.
// The file knows the real ports where the settings ask for free ones.
func (o *healthOptions) addresses() (addresses, error) {
	if o.readyFile != "" {
		var at addresses
		text, err := os.ReadFile(o.readyFile)
		if err == nil {
			err = json.Unmarshal(text, &at)
		}
		if err != nil {
			return at, fmt.Errorf("ready file: %w", err)
		}
		return at, nil
	}
	loaded, err := o.load()
	if err != nil {
		return addresses{}, err
	}
	return configured(loaded.Config), nil
}

// configured are the addresses that the settings tell, each as one that can be connected to.
func configured(c config.Config) addresses {
	// HTTPS is left out: its certificate is for other names than the loopback address.
	at := addresses{AMQP: c.AMQPAddrs, AMQPS: c.AMQPSAddrs}
	if c.HTTPAddr != "" {
		at.HTTP = []string{c.HTTPAddr}
	}
	if c.MetricsAddr != "" {
		at.Metrics = []string{c.MetricsAddr}
	}
	return at
}

// checkHealth goes through all listeners and returns everything that is wrong. It sends nothing to those of AMQP: a handshake that is broken
// off would be a warning in the broker's log each time.
func checkHealth(ctx context.Context, out io.Writer, at addresses) error {
	var errs []error
	for _, address := range slices.Concat(at.AMQP, at.AMQPS) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", reachable(address))
		if err != nil {
			errs = append(errs, fmt.Errorf("AMQP: %w", err))
			continue
		}
		// That the kernel took the connection shows that the listener is there, which is what the check promises.
		conn.Close()
	}
	for _, address := range slices.Concat(at.HTTP, at.Metrics) {
		if err := fetch(ctx, "http://"+reachable(address)+"/metrics"); err != nil {
			errs = append(errs, fmt.Errorf("HTTP: %w", err))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	_, err := fmt.Fprintln(out, "ok")
	return err
}

// fetch reads one page to its end.
func fetch(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // no proxy: it is this machine
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, answer.Status)
	}
	// To the end, as an answer that breaks off is no good sign either.
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}

// reachable turns an address to listen on into one to connect to: all interfaces include the loopback one.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	switch host {
	// An address without a host is one of both families; the old one is always there.
	case "", "0.0.0.0":
		host = "127.0.0.1"
	case "::":
		host = "::1"
	}
	return net.JoinHostPort(host, port)
}
