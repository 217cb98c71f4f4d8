package management

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// animals are listed by name; their weight is a number, or lacking.
var animals = []object{
	{{"name", "Bear"}, {"body", object{{"weight", 300}, {"legs", 4}}}},
	{{"name", "ant"}, {"body", object{{"weight", 0.001}, {"legs", 6}}}},
	{{"name", "cat"}, {"body", object{{"weight", 4}, {"legs", 4}}}},
	{{"name", "idea"}},
}

// listed answers a query with the names of what is shown.
func listed(t *testing.T, query string) (names string, o object) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/?"+query, nil)
	c := &call{request: r, query: r.URL.Query()}
	answer, err := listing[object]{
		items: slices.Clone(animals), // it is sorted in place
		id:    func(o object) identity { name, _ := o.get("name"); return identity{name: name.(string)} },
		show:  func(o object) object { return append(object(nil), o...) },
		paged: true,
	}.reply(c)
	if err != nil {
		f, _ := asFailure(err)
		return string(appendJSON(nil, f.body)), nil
	}
	list, isList := answer.body.(sequence)
	if !isList {
		o = answer.body.(object)
		items, _ := o.get("items")
		list = items.(sequence)
	}
	var all []string
	for i := range list.length {
		name, _ := list.at(i).get("name")
		all = append(all, fmt.Sprint(name))
	}
	return strings.Join(all, " "), o
}

func TestListing(t *testing.T) {
	for query, want := range map[string]string{
		"":                                    "Bear ant cat idea",
		"sort_reverse=true":                   "idea cat ant Bear",
		"sort=body.weight":                    "idea ant cat Bear",
		"sort=body.weight&sort_reverse=true":  "Bear cat ant idea",
		"sort=body.legs,name":                 "idea Bear cat ant",
		"sort=nothing":                        "Bear ant cat idea",
		"name=a":                              "Bear ant cat idea",
		"page=1&name=A":                       "Bear ant cat idea",
		"page=1&name=AT":                      "cat",
		"page=1&name=^.a&use_regex=true":      "cat",
		"page=1&name=[&use_regex=true":        "",
		"page=1&page_size=3":                  "Bear ant cat",
		"page=2&page_size=3":                  "idea",
		"page=2&page_size=2&sort=body.weight": "cat Bear",
		"page=1&name=nothing":                 "",
		"page=3&page_size=3":                  `{"error":"page_out_of_range","reason":"Page out of range, page: 3 page size: 3, len: 4"}`,
		"page=0":                              `{"error":"invalid_pagination_parameters","reason":"Invalid pagination parameters: page number 0, page size undefined"}`,
		"page=1&page_size=501":                `{"error":"invalid_pagination_parameters","reason":"Invalid pagination parameters: page number 1, page size 501"}`,
		"page=x":                              `{"error":"bad_request","reason":"Pagination parameters are invalid"}`,
		"page=1&use_regex=true&name=" + strings.Repeat("a", 1025): `{"error":"invalid_pagination_parameters","reason":"name filter regex is too long"}`,
	} {
		if got, _ := listed(t, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

func TestPageCounts(t *testing.T) {
	_, o := listed(t, "page=2&page_size=1&name=a&columns=name")
	const want = `{"total_count":4,"item_count":1,"filtered_count":4,"page":2,"page_size":1,"page_count":4,"items":[{"name":"ant"}]}`
	if got := string(appendJSON(nil, o)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestColumns(t *testing.T) {
	for columns, want := range map[string]string{
		"name":                  `{"name":"Bear"}`,
		"body.legs,nothing":     `{"body":{"legs":4}}`,
		"body":                  `{"body":{"weight":300,"legs":4}}`,
		"body,body.legs":        `{"body":{"weight":300,"legs":4}}`,
		"name.x,body.legs.more": `{"name":"Bear","body":{"legs":4}}`,
		"nothing":               `{}`,
	} {
		r := httptest.NewRequest(http.MethodGet, "/?columns="+columns, nil)
		if got := string(appendJSON(nil, columnsOf(&call{query: r.URL.Query()}).one(animals[0]))); got != want {
			t.Errorf("%s: %s, want %s", columns, got, want)
		}
	}
}
