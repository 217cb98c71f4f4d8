// Command broker is a message broker for AMQP 0-9-1 in one binary, with the tools that belong to it. Each command is a file: options with
// their flags, a constructor, and a plain function that does the work and knows nothing of flags.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// version is the release; the build sets it.
var version = "dev"

func main() {
	os.Exit(execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// execute runs one command line and returns the exit code. An error is told once, on stderr.
func execute(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if err := root.Execute(); err != nil {
		fmt.Fprintln(stderr, "broker:", err)
		var coded interface{ ExitCode() int }
		if errors.As(err, &coded) {
			return coded.ExitCode()
		}
		return 1
	}
	return 0
}
