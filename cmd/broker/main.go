// Command broker is a message broker for AMQP 0-9-1 in one binary, with the tools that belong to it. Each command is a file: options with
// their flags, a constructor, and a plain function that does the work and knows nothing of flags.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"leveret/cmd/broker/rabbitmqctl"

	"github.com/spf13/cobra"
)

// version is the release; the build sets it.
var version = "dev"

func main() {
	os.Exit(execute(calledBy(os.Args[0]), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// calledBy makes the command that the program's name stands for: links with the names of RabbitMQ's tools are those tools.
func calledBy(name string) *cobra.Command {
	if tool := strings.TrimSuffix(filepath.Base(name), ".exe"); slices.Contains(rabbitmqctl.Tools, tool) {
		return rabbitmqctl.New(tool)
	}
	return newRootCommand()
}

// execute runs one command line and returns the exit code. An error is told once, on stderr.
func execute(root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if err := root.Execute(); err != nil {
		// RabbitMQ's tools print no name before an error, and scripts compare.
		var whole interface{ Verbatim() bool }
		if errors.As(err, &whole) && whole.Verbatim() {
			fmt.Fprintln(stderr, err)
		} else {
			fmt.Fprintf(stderr, "%s: %v\n", root.Name(), err)
		}
		// Errors that know no code are those of serve and of flags; 1 is what a shell expects then.
		var coded interface{ ExitCode() int }
		if errors.As(err, &coded) {
			return coded.ExitCode()
		}
		return 1
	}
	return 0
}
