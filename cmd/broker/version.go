package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"
)

// newVersionCommand makes `broker version`.
func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printVersion(cmd.OutOrStdout())
		},
	}
}

// printVersion tells what a bug report needs: the release, the compiler, and the platform.
// Its first two words are what scripts cut out.
func printVersion(w io.Writer) error {
	_, err := fmt.Fprintf(w, "leveret %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
