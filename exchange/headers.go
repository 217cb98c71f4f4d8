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
// A rule is filed under the header that it asks for (an "all" rule under one of them, an "any" rule under each), by its value. So a
// message meets only the rules that one of its headers speaks for, however many there are.
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
	any         bool // one criterion is enough
	criteria    []criterion
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
	for _, f := range b.Arguments {
		if f.Name == argMatch || skipped == "x-" && strings.HasPrefix(f.Name, skipped) {
			continue
		}
		c := criterion{name: f.Name, present: f.Value == nil}
		if !c.present {
			c.value = string(appendValue(nil, f.Value))
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
	for _, rule := range t.always {
		r.reach(rule.destination)
	}
	if len(r.Headers) == 0 {
		return
	}
	for name, col := range t.columns {
		tag, value, ok := amqp.FindField(r.Headers, name)
		if !ok {
			continue
		}
		for _, rule := range col.present {
			rule.tryOn(r)
		}
		r.value = appendCanonical(r.value[:0], tag, value)
		for _, rule := range col.byValue[string(r.value)] {
			rule.tryOn(r)
		}
	}
}

// tryOn collects the rule's destination if the headers meet the whole of it. The criterion through which the rule was found is met.
func (rule *rule) tryOn(r *Routing) {
	if !rule.any {
		for i := 1; i < len(rule.criteria); i++ {
			if !rule.criteria[i].met(r) {
				return
			}
		}
	}
	r.reach(rule.destination)
}

func (c *criterion) met(r *Routing) bool {
	tag, value, ok := amqp.FindField(r.Headers, c.name)
	if !ok || c.present {
		return ok
	}
	r.value = appendCanonical(r.value[:0], tag, value)
	return string(r.value) == c.value
}
