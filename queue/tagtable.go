package queue

// tagTable finds what belongs to a tag, a group say. Each message asks it when it comes, when it goes and when it is settled, and a tag is a hash
// already: so this costs a third of what a map does. Slots are probed in a row, and a removal closes the gap that it makes.
type tagTable[T any] struct {
	slots []tagSlot[T] // a power of two, a third of them empty at least
	shift uint
	count int
}

type tagSlot[T any] struct {
	tag   uint32
	value *T // nil: the slot is empty
}

// tagSlots is how many slots a table begins with.
const tagSlots = 16

// home is the slot that a tag belongs to. Tags may differ in few bits, as priorities do, so they are mixed.
func (t *tagTable[T]) home(tag uint32) int { return int(tag * 0x9E3779B1 >> t.shift) }

// find returns what belongs to a tag, nil if there is nothing.
func (t *tagTable[T]) find(tag uint32) *T {
	if t.count == 0 {
		return nil
	}
	for i := t.home(tag); ; i++ {
		s := &t.slots[i&(len(t.slots)-1)]
		if s.value == nil || s.tag == tag {
			return s.value
		}
	}
}

// put adds a tag that is not there.
func (t *tagTable[T]) put(tag uint32, value *T) {
	if (t.count+1)*3 > len(t.slots)*2 {
		t.grow()
	}
	t.count++
	i := t.home(tag)
	for t.slots[i&(len(t.slots)-1)].value != nil {
		i++
	}
	t.slots[i&(len(t.slots)-1)] = tagSlot[T]{tag, value}
}

// grow doubles the table.
func (t *tagTable[T]) grow() {
	old := t.slots
	size := max(tagSlots, 2*len(old))
	*t = tagTable[T]{slots: make([]tagSlot[T], size), shift: 32}
	for ; size > 1; size /= 2 {
		t.shift--
	}
	for _, s := range old {
		if s.value != nil {
			t.put(s.tag, s.value)
		}
	}
}

// remove takes a tag out that is there.
func (t *tagTable[T]) remove(tag uint32) {
	mask := len(t.slots) - 1
	gap := t.home(tag)
	for s := &t.slots[gap&mask]; s.tag != tag || s.value == nil; s = &t.slots[gap&mask] {
		gap++
	}
	for i := gap + 1; t.slots[i&mask].value != nil; i++ {
		if home := t.home(t.slots[i&mask].tag); (i-home)&mask >= (i-gap)&mask { // it may stand in the gap
			t.slots[gap&mask] = t.slots[i&mask]
			gap = i
		}
	}
	t.slots[gap&mask] = tagSlot[T]{}
	t.count--
}

// each calls each for all values, in no order, until it returns false. The table must not change meanwhile, except before it returns false.
func (t *tagTable[T]) each(each func(*T) bool) {
	for i := range t.slots {
		if v := t.slots[i].value; v != nil && !each(v) {
			return
		}
	}
}

// values are all there is, in no order.
func (t *tagTable[T]) values() []*T {
	all := make([]*T, 0, t.count)
	t.each(func(v *T) bool {
		all = append(all, v)
		return true
	})
	return all
}
