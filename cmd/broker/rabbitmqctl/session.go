// Package rabbitmqctl is RabbitMQ's command line tool as far as one node of another make can answer it: the verbs, options, columns and exit codes that
// scripts, container health checks and clients' test suites rely on. It works over the HTTP API.
//
// Each verb is a line of a table: what it takes, what it says before it works, and a function that works.
package rabbitmqctl

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"leveret/ctl"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// session is one run of one verb. The options are RabbitMQ's.
type session struct {
	vhost          string
	node           string // taken and not needed: there is one
	quiet, silent  bool   // silent is quiet, and no headers of tables
	noTableHeaders bool
	formatter      string  // empty: table
	timeout        float64 // seconds; 0: none

	cmd    *cobra.Command // that runs; its output is written to
	client *ctl.Client
	ctx    context.Context // ends when the time is up
}

// addFlags declares the options that all verbs have.
func (s *session) addFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&s.node, "node", "n", "", "taken for compatibility")
	flags.BoolVarP(&s.quiet, "quiet", "q", false, "no messages about what is being done")
	flags.BoolVarP(&s.silent, "silent", "s", false, "no headers of tables either")
	flags.StringVarP(&s.vhost, "vhost", "p", "/", "virtual host")
	flags.StringVar(&s.formatter, "formatter", "", "table, pretty_table, json, csv or erlang")
	flags.BoolVar(&s.noTableHeaders, "no-table-headers", false, "no headers of tables")
	flags.Float64VarP(&s.timeout, "timeout", "t", 60, "longest wait for answers, in seconds")
	ignored := func(name, short string) {
		flags.StringP(name, short, "", "taken for compatibility")
		flags.Lookup(name).Hidden = true
	}
	ignored("erlang-cookie", "")
	ignored("script-name", "")
	flags.BoolP("longnames", "l", false, "taken for compatibility")
	for _, name := range []string{"online", "offline", "local", "dry-run", "print-stacktrace", "hard"} {
		flags.Bool(name, false, "taken for compatibility")
		flags.Lookup(name).Hidden = true
	}
}

// start opens the way to the broker.
func (s *session) start(cmd *cobra.Command, reason string) (stop func(), err error) {
	target := ctl.Local(os.Getenv)
	target.Reason = reason
	if s.client, err = ctl.New(target); err != nil {
		return nil, err
	}
	s.cmd = cmd
	if s.timeout <= 0 {
		s.ctx = cmd.Context()
		return s.client.Close, nil
	}
	var cancel context.CancelFunc
	s.ctx, cancel = context.WithTimeout(cmd.Context(), time.Duration(s.timeout*float64(time.Second)))
	return func() { cancel(); s.client.Close() }, nil
}

// talks tells whether messages about what is being done are wanted.
func (s *session) talks() bool {
	return !s.quiet && !s.silent && (s.formatter == "" || s.formatter == "table" || s.formatter == "pretty_table")
}

// say prints one line.
func (s *session) say(format string, args ...any) error {
	_, err := fmt.Fprintf(s.cmd.OutOrStdout(), format+"\n", args...)
	return err
}

// hint prints a line for people, who have not asked for less.
func (s *session) hint(format string, args ...any) error {
	if !s.talks() {
		return nil
	}
	return s.say(format, args...)
}

// flag is the value of an option of the verb's own.
func (s *session) flag(name string) string {
	f := s.cmd.Flags().Lookup(name)
	if f == nil {
		return ""
	}
	return f.Value.String()
}

// get, put, post and delete are calls of the API within the time limit; answers to the latter three do not matter.
func (s *session) get(path string, into any) error { return s.client.Get(s.ctx, path, into) }

func (s *session) put(path string, body any) error {
	_, _, err := s.client.Call(s.ctx, http.MethodPut, path, body)
	return err
}

func (s *session) post(path string, body any) error {
	_, _, err := s.client.Call(s.ctx, http.MethodPost, path, body)
	return err
}

func (s *session) delete(path string) error {
	_, _, err := s.client.Call(s.ctx, http.MethodDelete, path, nil)
	return err
}

// nodeName is the broker's own name.
func (s *session) nodeName() (string, error) {
	var overview ctl.Object
	err := s.get("/overview", &overview)
	return overview.Text("node"), err
}

// must is for verbs that need a value in place of an empty argument.
func must(what, given string) error {
	if strings.TrimSpace(given) == "" {
		return &ctl.UsageError{Text: what + " must not be empty"}
	}
	return nil
}
