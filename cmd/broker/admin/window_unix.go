//go:build unix

package admin

import (
	"os"

	"golang.org/x/sys/unix"
)

// windowWidth is how many characters a line of a terminal has, 0 for what is none.
func windowWidth(file *os.File) int {
	// What is no terminal has no size.
	size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
