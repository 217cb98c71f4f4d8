package main

import (
	"leveret/cmd/broker/admin"
	"leveret/cmd/broker/rabbitmqctl"

	"github.com/spf13/cobra"
)

// newRootCommand makes the command line anew, so that each test has one of its own: cobra's commands remember what they were given.
func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "broker",
		Short:         "Leveret, a message broker for AMQP 0-9-1",
		Version:       version,
		SilenceUsage:  true, // an error is not a question about flags
		SilenceErrors: true, // execute tells it
	}
	// export and import are of a running broker; check needs none and so is not the admin package's.
	files := admin.NewDefinitions()
	files.AddCommand(newDefinitionsCheckCommand())
	root.AddCommand(
		newServeCommand(),
		newPerfCommand(),
		newConfigCommand(),
		newStoreCommand(),
		admin.New(),
		files,
		newHealthCommand(),
		newHashPasswordCommand(),
		newVersionCommand(),
	)
	// As commands too: a container without links can still run `broker rabbitmqctl`.
	for _, tool := range rabbitmqctl.Tools {
		root.AddCommand(rabbitmqctl.New(tool))
	}
	return root
}
