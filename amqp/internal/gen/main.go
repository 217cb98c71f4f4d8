// Command gen writes the generated Go files of package amqp from protocol.txt, the protocol as data.
//
// It is run by `go generate ./amqp`, in the folder of package amqp. A test of this package fails when the committed files are not what it
// would write.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// run writes all generated files into the folder.
func run(folder string) error {
	files, err := generate()
	if err != nil {
		return err
	}
	for name, source := range files {
		if err := os.WriteFile(filepath.Join(folder, name), source, 0o644); err != nil {
			return err
		}
	}
	return nil
}
