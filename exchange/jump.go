package exchange

import "math/bits"

// buckets share hashes out by the jump consistent hash of Lamping and Veach: as many buckets as all weights together, each with as many hashes
// as any other. A new bucket takes its part from all others, and nothing else moves.
//
// Buckets are not kept one by one but in runs of one share: a binding takes the same memory whatever its weight.
type buckets struct {
	runs  []run
	total int

	starts []int32 // the first run that reaches beyond the start of each stretch of buckets, all stretches equally long
	shift  int     // a stretch has two to the power of that
}

// run is the buckets from the end of the run before up to this end.
type run struct {
	end   int
	share *share
}

func (b *buckets) add(s *share) { b.extend(s.weight, s) }

// extend puts n more buckets of a share at the end.
func (b *buckets) extend(n int, s *share) {
	b.total += n
	if last := len(b.runs) - 1; last >= 0 && b.runs[last].share == s {
		b.runs[last].end = b.total
	} else {
		b.runs = append(b.runs, run{b.total, s})
	}
	b.index()
}

// index goes on with the list of starts, or makes it anew when runs have become much longer or shorter than stretches: a stretch has one or two, so that
// a look for one ends soon. That costs next to nothing a binding, as it happens each time that their number doubles at most.
func (b *buckets) index() {
	wanted := max(0, bits.Len(uint(b.total/len(b.runs)))-2)
	if wanted < b.shift-1 || wanted > b.shift+1 {
		b.starts, b.shift = b.starts[:0], wanted
	}
	at := 0
	if last := len(b.starts) - 1; last >= 0 {
		at = int(b.starts[last])
	}
	for len(b.starts)<<b.shift < b.total {
		for b.runs[at].end <= len(b.starts)<<b.shift {
			at++
		}
		b.starts = append(b.starts, int32(at))
	}
}

// remove takes a share's buckets away. Since buckets can go only from the end, the last ones move into the gaps: what moves, beside the hashes
// of the share, is no more than those of as many other buckets.
func (b *buckets) remove(s *share) {
	old, kept := b.runs, b.total-s.weight
	b.runs, b.total, b.starts = nil, 0, nil
	tail := pieces{runs: old, at: kept}
	start := 0
	for _, r := range old {
		n := min(r.end, kept) - start
		start = r.end
		if n <= 0 {
			return
		}
		if r.share != s {
			b.extend(n, r.share)
			continue
		}
		for n > 0 {
			length, other := tail.next(s, n)
			b.extend(length, other)
			n -= length
		}
	}
}

// pieces walks over buckets from a place on.
type pieces struct {
	runs []run
	at   int
}

// next takes at most n buckets of one share that is not s.
func (p *pieces) next(s *share, n int) (length int, other *share) {
	for p.runs[0].end <= p.at || p.runs[0].share == s {
		p.at = max(p.at, p.runs[0].end)
		p.runs = p.runs[1:]
	}
	length = min(n, p.runs[0].end-p.at)
	p.at += length
	return length, p.runs[0].share
}

func (b *buckets) pick(hash uint64) *share {
	if b.total == 0 {
		return nil
	}
	bucket := jump(hash, b.total)
	stretch := bucket >> b.shift
	at, last := int(b.starts[stretch]), len(b.runs)-1
	if stretch+1 < len(b.starts) {
		last = int(b.starts[stretch+1])
	}
	for at < last { // the first run that ends behind the bucket
		if middle := (at + last) / 2; b.runs[middle].end > bucket {
			last = middle
		} else {
			at = middle + 1
		}
	}
	return b.runs[at].share
}

// jump gives a hash its bucket: the last of the jumps, each from one bucket to the next that would take the hash if there were as many, that stays
// within the number there is.
func jump(hash uint64, buckets int) int {
	at, next := int64(-1), int64(0)
	for next < int64(buckets) {
		at = next
		hash = hash*2862933555777941757 + 1
		next = int64(float64(at+1) * (float64(1<<31) / float64(hash>>33+1)))
	}
	return int(at)
}
