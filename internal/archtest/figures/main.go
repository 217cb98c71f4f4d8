// Command figures prints the size figures of the tree beside the project's bars.
package main

import (
	"fmt"
	"os"

	"leveret/internal/archtest"
)

func main() {
	// The whole tree, or a part of it to look at.
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	if err := run(root); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

// run prints the figures of a folder. They are those that archtest holds against the bars.
func run(root string) error {
	files, err := archtest.ReadTree(root)
	if err != nil {
		return err
	}
	return archtest.PrintFigures(os.Stdout, files)
}
