package exchange

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// pointsPerWeight is how many points on the ring a weight of 1 has. With fewer the shares differ more from what the weights say.
const pointsPerWeight = 20

// ring shares hashes out by points on a circle: a hash belongs to the next point. Where the points of a destination are follows from its name
// alone, so the shares do not depend on the order of the bindings. It takes memory in proportion to the weights.
type ring struct {
	points []point // in order
	starts []int32 // where the first point stands whose highest bits are as a place in this list, or behind that
	shift  int     // by which those bits stand above the others
}

type point struct {
	hash  uint64
	share *share
}

func (t *ring) add(s *share) {
	name := hash(0, []byte(s.destination.Name()))
	added := make([]point, 0, s.weight*pointsPerWeight)
	for i := range cap(added) {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], uint64(i))
		added = append(added, point{hash(name, b[:]), s})
	}
	slices.SortFunc(added, comparePoints)
	t.merge(added)
	t.index()
}

// index makes the list of starts, with room for some points between each and the next. Points are spread evenly, so a look for one ends soon.
func (t *ring) index() {
	width := bits.Len(uint(len(t.points) / 4))
	t.shift = 64 - width
	t.starts = make([]int32, 1<<width)
	at := 0
	for i := range t.starts {
		for at < len(t.points) && t.points[at].hash>>t.shift < uint64(i) {
			at++
		}
		t.starts[i] = int32(at)
	}
}

// merge puts points in that are in order, from the back, so that it needs no second ring.
func (t *ring) merge(added []point) {
	old := len(t.points)
	t.points = append(t.points, added...)
	for at := len(t.points) - 1; len(added) > 0; at-- {
		last := len(added) - 1
		if old > 0 && comparePoints(t.points[old-1], added[last]) > 0 {
			old--
			t.points[at] = t.points[old]
			continue
		}
		t.points[at] = added[last]
		added = added[:last]
	}
}

// comparePoints puts points that fall together in an order that does not depend on when they came.
func comparePoints(p, q point) int {
	if c := cmp.Compare(p.hash, q.hash); c != 0 {
		return c
	}
	return cmp.Compare(p.share.destination.Name(), q.share.destination.Name())
}

func (t *ring) remove(s *share) {
	t.points = slices.DeleteFunc(t.points, func(p point) bool { return p.share == s })
	t.index()
}

func (t *ring) pick(hash uint64) *share {
	if len(t.points) == 0 {
		return nil
	}
	at := int(t.starts[hash>>t.shift])
	for at < len(t.points) && t.points[at].hash < hash {
		at++
	}
	if at == len(t.points) {
		at = 0
	}
	return t.points[at].share
}
