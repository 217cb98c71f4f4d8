package main

import (
	"errors"
	"fmt"
	"io"

	"leveret/config"

	"github.com/spf13/cobra"
)

func newConfigCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Look at the settings that serve would run with",
	}
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

func printConfig(w io.Writer, load func() (*config.Loaded, error)) error {
	loaded, err := load()
	if err != nil {
		return err
	}
	return loaded.Print(w)
}

// checkConfig prints what is no error, and returns all that is.
func checkConfig(w io.Writer, load func() (*config.Loaded, error)) error {
	loaded, err := load()
	if loaded == nil {
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
