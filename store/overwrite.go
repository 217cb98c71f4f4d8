package store

// Writing where a file was written before changes nothing but the data. Where space is only allocated, the file system has to note
// at each sync that it holds data now, which is a second write for the disk to finish. So in a file that is used for the first time
// small batches take a run of zeros along, for the next ones to overwrite.
const (
	// zerosAhead is how many bytes of zeros a batch takes along.
	zerosAhead = 256 << 10
	// smallBatch is the size in bytes of a batch up to which that is worth it: for larger ones the second write is little.
	smallBatch = 128 << 10
)

var zeros [zerosAhead]byte

// overwrite adds zeros behind a batch that stands in the buffers, if it is small and ends behind what was written before. It returns
// up to where the file is written then; end is the offset behind the batch.
func (c *committer) overwrite(end int64) int64 {
	seg := c.seg
	if end <= seg.overwrites || end-seg.offset(c.pos) > smallBatch {
		return end
	}
	ahead := min(seg.size-end, zerosAhead)
	if ahead > 0 {
		c.buffers = append(c.buffers, zeros[:ahead])
	}
	return end + max(ahead, 0)
}
