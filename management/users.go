package management

import (
	"net/http"
	"slices"

	"leveret/auth"
)

var userRoutes = []route{
	{path: "/users", group: "Users", operations: []operation{
		{http.MethodGet, administrator, (*call).listUsers, "all users", "", false},
	}},
	{path: "/users/without-permissions", group: "Users", first: true, operations: []operation{
		{http.MethodGet, administrator, (*call).listStrangers, "users that may not open any virtual host", "", false},
	}},
	{path: "/users/bulk-delete", group: "Users", first: true, operations: []operation{
		{http.MethodPost, administrator, (*call).deleteUsers, "delete several users", "users*", false},
	}},
	{path: "/users/{user}", group: "Users", operations: []operation{
		{http.MethodGet, administrator, (*call).getUser, "one user", "", false},
		{http.MethodPut, administrator, (*call).putUser, "make or change a user", "tags* password password_hash hashing_algorithm", false},
		{http.MethodDelete, administrator, (*call).deleteUser, "delete a user", "", false},
	}},
	{path: "/user-limits", group: "Users", operations: []operation{
		{http.MethodGet, administrator, (*call).listUserLimits, "the limits of all users that have some", "", false},
	}},
	{path: "/user-limits/{user}", group: "Users", operations: []operation{
		{http.MethodGet, administrator, (*call).getUserLimits, "the limits of a user", "", false},
	}},
	{path: "/user-limits/{user}/{limit}", group: "Users", operations: []operation{
		{http.MethodPut, administrator, (*call).putUserLimit, "set max-connections or max-channels; negative: no limit", "value*", false},
		{http.MethodDelete, administrator, (*call).deleteUserLimit, "lift a limit", "", false},
	}},
}

// showUser shows a user as definitions files do.
// Limits are there even if there are none: an empty object.
func showUser(account *auth.Account) object {
	tags := append([]string{}, account.Tags...)
	return object{
		{"name", account.Name}, {"password_hash", account.PasswordHash}, {"hashing_algorithm", string(account.HashingAlgorithm)}, {"tags", tags},
		{"limits", limits(account.Limits)},
	}
}

// limits shows limits in order of their names.
func limits[M ~map[string]int64](m M) object {
	values := make(map[string]any, len(m))
	for name, n := range m {
		values[name] = n
	}
	return sortedObject(values)
}

// replyUsers lists users, in order of their names.
func (c *call) replyUsers(list []auth.Account) (reply, error) {
	return listing[auth.Account]{
		items: list,
		id:    func(account auth.Account) identity { return identity{name: account.Name} },
		show:  func(account auth.Account) object { return showUser(&account) },
		paged: true,
	}.reply(c)
}

// listUsers lists all users; hashes of passwords are shown, as definitions files need them, to administrators alone.
func (c *call) listUsers() (reply, error) { return c.replyUsers(c.api.users.Users()) }

// listStrangers lists users that nobody has given permissions in any virtual host, which is often by mistake.
func (c *call) listStrangers() (reply, error) {
	return c.replyUsers(slices.DeleteFunc(c.api.users.Users(), func(account auth.Account) bool { return len(account.Permissions) > 0 }))
}

// namedUser is the user of the path.
func (c *call) namedUser() (auth.Account, error) {
	account, found := c.api.users.Account(c.path("user"))
	if !found {
		return account, notFound()
	}
	return account, nil
}

// getUser shows one user.
func (c *call) getUser() (reply, error) {
	account, err := c.namedUser()
	if err != nil {
		return reply{}, err
	}
	return ok(columnsOf(c).one(showUser(&account)))
}

// putUser sets password and tags at once: what the body leaves out of these is gone, RabbitMQ's rule for PUT. Permissions and limits stay, and so
// do connections that are open.
func (c *call) putUser() (reply, error) {
	o, err := c.body()
	if err != nil {
		return reply{}, err
	}
	// A weak password is refused by SetUser, which knows the rule.
	update, err := userUpdate(c.path("user"), o)
	if err != nil {
		return reply{}, err
	}
	// Users with the tag protected are changed by the configuration alone.
	if err := c.api.users.CheckUnprotected(update.Name); err != nil {
		return reply{}, err
	}
	created, err := c.api.users.SetUser(update)
	if err == nil {
		c.audit("user.set", "name", update.Name, "created", created, "tags", update.Tags)
	}
	return put(created, err)
}

// userUpdate reads what a user is to be. Tags are a list, or a text with commas.
func userUpdate(name string, o object) (u auth.UserUpdate, err error) {
	u.Name = name
	if tags, given := o.get("tags"); given {
		if u.Tags, err = tagList(tags); err != nil {
			return u, err
		}
	}
	// An empty password is one that is given, and refused later, as nobody could log in by it.
	if u.Password, err = optionalText(o, "password"); err != nil {
		return u, err
	}
	if u.PasswordHash, err = optionalText(o, "password_hash"); err != nil {
		return u, err
	}
	hashing, err := o.text("hashing_algorithm", "")
	u.HashingAlgorithm = auth.Hashing(hashing)
	return u, err
}

// tagList reads tags in both forms that clients send. No tags are an empty list, never nil: nil means that nothing was said.
func tagList(v any) ([]string, error) {
	switch v := v.(type) {
	case string:
		return append([]string{}, auth.SplitTags(v)...), nil
	case []any:
		list := []string{}
		for _, item := range v {
			tag, isText := item.(string)
			if !isText {
				return nil, invalid("not_string", item)
			}
			list = append(list, tag)
		}
		return list, nil
	}
	return nil, badRequest("tags must be a list or a text with commas")
}

// optionalText is a text that makes a difference if it is there, nil if it is not.
func optionalText(o object, name string) (*string, error) {
	if _, given := o.get(name); !given {
		return nil, nil
	}
	s, err := o.text(name, "")
	return &s, err
}

// deleteUser deletes a user that no setting protects.
func (c *call) deleteUser() (reply, error) {
	account, err := c.namedUser()
	if err != nil {
		return reply{}, err
	}
	if err := c.api.users.CheckUnprotected(account.Name); err != nil {
		return reply{}, err
	}
	err = c.api.users.DeleteUser(account.Name)
	if err == nil {
		c.audit("user.deleted", "name", account.Name)
	}
	return done(err)
}

// deleteUsers deletes several users; those that are not there, or are protected, are passed over.
func (c *call) deleteUsers() (reply, error) {
	o, err := c.body()
	if err != nil {
		return reply{}, err
	}
	if err := o.require("users"); err != nil {
		return reply{}, err
	}
	given, _ := o.get("users")
	list, isList := given.([]any)
	if !isList {
		return reply{}, badRequest("users must be a list of names")
	}
	var names []string
	for _, item := range list {
		name, _ := item.(string)
		if _, found := c.api.users.Account(name); found && c.api.users.CheckUnprotected(name) == nil {
			names = append(names, name)
		}
	}
	// At once, so that no two callers see half of it.
	err = c.api.users.DeleteUsers(names)
	if err == nil {
		c.audit("users.deleted", "names", names)
	}
	return done(err)
}

// listUserLimits and getUserLimits have one form, also for a single user: a list.
func (c *call) listUserLimits() (reply, error) { return showUserLimits(c.api.users.Users()) }

// getUserLimits shows one user's, in a list of one, or of none where there are no limits.
func (c *call) getUserLimits() (reply, error) {
	account, err := c.namedUser()
	if err != nil {
		return reply{}, err
	}
	return showUserLimits([]auth.Account{account})
}

// showUserLimits lists the limits of those users that have some.
func showUserLimits(accounts []auth.Account) (reply, error) {
	list := []object{}
	for i := range accounts {
		if a := &accounts[i]; len(a.Limits) > 0 {
			list = append(list, object{{"user", a.Name}, {"value", limits(a.Limits)}})
		}
	}
	return ok(list)
}

// putUserLimit sets one limit and leaves the others. A negative number is RabbitMQ's way to say that there is none.
func (c *call) putUserLimit() (reply, error) {
	value, err := c.limitValue(auth.LimitNames(), "user-limits", "%s")
	if err != nil {
		return reply{}, err
	}
	err = c.api.users.SetLimit(c.path("user"), c.path("limit"), value)
	if err == nil {
		c.audit("user.limits.set", "name", c.path("user"), "limit", c.path("limit"), "value", value)
	}
	return done(err)
}

// deleteUserLimit lifts a limit; that it was not set is no error.
func (c *call) deleteUserLimit() (reply, error) {
	if _, err := c.namedUser(); err != nil {
		return reply{}, missing("vhost_not_found") // RabbitMQ's word, and clients look at the status
	}
	err := c.api.users.ClearLimit(c.path("user"), c.path("limit"))
	if err == nil {
		c.audit("user.limits.cleared", "name", c.path("user"), "limit", c.path("limit"))
	}
	return done(err)
}
