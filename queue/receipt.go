package queue

// Receipt says what a queue took of a batch.
type Receipt struct {
	// First is the number of the first message that was taken; the others follow without gaps. It is 0 if the queue has closed.
	First uint64
	// Run says that nobody runs the queue and the caller has to, by RunHere or Run.
	Run bool
	// Refused are the positions in the batch, ascending, of the messages that the queue has no room for: their publisher is told.
	Refused []int

	places []uint64 // by position, 0 for what was not taken; nil if all of them were
}

// Place is the number that the message at a position of the batch got; 0 if the queue did not take it, because it has closed, refused it, or
// holds the same already.
func (r *Receipt) Place(position int) uint64 {
	switch {
	case r.places != nil:
		return r.places[position]
	case r.First == 0:
		return 0
	}
	return r.First + uint64(position)
}
