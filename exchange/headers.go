package exchange

import (
	"slices"
	"strings"

	"leveret/amqp"
)

// argMatch says how a binding's other arguments are to be met.
const argMatch = "x-match"

func init() {
	types["headers"] = func(amqp.Table) (table, error) {
		return &headers{columns: make(map[string]*column), rules: make(map[*Binding]*rule)}, nil
	}
}

// headers leads to the destinations whose binding arguments the message's headers meet: all of them, or any. Keys do not matter.
//
// A rule is filed under a header that it asks for, by the value (an "all" rule under one of its headers, an "any" rule under each). So
// a message meets only the rules that one of its headers speaks for, however many there are.
type headers struct {
	always  []*rule // "all" of nothing
	columns map[string]*column
	rules   map[*Binding]*rule
}

// column holds the rules filed under one header.
type column struct {
	byValue map[string][]*rule // by canonical value
	present []*rule            // that ask for the header alone
}

// rule is a binding's arguments, made ready for comparing.
type rule struct {
	destination Destination
	any         bool        // one criterion is enough
	criteria    []criterion // the first is the one that an "all" rule is filed under
}

// criterion is one header that a rule asks for.
type criterion struct {
	name    string
	value   string // canonical
	present bool   // any value will do
}

func (*headers) keyed() bool { return false }

func (*headers) check(b *Binding) error {
	_, err := newRule(b)
	return err
}

// newRule reads a binding's arguments. Names that start with `x-` are left out unless x-match says otherwise.
func newRule(b *Binding) (*rule, error) {
	r := &rule{destination: b.Destination}
	skipped := "x-"
	if v, ok := b.Arguments.Get(argMatch); ok {
		match, isString := v.(string)
		if !isString {
			return nil, amqp.InvalidXMatchType(v)
		}
		switch match {
		case "all":
		case "any":
			r.any = true
		case "all-with-x":
			skipped = argMatch
		case "any-with-x":
			r.any, skipped = true, argMatch
		default:
			return nil, amqp.InvalidXMatch(match)
		}
	}
	r.criteria = make([]criterion, 0, len(b.Arguments))
	var value []byte
	for _, f := range b.Arguments {
		if f.Name == argMatch || skipped == "x-" && strings.HasPrefix(f.Name, skipped) {
			continue
		}
		c := criterion{name: f.Name, present: f.Value == nil}
		if !c.present {
			value = amqp.AppendCanonicalValue(value[:0], f.Value)
			c.value = string(value)
		}
		r.criteria = append(r.criteria, c)
	}
	return r, nil
}

func (t *headers) add(b *Binding) {
	r, err := newRule(b)
	if err != nil {
		return // Bind has checked it
	}
	t.rules[b] = r
	if len(r.criteria) == 0 && !r.any {
		t.always = append(t.always, r)
	}
	if !r.any {
		t.choose(r)
	}
	for i := range r.filed() {
		c := &r.criteria[i]
		col := t.columns[c.name]
		if col == nil {
			col = &column{byValue: make(map[string][]*rule)}
			t.columns[c.name] = col
		}
		if c.present {
			col.present = append(col.present, r)
		} else {
			col.byValue[c.value] = append(col.byValue[c.value], r)
		}
	}
}

// choose puts first the criterion that the fewest rules are filed under: if all rules ask for the same kind of message, but each for
// another customer, they part by the customer.
func (t *headers) choose(r *rule) {
	best, fewest := 0, 0
	for i := range r.criteria {
		if n := t.crowd(&r.criteria[i]); i == 0 || n < fewest {
			best, fewest = i, n
		}
	}
	if best > 0 {
		r.criteria[0], r.criteria[best] = r.criteria[best], r.criteria[0]
	}
}

// crowd is the number of rules filed under a criterion.
func (t *headers) crowd(c *criterion) int {
	switch col := t.columns[c.name]; {
	case col == nil:
		return 0
	case c.present:
		return len(col.present) + len(col.byValue) // met by whatever value
	default:
		return len(col.byValue[c.value])
	}
}

func (t *headers) remove(b *Binding) {
	r := t.rules[b]
	delete(t.rules, b)
	if len(r.criteria) == 0 {
		t.always = without(t.always, r)
	}
	for i := range r.filed() {
		c := &r.criteria[i]
		col := t.columns[c.name]
		if c.present {
			col.present = without(col.present, r)
		} else if rest := without(col.byValue[c.value], r); len(rest) > 0 {
			col.byValue[c.value] = rest
		} else {
			delete(col.byValue, c.value)
		}
		if len(col.present) == 0 && len(col.byValue) == 0 {
			delete(t.columns, c.name)
		}
	}
}

// filed is the number of criteria, from the first, that the rule is filed under.
func (r *rule) filed() int {
	if r.any {
		return len(r.criteria)
	}
	return min(1, len(r.criteria))
}

func without(list []*rule, r *rule) []*rule {
	return slices.DeleteFunc(list, func(other *rule) bool { return other == r })
}

func (t *headers) route(r *Routing) {
	for _, always := range t.always {
		r.reach(always.destination)
	}
	if len(r.Headers) == 0 {
		return
	}
	t.routeByFields(r)
	r.dropIndex()
}

// routeByFields looks for the rules that a header of the message speaks for.
func (t *headers) routeByFields(r *Routing) {
	if len(t.columns) <= fewColumns {
		for name, col := range t.columns {
			if tag, value, ok := amqp.FindField(r.Headers, name); ok {
				r.tryColumn(col, tag, value)
			}
		}
		return
	}
	clear(r.tried)
	amqp.EachField(r.Headers, func(name []byte, tag byte, value []byte) bool {
		col := t.columns[string(name)]
		if col == nil || r.tried[col] {
			return true // of several fields of one name the first counts
		}
		if r.tried == nil {
			r.tried = make(map[*column]bool)
		}
		r.tried[col] = true
		r.tryColumn(col, tag, value)
		return true
	})
}

// fewColumns is up to how many columns it is cheaper to look for each in the message than the other way round.
const fewColumns = 4

// tryColumn tries the rules filed under a header that the message has.
func (r *Routing) tryColumn(col *column, tag byte, value []byte) {
	r.tryAll(col.present)
	r.value = amqp.AppendCanonical(r.value[:0], tag, value)
	r.tryAll(col.byValue[string(r.value)])
}

// tryAll collects the destinations of those rules that the headers meet as a whole. The criterion they were found by is met.
func (r *Routing) tryAll(rules []*rule) {
	for _, found := range rules {
		if found.any || r.meets(found.criteria[1:]) {
			r.reach(found.destination)
		}
	}
}
