package amqp

import "leveret/store"

type Undocumented struct{}

// Reach imports what stands above it.
func Reach() { store.Open() }

func Deep(rows [][]int) (n int) {
	for _, row := range rows {
		if len(row) > 0 {
			for _, cell := range row {
				if cell > 0 {
					switch {
					case cell > 1:
						if cell > 2 {
							n++
						}
					}
				}
			}
		}
	}
	return n
}
