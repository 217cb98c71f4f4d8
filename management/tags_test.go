package management_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"leveret/auth"
)

// tagged are users that differ in their tag alone: each has all rights in "/", and none in "closed".
var tagged = []string{"", "management", "policymaker", "monitoring", "administrator"}

// tag makes those users, a queue in both virtual hosts, and what the calls of the tests are about.
func (r *rig) tag() {
	r.t.Helper()
	password := "secret"
	for _, tag := range tagged {
		tags := []string{}
		if tag != "" {
			tags = append(tags, tag)
		}
		_, err := r.users.SetUser(auth.UserUpdate{
			Name: "u" + tag, Password: &password, Tags: tags, Permissions: map[string]auth.Permissions{"/": auth.AllPermissions()},
		})
		if err != nil {
			r.t.Fatal(err)
		}
	}
	r.must(http.StatusCreated, http.MethodPut, "/api/vhosts/closed", "")
	for _, host := range []string{"%2F", "closed"} {
		r.must(http.StatusCreated, http.MethodPut, "/api/queues/"+host+"/q", `{"durable":true}`)
		r.must(http.StatusCreated, http.MethodPut, "/api/exchanges/"+host+"/x", `{"durable":true}`)
		r.must(http.StatusCreated, http.MethodPut, "/api/policies/"+host+"/p", policyBody)
		r.must(http.StatusCreated, http.MethodPut, "/api/operator-policies/"+host+"/p", policyBody)
	}
	r.must(http.StatusNoContent, http.MethodPut, "/api/vhost-limits/closed/max-queues", `{"value":9}`)
	r.must(http.StatusCreated, http.MethodPut, "/api/global-parameters/g", `{"value":1}`)
}

const (
	policyBody  = `{"pattern":"^nothing$","definition":{"max-length":5}}`
	publishBody = `{"routing_key":"q","properties":{},"payload":"m","payload_encoding":"string"}`
	getBody     = `{"count":1,"ackmode":"ack_requeue_true","encoding":"auto"}`
)

// documented is who may call what. Letters stand for the users in their order: y for a success, n for 401, and 0 for "there is no such thing" (404).
var documented = []struct{ method, path, body, want string }{
	{"GET", "/api/version", "", "yyyyy"},
	{"GET", "/api/whoami", "", "nyyyy"},
	{"GET", "/api/overview", "", "nyyyy"},
	{"GET", "/api/extensions", "", "nyyyy"},
	{"GET", "/api/cluster-name", "", "nyyyy"},
	{"PUT", "/api/cluster-name", `{"name":"c"}`, "nnnny"},
	// the node
	{"GET", "/api/nodes", "", "nnnyy"},
	{"GET", "/api/nodes/rabbit@test", "", "nnnyy"},
	{"GET", "/api/nodes/rabbit@test/memory", "", "nnnyy"},
	{"GET", "/api/auth/attempts/rabbit@test", "", "nnnyy"},
	{"DELETE", "/api/auth/attempts/rabbit@test", "", "nnnny"},
	{"GET", "/api/config/effective", "", "nnnny"},
	{"DELETE", "/api/reset", "", "nnnny"},
	// what is in a virtual host that all of them may open
	{"GET", "/api/queues", "", "nyyyy"},
	{"GET", "/api/queues/%2F", "", "nyyyy"},
	{"GET", "/api/queues/%2F/q", "", "nyyyy"},
	{"PUT", "/api/queues/%2F/q2", `{"durable":true}`, "nyyyy"},
	{"GET", "/api/queues/%2F/q/bindings", "", "nyyyy"},
	{"DELETE", "/api/queues/%2F/q/contents", "", "nyyyy"},
	{"POST", "/api/queues/%2F/q/get", getBody, "nyyyy"},
	{"GET", "/api/exchanges", "", "nyyyy"},
	{"GET", "/api/exchanges/%2F/x", "", "nyyyy"},
	{"PUT", "/api/exchanges/%2F/x2", "", "nyyyy"},
	{"POST", "/api/exchanges/%2F/amq.default/publish", publishBody, "nyyyy"},
	{"GET", "/api/exchanges/%2F/x/bindings/source", "", "nyyyy"},
	{"GET", "/api/bindings", "", "nyyyy"},
	{"GET", "/api/bindings/%2F", "", "nyyyy"},
	{"POST", "/api/bindings/%2F/e/x/q/q", `{"routing_key":"k"}`, "nyyyy"},
	{"GET", "/api/consumers", "", "nyyyy"},
	{"GET", "/api/consumers/%2F", "", "nyyyy"},
	{"GET", "/api/connections", "", "nyyyy"},
	{"GET", "/api/channels", "", "nyyyy"},
	{"GET", "/api/vhosts/%2F/connections", "", "nyyyy"},
	{"GET", "/api/vhosts/%2F/channels", "", "nyyyy"},
	{"GET", "/api/vhost-limits", "", "nyyyy"},
	// and in one that nobody but guest may open; administrators see it, and have no rights over AMQP's things there
	{"GET", "/api/queues/closed", "", "n000y"},
	{"GET", "/api/queues/closed/q", "", "n000y"},
	{"PUT", "/api/queues/closed/q2", `{"durable":true}`, "n000n"},
	{"DELETE", "/api/queues/closed/q/contents", "", "n000n"},
	{"POST", "/api/exchanges/closed/amq.default/publish", publishBody, "n000n"},
	{"GET", "/api/bindings/closed", "", "n000y"},
	{"GET", "/api/vhost-limits/closed", "", "n000y"},
	{"GET", "/api/vhosts/closed/connections", "", "n00yy"},
	{"GET", "/api/vhosts/closed/channels", "", "n00yy"},
	{"GET", "/api/consumers/closed", "", "n00yy"},
	// policies and parameters
	{"GET", "/api/policies", "", "nyyyy"},
	{"GET", "/api/policies/%2F/p", "", "nyyyy"},
	{"PUT", "/api/policies/%2F/p2", policyBody, "nnyny"},
	{"PUT", "/api/policies/closed/p2", policyBody, "nn0ny"},
	{"PUT", "/api/operator-policies/%2F/p2", policyBody, "nnnny"},
	{"DELETE", "/api/operator-policies/closed/p", "", "nnnny"},
	{"GET", "/api/operator-policies/%2F", "", "nyyyy"},
	{"GET", "/api/parameters", "", "nnyny"},
	{"GET", "/api/parameters/shovel/%2F", "", "nnyny"},
	{"GET", "/api/global-parameters", "", "nnyny"},
	{"PUT", "/api/global-parameters/g", `{"value":2}`, "nnyny"},
	{"GET", "/api/shovels", "", "nnnyy"},
	{"GET", "/api/federation-links", "", "nnnyy"},
	// virtual hosts, users and their rights
	{"GET", "/api/vhosts", "", "nyyyy"},
	{"GET", "/api/vhosts/%2F", "", "nnnny"},
	{"PUT", "/api/vhosts/new", "", "nnnny"},
	{"PUT", "/api/vhost-limits/%2F/max-queues", `{"value":99}`, "nnnny"},
	{"GET", "/api/vhosts/%2F/permissions", "", "nnnny"},
	{"GET", "/api/users", "", "nnnny"},
	{"PUT", "/api/users/new", `{"password":"p","tags":""}`, "nnnny"},
	{"GET", "/api/permissions", "", "nnnny"},
	{"PUT", "/api/permissions/%2F/u", `{"configure":"","write":"","read":""}`, "nnnny"},
	{"GET", "/api/topic-permissions", "", "nnnny"},
	{"GET", "/api/user-limits", "", "nnnny"},
	{"GET", "/api/definitions", "", "nnnny"},
	{"POST", "/api/definitions", "{}", "nnnny"},
	{"PUT", "/api/leveret/log-level", `{"level":"info"}`, "nnnny"},
}

// Who may call what, as RabbitMQ's documentation of its tags says: management sees and uses the virtual hosts it may open, policymaker sets policies and
// parameters there too, monitoring sees the node and all virtual hosts' numbers, administrator does everything. TestLevelsOfEveryOperation checks
// that the levels of the route table are kept; this is that the table has the right ones.
func TestTagsGiveWhatIsDocumented(t *testing.T) {
	r := start(t)
	r.tag()
	for _, tt := range documented {
		var got strings.Builder
		for _, tag := range tagged {
			got.WriteString(outcome(r.send(tt.method, tt.path, tt.body, "Authorization", basic("u"+tag+":secret"))))
		}
		if got.String() != tt.want {
			t.Errorf("%s %s: %s for users with the tags %q, want %s", tt.method, tt.path, got.String(), tagged, tt.want)
		}
	}
}

// outcome is the letter of an answer.
func outcome(a answer) string {
	switch {
	case a.status < http.StatusMultipleChoices:
		return "y"
	case a.status == http.StatusUnauthorized:
		return "n"
	case a.status == http.StatusNotFound:
		return "0"
	}
	return "(" + a.text + ")"
}

// Lists without a virtual host in their path hold what is in those that the user may open; administrators may open all, and monitoring
// users see all in the one list that is of virtual hosts.
func TestListsHoldWhatTheUserSees(t *testing.T) {
	r := start(t)
	r.tag()
	for _, path := range []string{"/api/queues", "/api/exchanges", "/api/bindings", "/api/policies", "/api/operator-policies", "/api/vhosts"} {
		field := "vhost"
		if path == "/api/vhosts" {
			field = "name"
		}
		for _, tag := range tagged[1:] {
			all := tag == "administrator" || tag == "monitoring" && path == "/api/vhosts"
			seen := map[any]bool{}
			for _, o := range r.must(http.StatusOK, http.MethodGet, path, "", "Authorization", basic("u"+tag+":secret")).list(r) {
				seen[o[field]] = true
			}
			if !seen["/"] || seen["closed"] != all {
				t.Errorf("%s for %s: virtual hosts %v, closed ones wanted: %v", path, tag, seen, all)
			}
		}
	}
}

// Of connections and their channels users see their own; monitoring users see those of others and may not close them.
func TestConnectionsOfOthers(t *testing.T) {
	r := start(t)
	r.tag()
	r.client() // of guest
	name := r.get("/api/connections").list(r)[0]["name"].(string)
	path := "/api/connections/" + strings.NewReplacer(" ", "%20", ">", "%3E").Replace(name)
	for _, tag := range tagged[1:] {
		login := []string{"Authorization", basic("u" + tag + ":secret")}
		sees := slices.Contains([]string{"monitoring", "administrator"}, tag)
		for _, list := range []string{"/api/connections", "/api/channels", "/api/connections/username/guest", "/api/vhosts/%2F/connections"} {
			if n := len(r.must(http.StatusOK, http.MethodGet, list, "", login...).list(r)); (n == 1) != sees {
				t.Errorf("%s: %s sees %d", list, tag, n)
			}
		}
		for _, one := range []string{path, path + "/channels"} {
			if got := outcome(r.send(http.MethodGet, one, "", login...)); (got == "y") != sees {
				t.Errorf("GET %s: %s for %s", one, got, tag)
			}
		}
		if tag != "administrator" {
			if got := outcome(r.send(http.MethodDelete, path, "", login...)); got != "n" {
				t.Errorf("DELETE %s: %s for %s", path, got, tag)
			}
			r.must(http.StatusNoContent, http.MethodDelete, "/api/connections/username/guest", "", login...) // closes those it may: none
		}
	}
	if n := len(r.get("/api/connections").list(r)); n != 1 {
		t.Fatalf("%d connections are left, want the one that nobody was allowed to close", n)
	}
	r.must(http.StatusNoContent, http.MethodDelete, path, "", "Authorization", basic("uadministrator:secret"))
}

// Several tags give what each of them does, and tags that mean nothing here give nothing.
func TestSeveralTags(t *testing.T) {
	r := start(t)
	for tags, want := range map[string]string{
		"policymaker,monitoring": "yyyn", "management,policymaker": "ynyn", "monitoring,operator": "yynn", "operator,impersonator": "nnnn",
		"administrator,management": "yyyy",
	} {
		r.send(http.MethodPut, "/api/users/u", `{"password":"secret","tags":"`+tags+`"}`)
		var got strings.Builder
		for _, path := range []string{"/api/whoami", "/api/nodes", "/api/parameters", "/api/users"} {
			got.WriteString(outcome(r.send(http.MethodGet, path, "", "Authorization", basic("u:secret"))))
		}
		if got.String() != want {
			t.Errorf("tags %s: %s, want %s", tags, got.String(), want)
		}
	}
}
