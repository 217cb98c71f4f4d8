package management

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// things are objects with names that repeat now and then and a value of any kind.
func things(t *rapid.T) []object {
	n := rapid.IntRange(0, 40).Draw(t, "things")
	list := make([]object, n)
	for i := range list {
		list[i] = object{
			{"name", rapid.StringMatching(`[abAB.]{0,3}`).Draw(t, "name")}, {"v", anyValue(1).Draw(t, "v")}, {"at", i},
		}
	}
	return list
}

// query asks for a list of things.
func query(t *rapid.T, list []object, parameters url.Values) reply {
	answer, err := listing[object]{
		items: slices.Clone(list),
		id:    func(o object) identity { return identity{name: o[0].value.(string)} },
		show:  func(o object) object { return slices.Clone(o) },
		paged: true,
	}.reply(asking(parameters.Encode()))
	if err != nil {
		t.Fatalf("%v: %v", parameters, err)
	}
	return answer
}

// read is a list as JSON, a text for each object.
func read(list sequence) []string {
	all := []string{}
	for i := range list.length {
		all = append(all, string(appendJSON(nil, list.at(i))))
	}
	return all
}

// The pages of a list, one after the other, are the list: in the same order, with nothing twice and nothing left out, and their counts add up.
func TestPagesMakeTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := things(t)
		parameters := url.Values{}
		if rapid.Bool().Draw(t, "sorted") {
			parameters.Set("sort", rapid.SampledFrom([]string{"name", "v", "v,name", "nothing"}).Draw(t, "sort"))
		}
		if rapid.Bool().Draw(t, "reversed") {
			parameters.Set("sort_reverse", "true")
		}
		whole := read(query(t, list, parameters).body.(sequence))
		filter := rapid.SampledFrom([]string{"", "a", "AB", "."}).Draw(t, "filter")
		wanted := slices.DeleteFunc(slices.Clone(whole), func(text string) bool {
			o, _ := parseObject([]byte(text))
			return !strings.Contains(strings.ToLower(o[0].value.(string)), strings.ToLower(filter))
		})
		size := rapid.IntRange(1, 12).Draw(t, "size")
		parameters.Set("name", filter)
		parameters.Set("page_size", fmt.Sprint(size))
		var got []string
		for number, pages := 1, 1; number <= pages; number++ {
			parameters.Set("page", fmt.Sprint(number))
			page := query(t, list, parameters).body.(object)
			items, _ := page.get("items")
			shown := read(items.(sequence))
			count, _ := page.get("page_count")
			pages = count.(int)
			for name, want := range map[string]int{
				"total_count": len(list), "filtered_count": len(wanted), "item_count": len(shown), "page": number, "page_size": size, "page_count": (len(wanted) + size - 1) / size,
			} {
				if n, _ := page.get(name); n != want {
					t.Fatalf("page %d of %v: %s is %v, want %d", number, parameters, name, n, want)
				}
			}
			got = append(got, shown...)
		}
		if !slices.Equal(got, wanted) {
			t.Fatalf("%v: pages are\n%q, the list is\n%q", parameters, got, wanted)
		}
	})
}

// Sorting by a field keeps all objects, puts them in order of the field, and leaves those with equal values in order of their names.
func TestSortingIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := things(t)
		plain, sorted := query(t, list, nil).body.(sequence), query(t, list, url.Values{"sort": {"v"}}).body.(sequence)
		left, right := read(plain), read(sorted)
		slices.Sort(left)
		slices.Sort(right)
		if !slices.Equal(left, right) {
			t.Fatal("sorting loses or adds objects")
		}
		for i := range max(0, sorted.length-1) {
			one, next := sorted.at(i), sorted.at(i+1)
			order := compareValues(one[1].value, next[1].value)
			if order > 0 || order == 0 && one[0].value.(string) > next[0].value.(string) {
				t.Fatalf("%s stands before %s", appendJSON(nil, one), appendJSON(nil, next))
			}
		}
	})
}

// compareValues is an order: it is the same from both sides, and goes on from one to the next.
func TestCompareValuesIsAnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y, z := anyValue(1).Draw(t, "x"), anyValue(1).Draw(t, "y"), anyValue(1).Draw(t, "z")
		if compareValues(x, y) != -compareValues(y, x) {
			t.Fatalf("%v and %v: %d, and %d from the other side", x, y, compareValues(x, y), compareValues(y, x))
		}
		if compareValues(x, y) <= 0 && compareValues(y, z) <= 0 && compareValues(x, z) > 0 {
			t.Fatalf("%v is not after %v, nor that after %v, but the first is after the last", x, y, z)
		}
	})
}

// Whatever columns are asked for, what is shown is part of the object, in its order, and all columns together are all of it.
func TestColumnsShowAPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := object{}
		for i := range rapid.IntRange(0, 6).Draw(t, "fields") {
			o.add(fmt.Sprintf("f%d", i), anyValue(2).Draw(t, "value"))
		}
		var all, some columns
		for _, f := range o {
			all = append(all, []string{f.name})
			if rapid.Bool().Draw(t, "wanted") {
				some = append(some, []string{f.name})
			}
		}
		if got := all.one(o); string(appendJSON(nil, got)) != string(appendJSON(nil, o)) {
			t.Fatalf("all columns of %s are %s", appendJSON(nil, o), appendJSON(nil, got))
		}
		if len(some) == 0 {
			some = columns{{"nothing"}}
		}
		at := 0
		for _, f := range some.one(o) {
			for at < len(o) && o[at].name != f.name {
				at++
			}
			if at == len(o) || string(appendJSON(nil, f.value)) != string(appendJSON(nil, o[at].value)) {
				t.Fatalf("columns %v of %s: %s is not in it at its place", some, appendJSON(nil, o), f.name)
			}
		}
		if n := len(some.one(o)); n > len(some) {
			t.Fatalf("%d columns were asked for, %d are shown", len(some), n)
		}
	})
}
