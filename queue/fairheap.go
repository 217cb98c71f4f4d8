package queue

// fairHeap has the lane in front that has got least. What lanes are compared by stands beside them, and a node has four children: most of a step down is
// in one line of the cache.
type fairHeap []fairNode

type fairNode struct {
	got, came uint64
	lane      *fairLane
}

// fairChildren is how many children a node has.
const fairChildren = 4

func (n *fairNode) before(m *fairNode) bool {
	return n.got < m.got || n.got == m.got && n.came < m.came
}

// push puts a lane in.
func (h *fairHeap) push(l *fairLane) {
	*h = append(*h, fairNode{l.got, l.came, l})
	h.up(len(*h) - 1)
}

// remove takes out a lane that is there.
func (h *fairHeap) remove(l *fairLane) {
	at, last := l.at, len(*h)-1
	moved := (*h)[last]
	(*h)[last] = fairNode{}
	if *h = (*h)[:last]; at < last {
		(*h)[at] = moved
		h.down(at)
		h.up(moved.lane.at)
	}
}

// fix moves a lane that has got more to where it belongs.
func (h fairHeap) fix(l *fairLane) {
	h[l.at].got = l.got
	h.down(l.at)
}

func (h fairHeap) up(i int) {
	n := h[i]
	for i > 0 {
		parent := (i - 1) / fairChildren
		if !n.before(&h[parent]) {
			break
		}
		h.set(i, h[parent])
		i = parent
	}
	h.set(i, n)
}

func (h fairHeap) down(i int) {
	n := h[i]
	for {
		least := fairChildren*i + 1
		if least >= len(h) {
			break
		}
		for child := least + 1; child < min(fairChildren*(i+1)+1, len(h)); child++ {
			if h[child].before(&h[least]) {
				least = child
			}
		}
		if !h[least].before(&n) {
			break
		}
		h.set(i, h[least])
		i = least
	}
	h.set(i, n)
}

func (h fairHeap) set(i int, n fairNode) {
	h[i] = n
	n.lane.at = i
}
