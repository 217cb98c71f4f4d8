package management

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// identity is what lists are ordered by when a client does not say.
type identity struct{ vhost, name string }

// compare orders by virtual host, then by name, octet by octet: upper case before lower case.
func (i identity) compare(j identity) int {
	return cmp.Or(strings.Compare(i.vhost, j.vhost), strings.Compare(i.name, j.name))
}

// listing is a list that a client may have sorted, cut into pages, and shown in part. Only what is shown is built, unless it is sorted by a field
// that must be built first.
type listing[T any] struct {
	items []T
	id    func(T) identity
	show  func(T) object
	paged bool // the others ignore the parameters
}

// reply makes the answer from what the query asks for.
func (l listing[T]) reply(c *call) (reply, error) {
	p, err := l.pageOf(c)
	if err != nil {
		return reply{}, err
	}
	// Of all that the caller may see: total_count is before the filter, filtered_count after it.
	total := len(l.items)
	// The filter by name belongs to pages: without one RabbitMQ ignores it too.
	if p != nil {
		l.items = slices.DeleteFunc(slices.Clone(l.items), func(item T) bool { return !p.matches(l.id(item).name) })
	}
	columns := columnsOf(c)
	l.sort(c.asked("sort_reverse") && sortFields(c) == nil)
	// All objects have to be there to be compared, which is the one case in which a long list is in memory as a whole.
	if fields := sortFields(c); fields != nil {
		shown := sortedBy(fields, l.objects(l.items), c.asked("sort_reverse"))
		return p.reply(sequence{len(shown), func(i int) object { return columns.one(shown[i]) }}, total)
	}
	return p.reply(sequence{len(l.items), func(i int) object { return columns.one(l.show(l.items[i])) }}, total)
}

// sequence is a list of objects each of which is built when it is written, so that a long list is never in memory as a whole.
type sequence struct {
	length int
	at     func(i int) object
}

// cut is the part of a sequence from one index to before another.
func (s sequence) cut(from, to int) sequence {
	return sequence{to - from, func(i int) object { return s.at(from + i) }}
}

// appendSequence appends a list, whose objects live no longer than it takes to write each.
func appendSequence(dst []byte, s sequence) []byte {
	dst = append(dst, '[')
	for i := range s.length {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendObject(dst, s.at(i))
	}
	return append(dst, ']')
}

// pageOf is the page that is asked for, of lists that have some.
func (l *listing[T]) pageOf(c *call) (*page, error) {
	if !l.paged {
		return nil, nil
	}
	return pageOf(c)
}

// sort puts the items in order of their identity, which is what equal values of other fields keep; those of one identity stay as they came. Items may be large: what is moved about are their
// identities, each with where its item stands.
func (l *listing[T]) sort(reverse bool) {
	type place struct {
		identity
		at int
	}
	places := make([]place, len(l.items))
	for i, item := range l.items {
		places[i] = place{l.id(item), i}
	}
	slices.SortFunc(places, func(x, y place) int { return cmp.Or(x.compare(y.identity), x.at-y.at) })
	if reverse {
		slices.Reverse(places)
	}
	sorted := make([]T, len(places))
	for i, p := range places {
		sorted[i] = l.items[p.at]
	}
	l.items = sorted
}

// objects builds all of them.
func (l *listing[T]) objects(items []T) []object {
	list := make([]object, len(items))
	for i, item := range items {
		list[i] = l.show(item)
	}
	return list
}

// sortFields are the paths to sort by, nil for the usual order.
func sortFields(c *call) []string {
	if s := c.query.Get("sort"); s != "" {
		return strings.Split(s, ",")
	}
	return nil
}

// sortedBy orders objects by the fields, the first of which counts most. Values are looked up once an object, not once a comparison. Reversed,
// equal ones come in reverse too.
func sortedBy(fields []string, list []object, reverse bool) []object {
	keys := make(map[string][]any, len(fields))
	for _, f := range fields {
		for _, o := range list {
			v, _ := o.at(f)
			keys[f] = append(keys[f], v)
		}
	}
	order := make([]int, len(list))
	// Indexes are sorted, as keys and objects stand in lists of their own.
	for i := range order {
		order[i] = i
	}
	// Stable, so that what is equal keeps the order of names that the items have already.
	slices.SortStableFunc(order, func(i, j int) int {
		for _, f := range fields {
			if n := compareValues(keys[f][i], keys[f][j]); n != 0 {
				return n
			}
		}
		return 0
	})
	sorted := make([]object, len(list))
	for at, i := range order {
		sorted[at] = list[i]
	}
	if reverse {
		slices.Reverse(sorted)
	}
	return sorted
}

// compareValues puts numbers before booleans before texts before the rest; what is not there counts as 0.
func compareValues(x, y any) int {
	a, aKind := sortable(x)
	b, bKind := sortable(y)
	if aKind == textKind && bKind == textKind {
		return strings.Compare(x.(string), y.(string))
	}
	return cmp.Or(cmp.Compare(aKind, bKind), cmp.Compare(a, b))
}

const (
	numberKind = iota
	boolKind
	textKind
	otherKind
)

// sortable is the kind of a value and, of a number or a boolean, what it is compared by.
func sortable(v any) (number float64, kind int) {
	if n, ok := integer(v); ok {
		return float64(n), numberKind
	}
	switch v := v.(type) {
	case nil:
		return 0, numberKind
	case float64:
		return v, numberKind
	case uint64:
		return float64(v), numberKind
	case json.Number:
		f, _ := v.Float64()
		return f, numberKind
	case bool:
		if v {
			return 1, boolKind
		}
		return 0, boolKind
	case string:
		return 0, textKind
	}
	return 0, otherKind
}

// page is the part of a list that a client asks for.
// Pages are numbered from 1.
type page struct {
	number, size int
	name         string
	expression   *regexp.Regexp // instead of name
	nothing      bool           // the expression is none: nothing matches it
}

const (
	// RabbitMQ's numbers. An expression is bounded since each name of the list is tried with it.
	defaultPageSize = 100
	maxPageSize     = 500
	maxExpression   = 1024
)

// pageOf reads the parameters of a page, nil if the client wants the whole list.
func pageOf(c *call) (*page, error) {
	if !c.query.Has("page") {
		return nil, nil
	}
	p := &page{size: defaultPageSize, name: strings.ToLower(c.query.Get("name"))}
	var err error
	if p.number, err = strconv.Atoi(c.query.Get("page")); err != nil {
		return nil, badRequest("Pagination parameters are invalid")
	}
	size := "undefined"
	if c.query.Has("page_size") {
		size = c.query.Get("page_size")
		if p.size, err = strconv.Atoi(size); err != nil {
			return nil, badRequest("Pagination parameters are invalid")
		}
	}
	if p.number < 1 || p.size < 1 || p.size > maxPageSize {
		return nil, invalidPage(fmt.Sprintf("Invalid pagination parameters: page number %d, page size %s", p.number, size))
	}
	if c.asked("use_regex") && p.name != "" {
		return p, p.compile(c.query.Get("name"))
	}
	return p, nil
}

// invalidPage has a word of its own for the error, by which clients tell it from other bad requests.
func invalidPage(reason string) *failure {
	return failed(http.StatusBadRequest, "invalid_pagination_parameters", reason)
}

// compile takes the name for a regular expression.
func (p *page) compile(expression string) (err error) {
	if len(expression) > maxExpression {
		return invalidPage("name filter regex is too long")
	}
	// RabbitMQ's expressions are PCRE, of which RE2 lacks a part; in return no expression can take exponential time. One that does not compile
	// matches nothing, as there.
	p.expression, err = regexp.Compile("(?i)" + expression)
	p.nothing = err != nil
	return nil
}

// matches tells whether a name fits, in upper or lower case.
func (p *page) matches(name string) bool {
	switch {
	case p.nothing:
		return false
	case p.expression != nil:
		return p.expression.MatchString(name)
	}
	return p.name == "" || strings.Contains(strings.ToLower(name), p.name)
}

// reply cuts the page out of a list; without one the answer is the list. total counts what the name filter left out too.
func (p *page) reply(list sequence, total int) (reply, error) {
	if p == nil {
		return ok(list)
	}
	filtered := list.length
	pages := (filtered + p.size - 1) / p.size
	// The first page is there always, also of nothing.
	if p.number > max(pages, 1) {
		return reply{}, failed(http.StatusBadRequest, "page_out_of_range",
			fmt.Sprintf("Page out of range, page: %d page size: %d, len: %d", p.number, p.size, filtered))
	}
	from := min((p.number-1)*p.size, filtered)
	list = list.cut(from, min(from+p.size, filtered))
	return ok(object{
		{"total_count", total}, {"item_count", list.length}, {"filtered_count", filtered}, {"page", p.number}, {"page_size", p.size},
		{"page_count", pages}, {"items", list},
	})
}

// columns are the fields to show; none: all of them.
type columns [][]string

// columnsOf reads columns=a,b.c. What nothing is called by is left out of the answer, without an error.
func columnsOf(c *call) columns {
	var list columns
	for name := range strings.SplitSeq(c.query.Get("columns"), ",") {
		if name != "" {
			list = append(list, strings.Split(name, "."))
		}
	}
	return list
}

// of is a list with the chosen fields alone.
func (cs columns) of(list []object) []object {
	if len(cs) == 0 {
		return list
	}
	for i := range list {
		list[i] = cs.one(list[i])
	}
	return list
}

// one is an object with the chosen fields alone.
func (cs columns) one(o object) object {
	if len(cs) == 0 {
		return o
	}
	shown := object{}
	for _, f := range o {
		var inner columns
		whole := false
		for _, path := range cs {
			if path[0] == f.name {
				whole = whole || len(path) == 1
				inner = append(inner, path[1:])
			}
		}
		nested, isObject := f.value.(object)
		switch {
		case len(inner) > 0 && isObject && !whole:
			shown.add(f.name, inner.one(nested))
		case whole || len(inner) > 0: // tables of clients, such as arguments, are shown whole
			shown = append(shown, f)
		}
	}
	return shown
}

// whole are the columns without what is asked of their inside: some answers know fields as a whole alone.
func (cs columns) whole() columns {
	list := make(columns, len(cs))
	for i, path := range cs {
		list[i] = path[:1]
	}
	return list
}
