package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"leveret/auth"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// hashPasswordOptions are the flags of `broker hash-password`.
type hashPasswordOptions struct {
	algorithm string // without the prefix that definitions files have
}

// AddFlags declares the command's flags.
func (o *hashPasswordOptions) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.algorithm, "algorithm", "sha256", "digest: sha256 or sha512")
}

// newHashPasswordCommand makes `broker hash-password`. It needs no broker: the hash goes into a definitions file.
func newHashPasswordCommand() *cobra.Command {
	var o hashPasswordOptions
	cmd := &cobra.Command{
		Use:   "hash-password [PASSWORD]",
		Short: "Print the hash of a password, for a definitions file",
		Long: "Print the hash of a password, for a definitions file.\n\n" +
			"Without an argument the password is the first line of standard input, which keeps it out of the shell's history.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return hashPassword(cmd.OutOrStdout(), cmd.InOrStdin(), o.algorithm, args)
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}

// hashPassword prints the hash of the only argument, or of the first line of in.
func hashPassword(out io.Writer, in io.Reader, algorithm string, args []string) error {
	var password string
	if len(args) > 0 {
		password = args[0]
	} else {
		// The first line alone: editors and echo put a line end behind what was typed.
		line, err := bufio.NewReader(in).ReadString('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("read the password: %w", err)
		}
		password = strings.TrimRight(line, "\r\n") // blanks may be part of it
	}
	hash, err := auth.HashPassword(auth.Hashing("rabbit_password_hashing_"+algorithm), password)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, hash)
	return err
}
