package main

import (
	"fmt"
	"io"
	"os"

	"leveret/store"

	"github.com/spf13/cobra"
)

// newStoreCommand makes `broker store`, whose commands look at the data folder of a broker that does not run.
func newStoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Look at the data folder of a stopped broker",
	}
	cmd.AddCommand(
		&cobra.Command{
			// What the folder says of itself: headers and the root file, without reading bodies.
			Use:   "inspect DIR",
			Short: "Print what is in a data folder: segments, queues, the checkpoint, damage",
			Args:  cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return lookAtStore(cmd.OutOrStdout(), args[0], store.Inspect)
			},
		},
		&cobra.Command{
			// Every record is read and its checksum computed, which takes as long as the disk needs for that.
			Use:   "check DIR",
			Short: "Read all that is in a data folder and tell what is damaged",
			Args:  cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return lookAtStore(cmd.OutOrStdout(), args[0], store.Check)
			},
		},
	)
	return cmd
}

// lookAtStore runs one of the store's own examinations. A folder that is not there is not made.
func lookAtStore(w io.Writer, dir string, look func(dir string, w io.Writer) error) error {
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	if err := look(dir, w); err != nil {
		return fmt.Errorf("data folder %s: %w", dir, err)
	}
	return nil
}
