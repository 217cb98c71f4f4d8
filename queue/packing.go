package queue

// packing is chunks that are filled with what is read, however scattered that was.
type packing struct {
	chunks []*Chunk // of each part that was read, nil if it has memory of its own
	last   *Chunk
}

// buffer returns memory for a part of what is read.
func (p *packing) buffer(size, messages int) []byte {
	if size/messages > MostInChunk || size > ChunkSize {
		p.chunks = append(p.chunks, nil)
		return make([]byte, size)
	}
	if p.last == nil || ChunkSize-len(p.last.Bytes) < size {
		p.last = NewChunk()
	}
	k := p.last
	start := len(k.Bytes)
	k.Bytes = k.Bytes[:start+size]
	p.chunks = append(p.chunks, k)
	return k.Bytes[start : start+size : start+size]
}

// retire says that nothing more comes into the chunks.
func (p *packing) retire() {
	var last *Chunk
	for _, k := range p.chunks {
		if k != nil && k != last {
			k.Retire()
			last = k
		}
	}
}
