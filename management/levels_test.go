package management_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"leveret/auth"
)

// admitted are the tags that each level lets in, by the name that the description gives it.
var admitted = map[string][]string{
	"nobody has to log in":     {"", "management", "policymaker", "monitoring"},
	"management":               {"management", "policymaker", "monitoring"},
	"management, virtual host": {"management", "policymaker", "monitoring"},
	"policymaker":              {"policymaker"},
	"monitoring":               {"monitoring"},
	"administrator":            nil,
}

// refusals are what a user hears that lacks the tag for a level.
var refusals = []string{"Not management user", "Not administrator user", "Not monitor user", "User not authorised to access object"}

// Every operation is refused to everybody whose tags do not admit it, and to nobody else for lack of a tag. What administrators alone may do is tried by
// the others; names are of things that are not there.
func TestLevelsOfEveryOperation(t *testing.T) {
	r := start(t)
	for _, tag := range []string{"", "management", "policymaker", "monitoring"} {
		password := "secret"
		tags := []string{}
		if tag != "" {
			tags = append(tags, tag)
		}
		_, err := r.users.SetUser(auth.UserUpdate{
			Name: "u" + tag, Password: &password, Tags: tags, Permissions: map[string]auth.Permissions{"/": auth.AllPermissions()},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var d struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(r.get("/api/openapi.json").text), &d); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for path, operations := range d.Paths {
		for method, text := range operations {
			var operation struct {
				Level string `json:"x-tag-needed"`
			}
			if method == "parameters" || json.Unmarshal(text, &operation) != nil {
				continue
			}
			who, known := admitted[operation.Level]
			if !known {
				t.Errorf("%s %s: level %q", method, path, operation.Level)
			}
			for _, tag := range []string{"", "management", "policymaker", "monitoring"} {
				tried++
				a := r.send(strings.ToUpper(method), filled(path), "", "Authorization", basic("u"+tag+":secret"))
				refused := a.status == http.StatusUnauthorized && slices.ContainsFunc(refusals, func(reason string) bool { return strings.Contains(a.text, reason) })
				if refused == slices.Contains(who, tag) {
					t.Errorf("%s %s needs %s: user with tag %q gets %d %s", method, path, operation.Level, tag, a.status, a.text)
				}
			}
		}
	}
	if tried < 400 {
		t.Errorf("%d calls were tried", tried)
	}
}

// Whoever has no row of permissions in a virtual host finds nothing there, and changes nothing, but for administrators.
func TestVirtualHostsOfOthers(t *testing.T) {
	r := start(t)
	r.must(http.StatusCreated, http.MethodPut, "/api/vhosts/closed", "")
	r.must(http.StatusCreated, http.MethodPut, "/api/queues/closed/q", `{"durable":true}`)
	password := "secret"
	if _, err := r.users.SetUser(auth.UserUpdate{Name: "u", Password: &password, Tags: []string{"policymaker"}}); err != nil {
		t.Fatal(err)
	}
	var d struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(r.get("/api/openapi.json").text), &d); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for path, operations := range d.Paths {
		if !strings.Contains(path, "{vhost}") || strings.HasPrefix(path, "/api/health/checks/") { // which tell nothing of it
			continue
		}
		path = strings.ReplaceAll(strings.ReplaceAll(path, "{vhost}", "closed"), "{queue}", "q")
		for method := range operations {
			if method == "parameters" {
				continue
			}
			tried++
			a := r.send(strings.ToUpper(method), filled(path), "{}", "Authorization", basic("u:secret"))
			if a.status < 400 || strings.Contains(a.text, `"q"`) {
				t.Errorf("%s %s: %d %s", method, path, a.status, a.text)
			}
		}
	}
	if tried < 50 {
		t.Errorf("%d calls were tried", tried)
	}
	if len(r.get("/api/queues/closed").list(r)) != 1 {
		t.Error("the queue is gone")
	}
}

// filled puts names in place of a path's parameters.
func filled(path string) string {
	parts := strings.Split(strings.ReplaceAll(path, "{vhost}", "%2F"), "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			parts[i] = "nothing"
		}
	}
	return strings.Join(parts, "/")
}
