package management

import (
	"encoding/base64"
	"net/http"
	"net/url"

	"leveret/auth"
)

var generalRoutes = []route{
	{path: "/overview", group: "Broker", operations: []operation{
		{http.MethodGet, managementTag, (*call).overview, "the whole broker: totals, rates, listeners", "", false},
	}},
	{path: "/version", group: "Broker", operations: []operation{
		{http.MethodGet, anybody, (*call).version, "version of the API", "", false},
	}},
	{path: "/whoami", group: "Broker", operations: []operation{
		{http.MethodGet, managementTag, (*call).whoami, "the user that calls", "", false},
	}},
	{path: "/login", group: "Broker", operations: []operation{
		{http.MethodPost, anybody, (*call).logIn, "check a password that is sent as a form", "username* password*", false},
		{http.MethodDelete, anybody, (*call).logOut, "nothing: there are no sessions", "", false},
	}},
	{path: "/extensions", group: "Broker", operations: []operation{
		{http.MethodGet, managementTag, (*call).extensions, "extensions of the web pages: none", "", false},
	}},
	{path: "/auth/hash_password/{password}", group: "Users", operations: []operation{
		{http.MethodGet, administrator, (*call).hashPassword, "what password_hash of a user would be", "", false},
	}},
}

// version is the version of RabbitMQ whose API this is.
func (c *call) version() (reply, error) { return ok(c.api.options.ProductVersion) }

// whoami tells clients which of the API they may use: the page hides what the tags do not give.
func (c *call) whoami() (reply, error) { return ok(self(c.user)) }

// self is what a user is told of itself.
func self(user *auth.User) object {
	tags := append([]string{}, user.Tags()...)
	return object{{"name", user.Name()}, {"tags", tags}, {"is_internal_user", !user.FromToken()}}
}

// logIn is for the web page, which keeps what it is given and sends it with every request.
func (c *call) logIn() (reply, error) {
	raw, err := c.rawBody()
	if err != nil {
		return reply{}, err
	}
	form, err := url.ParseQuery(string(raw))
	if err != nil {
		return reply{}, badRequest("not_a_form")
	}
	// From the form, and not from the header: the page shows no dialogue of the browser's.
	name, password := form.Get("username"), form.Get("password")
	c.user, err = c.api.check(name, password, remoteAddress(c.request))
	if err != nil {
		return reply{}, err
	}
	// The route is open to anybody, so what authorize would have checked is checked here.
	if !c.hasAny(tagManagement, tagPolicymaker, tagMonitoring, tagAdministrator) {
		return reply{}, refused("Not management user")
	}
	// What the browser would have sent with each request.
	token := base64.StdEncoding.EncodeToString([]byte(name + ":" + password))
	return ok(object{{"user", self(c.user)}, {"token", object{{"type", "basic"}, {"value", token}}}})
}

// logOut has nothing to end: each request brings its login. The page forgets what it kept.
func (c *call) logOut() (reply, error) { return noContent() }

// extensions would be scripts that plugins add to RabbitMQ's page.
// The page asks for them before it shows anything.
func (c *call) extensions() (reply, error) { return ok([]object{}) }

// hashPassword makes a hash with a salt of its own, so that two calls give two results, and both are right.
func (c *call) hashPassword() (reply, error) {
	hash, err := auth.HashPassword(auth.SHA256, c.path("password"))
	if err != nil {
		return reply{}, badRequest(err.Error())
	}
	return ok(object{{"ok", hash}})
}
