package exchange

// smallSet is how many members are found by looking at each; larger sets have an index.
const smallSet = 16

// set holds the destinations of equal bindings (same key, say), each once, with the number of bindings that lead to it. The
// zero value is empty.
type set struct {
	members []member
	index   map[Destination]int // where each stands in members; nil in small sets
}

type member struct {
	destination Destination
	bindings    int
}

func (s *set) empty() bool { return len(s.members) == 0 }

func (s *set) find(d Destination) (at int, ok bool) {
	if s.index != nil {
		at, ok = s.index[d]
		return at, ok
	}
	for i := range s.members {
		if s.members[i].destination == d {
			return i, true
		}
	}
	return 0, false
}

func (s *set) add(d Destination) {
	if at, ok := s.find(d); ok {
		s.members[at].bindings++
		return
	}
	s.members = append(s.members, member{d, 1})
	switch {
	case s.index != nil:
		s.index[d] = len(s.members) - 1
	case len(s.members) > smallSet:
		s.index = make(map[Destination]int, len(s.members))
		for i := range s.members {
			s.index[s.members[i].destination] = i
		}
	}
}

// remove takes back one add of d.
func (s *set) remove(d Destination) {
	at, ok := s.find(d)
	if !ok {
		return
	}
	s.members[at].bindings--
	if s.members[at].bindings > 0 {
		return
	}
	last := len(s.members) - 1
	s.members[at] = s.members[last]
	s.members[last] = member{}
	s.members = s.members[:last]
	if s.index != nil {
		delete(s.index, d)
		if at < last {
			s.index[s.members[at].destination] = at
		}
	}
}
