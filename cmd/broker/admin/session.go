// Package admin is `broker ctl` and `broker definitions`: the administration of a broker over its HTTP API. Commands are named as in rabbitmqadmin's second
// version where it has them. What there is to list, declare and delete stands in one table of nouns; what is more than that has a file of its own.
//
// Commands print to their cobra output and return errors that know their exit code (see [ctl.ExitCode]).
package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"leveret/ctl"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// session is what all commands of one command line share: who calls which broker, and how answers are shown. Its fields are flags, read when a command runs.
type session struct {
	target  ctl.Options // Flags of their own override what the environment says
	vhost   string
	json    bool          // print answers as they come, for programs
	quiet   bool          // no titles, no sentences: what is printed is data
	timeout time.Duration // of one call; a command may make several
	width   int           // columns of letters; 0: the terminal's

	flags *pflag.FlagSet
}

// addFlags declares the flags that all commands have. The environment gives their defaults, so that a script names the broker once.
func (s *session) addFlags(flags *pflag.FlagSet) {
	s.flags = flags
	flags.StringVar(&s.target.URL, "url", or(os.Getenv("LEVERET_URL"), ctl.DefaultURL), "URL of the HTTP API; LEVERET_URL")
	flags.StringVarP(&s.target.User, "user", "u", ctl.Local(os.Getenv).User, "user; LEVERET_USER")
	// Its default is not the environment's, which would show in the help; ctl.Local reads that.
	flags.StringVar(&s.target.Password, "password", "", "password; LEVERET_PASSWORD (default guest)")
	flags.StringVar(&s.target.CAFile, "ca-file", os.Getenv("LEVERET_CA_FILE"), "file of certificates to trust; LEVERET_CA_FILE")
	flags.BoolVar(&s.target.Insecure, "insecure", false, "trust any certificate")
	flags.StringVarP(&s.vhost, "vhost", "V", or(os.Getenv("LEVERET_VHOST"), "/"), "virtual host; LEVERET_VHOST")
	flags.BoolVar(&s.json, "json", false, "print what the API answers, as JSON")
	flags.BoolVarP(&s.quiet, "quiet", "q", false, "print results only")
	flags.DurationVar(&s.timeout, "timeout", 30*time.Second, "longest wait for an answer")
	flags.IntVar(&s.width, "width", 0, "width of tables in characters (default: the terminal's, or any)")
}

// or is a value, or what stands for it when there is none.
func or(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}

// client makes the client that the flags describe. Whoever names neither a broker nor a user means the one on this machine.
func (s *session) client() (*ctl.Client, error) {
	target := ctl.Local(os.Getenv)
	if s.flags.Changed("url") || s.flags.Changed("user") {
		// The socket of the broker on this machine lets its owner in without a password. Whoever names a broker or a user means these,
		// and would be taken for an administrator otherwise.
		target.Socket = ""
	}
	target.URL, target.User, target.Reason = s.target.URL, s.target.User, s.target.Reason
	target.CAFile, target.Insecure = s.target.CAFile, s.target.Insecure
	if s.target.Password != "" {
		target.Password = s.target.Password
	}
	return ctl.New(target)
}

// call is one request within the time limit.
func (s *session) call(ctx context.Context, method, path string, body any) (answer []byte, created bool, err error) {
	client, err := s.client()
	if err != nil {
		return nil, false, err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	// A client for each call: a command makes few, and watch, which makes many, may outlive the broker's restart.
	answer, created, err = client.Call(ctx, method, path, body)
	return answer, created, named(err)
}

// get asks for a path; raw is the answer as it came.
func (s *session) get(ctx context.Context, path string, into any) (raw []byte, err error) {
	raw, _, err = s.call(ctx, http.MethodGet, path, nil)
	if err == nil {
		err = ctl.Decode(raw, into)
	}
	return raw, err
}

// printJSON prints an answer as it came, but indented.
func printJSON(out io.Writer, raw []byte) error {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return fmt.Errorf("the broker's answer is no JSON: %w", err)
	}
	b.WriteByte('\n')
	_, err := b.WriteTo(out)
	return err
}

// say tells what was done, unless nobody wants to know.
func (s *session) say(cmd *cobra.Command, format string, args ...any) error {
	if s.quiet || s.json {
		return nil
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), format+"\n", args...)
	return err
}

// print prints a table.
func (s *session) print(out io.Writer, t *ctl.Table) error {
	t.Width = s.width
	if t.Width == 0 {
		t.Width = terminalWidth(out)
	}
	// Scripts that want results alone have no use for titles.
	if s.quiet {
		t.Header = nil
	}
	return t.Write(out)
}

// terminalWidth is 0 for what is no terminal: files and pipes take lines of any length.
func terminalWidth(out io.Writer) int {
	file, ok := out.(*os.File)
	if !ok {
		return 0
	}
	width := windowWidth(file)
	// For terminals that lie about their width, and tests that have none.
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && width > 0 {
		return columns
	}
	return width
}
