package queue

import "testing"

// What is read gets a chunk when it fills one, or when it is one message that is large.
func TestMemoryOfWhatIsRead(t *testing.T) {
	for _, c := range []struct {
		size, messages int
		chunk, owned   bool
	}{
		{1000, 1, false, false},
		{MostInChunk, 1, false, false},
		{MostInChunk + 1, 1, true, true},
		{MostOwned, 1, true, true},
		{MostOwned + 1, 1, false, false},
		{ChunkSize, 2, false, false},
		{ChunkSize, 4, true, false},
	} {
		var r refill
		b := r.buffer(c.size, c.messages)
		if k := r.chunks[0]; len(b) != c.size || (k != nil) != c.chunk || k != nil && k.Owned() != c.owned {
			t.Errorf("%+v: %d bytes, chunk %v", c, len(b), k != nil)
		}
	}
}
