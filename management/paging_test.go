package management_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// paged is a page as RabbitMQ shows it.
type paged struct {
	Total    int `json:"total_count"`
	Items    int `json:"item_count"`
	Filtered int `json:"filtered_count"`
	Page     int `json:"page"`
	Size     int `json:"page_size"`
	Pages    int `json:"page_count"`
	List     []struct {
		Name string
	} `json:"items"`
}

// Pages of queues: how many there are, and which names stand first and last on one.
func TestPagesOfQueues(t *testing.T) {
	r := start(t)
	for i := range 250 {
		kind := "odd"
		if i%2 == 0 {
			kind = "even"
		}
		r.must(http.StatusCreated, http.MethodPut, fmt.Sprintf("/api/queues/%%2F/%s-%03d", kind, i), `{"durable":true}`)
	}
	for _, tt := range []struct {
		query       string
		want        paged
		first, last string
	}{
		{"page=1", paged{Total: 250, Items: 100, Filtered: 250, Page: 1, Size: 100, Pages: 3}, "even-000", "even-198"},
		{"page=3", paged{Total: 250, Items: 50, Filtered: 250, Page: 3, Size: 100, Pages: 3}, "odd-151", "odd-249"},
		{"page=1&page_size=500", paged{Total: 250, Items: 250, Filtered: 250, Page: 1, Size: 500, Pages: 1}, "even-000", "odd-249"},
		{"page=250&page_size=1", paged{Total: 250, Items: 1, Filtered: 250, Page: 250, Size: 1, Pages: 250}, "odd-249", "odd-249"},
		{"page=1&page_size=125", paged{Total: 250, Items: 125, Filtered: 250, Page: 1, Size: 125, Pages: 2}, "even-000", "even-248"},
		{"page=1&name=ODD", paged{Total: 250, Items: 100, Filtered: 125, Page: 1, Size: 100, Pages: 2}, "odd-001", "odd-199"},
		{"page=2&name=odd", paged{Total: 250, Items: 25, Filtered: 125, Page: 2, Size: 100, Pages: 2}, "odd-201", "odd-249"},
		{"page=1&name=-00%5B1-3%5D$&use_regex=true", paged{Total: 250, Items: 3, Filtered: 3, Page: 1, Size: 100, Pages: 1}, "even-002", "odd-003"},
		{"page=1&name=-00%5B1-3%5D$&use_regex=false", paged{Total: 250, Page: 1, Size: 100}, "", ""},
		{"page=1&sort=name&sort_reverse=true&page_size=2", paged{Total: 250, Items: 2, Filtered: 250, Page: 1, Size: 2, Pages: 125}, "odd-249", "odd-247"},
		{"page=2&sort=durable,name&page_size=125", paged{Total: 250, Items: 125, Filtered: 250, Page: 2, Size: 125, Pages: 2}, "odd-001", "odd-249"},
	} {
		var got paged
		if err := json.Unmarshal([]byte(r.get("/api/queues?"+tt.query).text), &got); err != nil {
			t.Fatal(err)
		}
		list := got.List
		got.List = nil
		if fmt.Sprint(got) != fmt.Sprint(tt.want) || len(list) != tt.want.Items {
			t.Errorf("%s: %+v with %d items, want %+v", tt.query, got, len(list), tt.want)
			continue
		}
		if len(list) > 0 && (list[0].Name != tt.first || list[len(list)-1].Name != tt.last) {
			t.Errorf("%s: from %s to %s, want %s to %s", tt.query, list[0].Name, list[len(list)-1].Name, tt.first, tt.last)
		}
	}
}

// Which lists are cut into pages, and which ignore the wish, is part of the API: clients read the one form or the other.
func TestWhichListsHavePages(t *testing.T) {
	r := start(t)
	r.must(http.StatusCreated, http.MethodPut, "/api/queues/%2F/q", `{"durable":true}`)
	for path, hasPages := range map[string]bool{
		"/api/queues": true, "/api/queues/%2F": true, "/api/exchanges": true, "/api/exchanges/%2F": true, "/api/connections": true,
		"/api/channels": true, "/api/users": true, "/api/users/without-permissions": true,
		"/api/bindings": false, "/api/bindings/%2F": false, "/api/policies": false, "/api/consumers": false, "/api/parameters": false,
		"/api/vhosts/%2F/connections": false, "/api/vhosts/%2F/channels": false, "/api/permissions": false,
	} {
		text := r.get(path + "?page=1&page_size=7").text
		if got := strings.HasPrefix(text, `{"total_count":`); got != hasPages || !got && !strings.HasPrefix(text, "[") {
			t.Errorf("%s: pages %v, want %v: %.60s", path, got, hasPages, text)
		}
	}
}

// What is wrong with a wish for a page is told, also where the list is empty.
func TestWrongPages(t *testing.T) {
	r := start(t)
	for query, want := range map[string]string{
		"page=0":                    "Invalid pagination parameters: page number 0, page size undefined",
		"page=-1&page_size=5":       "Invalid pagination parameters: page number -1, page size 5",
		"page=1&page_size=0":        "Invalid pagination parameters: page number 1, page size 0",
		"page=1&page_size=501":      "Invalid pagination parameters: page number 1, page size 501",
		"page=2":                    "Page out of range, page: 2 page size: 100, len: 0",
		"page=":                     "Pagination parameters are invalid",
		"page=1.5":                  "Pagination parameters are invalid",
		"page=1&page_size=":         "Pagination parameters are invalid",
		"page=99999999999999999999": "Pagination parameters are invalid",
	} {
		var e struct{ Reason string }
		if err := json.Unmarshal([]byte(r.must(http.StatusBadRequest, http.MethodGet, "/api/queues?"+query, "").text), &e); err != nil || e.Reason != want {
			t.Errorf("%s: %q, want %q", query, e.Reason, want)
		}
	}
	if got := r.get("/api/queues?page=1").text; got != `{"total_count":0,"item_count":0,"filtered_count":0,"page":1,"page_size":100,"page_count":0,"items":[]}` {
		t.Errorf("the first page of nothing: %s", got)
	}
}

// Columns and sorting work on answers of every kind, also inside of fields.
func TestColumnsAndSortingOfLists(t *testing.T) {
	r := start(t)
	for name, n := range map[string]int{"a": 2, "b": 10, "c": 0} {
		r.must(http.StatusCreated, http.MethodPut, "/api/queues/%2F/"+name, `{"durable":true,"arguments":{"x-max-length":`+fmt.Sprint(100-n)+`}}`)
		for range n {
			r.must(http.StatusOK, http.MethodPost, "/api/exchanges/%2F/amq.default/publish", strings.Replace(publishBody, `"q"`, `"`+name+`"`, 1))
		}
	}
	for query, want := range map[string]string{
		"/api/queues?columns=name":                                                 `[{"name":"a"},{"name":"b"},{"name":"c"}]`,
		"/api/queues?columns=name&sort=messages":                                   `[{"name":"c"},{"name":"a"},{"name":"b"}]`,
		"/api/queues?columns=messages,name&sort=messages&sort_reverse=true":        `[{"name":"b","messages":10},{"name":"a","messages":2},{"name":"c","messages":0}]`,
		"/api/queues?columns=name&sort=message_stats.publish":                      `[{"name":"c"},{"name":"a"},{"name":"b"}]`,
		"/api/queues?columns=message_stats.publish&sort=name":                      `[{"message_stats":{"publish":2}},{"message_stats":{"publish":10}},{}]`,
		"/api/queues?columns=name&sort=durable&sort_reverse=true":                  `[{"name":"c"},{"name":"b"},{"name":"a"}]`,
		"/api/queues/%2F/a?columns=name,vhost,durable":                             `{"name":"a","vhost":"/","durable":true}`,
		"/api/exchanges/%2F/amq.topic?columns=type":                                `{"type":"topic"}`,
		"/api/users/guest?columns=name,tags":                                       `{"name":"guest","tags":["administrator"]}`,
		"/api/vhosts/%2F?columns=name":                                             `{"name":"/"}`,
		"/api/bindings/%2F?columns=destination&sort=routing_key&sort_reverse=true": `[{"destination":"c"},{"destination":"b"},{"destination":"a"}]`,
		"/api/permissions?columns=user,read":                                       `[{"user":"guest","read":".*"}]`,
	} {
		if got := r.get(query).text; got != want {
			t.Errorf("%s:\n got %s\nwant %s", query, got, want)
		}
	}
}
