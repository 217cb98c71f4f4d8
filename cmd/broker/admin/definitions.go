package admin

import (
	"io"
	"net/http"
	"os"

	"leveret/ctl"

	"github.com/spf13/cobra"
)

// definitionsCommand writes and reads definitions files, of RabbitMQ's form.
func (s *session) definitionsCommand() *cobra.Command {
	export := &cobra.Command{
		Use: "export [FILE]", Short: "Write the definitions of the broker, or of one virtual host, to a file", Args: usage(cobra.MaximumNArgs(1)),
		Long: "Write users, virtual hosts, permissions, policies, parameters, exchanges, queues and bindings as JSON, in the form that RabbitMQ has.\n" +
			"With --vhost only what belongs to that virtual host. Messages are no definitions. Without FILE, or with -, it goes to the output.",
		RunE: func(cmd *cobra.Command, args []string) error { return s.export(cmd, nameOf(args)) },
	}
	load := &cobra.Command{
		Use: "import [FILE]", Short: "Read definitions from a file and make what is missing", Args: usage(cobra.MaximumNArgs(1)),
		Long: "Read definitions, of RabbitMQ or of this broker. Nothing is deleted; users, policies and parameters of the same name are replaced.\n" +
			"With --vhost everything goes into that virtual host. Without FILE, or with -, they come from the input.",
		RunE: func(cmd *cobra.Command, args []string) error { return s.load(cmd, nameOf(args)) },
	}
	return group("definitions", "Export and import definitions", export, load)
}

// nameOf is the file that the arguments name; - is input or output.
func nameOf(args []string) string {
	if len(args) == 0 {
		return "-"
	}
	return args[0]
}

// definitionsPath is where the API has the definitions.
// Only a virtual host that was named counts here, and not the default one: of the two files nobody would look for the smaller.
func (s *session) definitionsPath() string {
	if s.vhostGiven() {
		return ctl.Path("definitions", s.vhost)
	}
	return "/definitions"
}

// export writes to a file or to the output.
func (s *session) export(cmd *cobra.Command, name string) error {
	raw, _, err := s.call(cmd.Context(), http.MethodGet, s.definitionsPath(), nil)
	if err != nil {
		return err
	}
	if name == "-" {
		return printJSON(cmd.OutOrStdout(), raw)
	}
	// Hashes of passwords are in it.
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return &ctl.UsageError{Text: err.Error()}
	}
	err = printJSON(f, raw)
	// A full disk may show at the close alone.
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return s.say(cmd, "definitions are in %s", name)
}

// load reads from a file or from the input; the text goes to the broker as it is, which knows best what is wrong with it.
func (s *session) load(cmd *cobra.Command, name string) error {
	f, err := file(cmd, name)
	if err != nil {
		return err
	}
	defer f.Close()
	// Before the call, so that a file that can't be read is told as that.
	text, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	if _, _, err := s.call(cmd.Context(), http.MethodPost, s.definitionsPath(), text); err != nil {
		return err
	}
	return s.say(cmd, "definitions are imported")
}
