package main

import (
	"errors"
	"fmt"
	"io"

	"leveret/config"

	"github.com/spf13/cobra"
)

// newConfigCommand makes `broker config`. Its commands take the same flags as serve, so that a command line can be looked at before it is
// run.
func newConfigCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Look at the settings that serve would run with",
	}
	// One for both commands, as only one of them runs.
	var f configFlags
	f.AddFlags(cmd.PersistentFlags())
	cmd.AddCommand(
		&cobra.Command{
			Use:   "print",
			Short: "Print every setting, in the form of the configuration file, and where it comes from",
			Args:  cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return printConfig(cmd.OutOrStdout(), f.load)
			},
		},
		&cobra.Command{
			Use:   "check",
			Short: "Tell what is wrong with the settings",
			Args:  cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return checkConfig(cmd.OutOrStdout(), f.load)
			},
		},
	)
	return cmd
}

// printConfig shows what is in force. Settings that contradict each other are shown too: that is when one wants to see them.
func printConfig(w io.Writer, load func() (*config.Loaded, error)) error {
	loaded, err := load()
	if err != nil {
		return err
	}
	// Passwords are not shown; see config.
	return loaded.Print(w)
}

// checkConfig prints what is no error, and returns all that is.
func checkConfig(w io.Writer, load func() (*config.Loaded, error)) error {
	loaded, err := load()
	if loaded == nil { // there is no file to tell anything about
		return err
	}
	for _, warning := range loaded.Warnings {
		fmt.Fprintln(w, "warning:", warning)
	}
	if err := errors.Join(err, loaded.Validate()); err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, "ok")
	return err
}
