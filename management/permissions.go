package management

import (
	"maps"
	"net/http"
	"slices"

	"leveret/auth"
)

var permissionRoutes = []route{
	{path: "/permissions", group: "Permissions", operations: []operation{
		{http.MethodGet, administrator, (*call).listPermissions, "all permissions", "", false},
	}},
	{path: "/permissions/{vhost}/{user}", group: "Permissions", operations: []operation{
		{http.MethodGet, administrator, (*call).getPermissions, "what a user may do in a virtual host", "", false},
		{http.MethodPut, administrator, (*call).putPermissions, "set it; each is a regular expression", "configure* write* read*", false},
		{http.MethodDelete, administrator, (*call).deletePermissions, "take it away", "", false},
	}},
	{path: "/users/{user}/permissions", group: "Permissions", operations: []operation{
		{http.MethodGet, administrator, (*call).userPermissions, "what a user may do", "", false},
	}},
	{path: "/vhosts/{vhost}/permissions", group: "Permissions", operations: []operation{
		{http.MethodGet, administrator, (*call).vhostPermissions, "who may do what in a virtual host", "", false},
	}},
	{path: "/topic-permissions", group: "Permissions", operations: []operation{
		{http.MethodGet, administrator, (*call).listTopicPermissions, "all topic permissions", "", false},
	}},
	{path: "/topic-permissions/{vhost}/{user}", group: "Permissions", operations: []operation{
		{http.MethodGet, administrator, (*call).getTopicPermissions, "a user's topic permissions in a virtual host", "", false},
		{http.MethodPut, administrator, (*call).putTopicPermissions, "set those for one exchange", "exchange* write* read*", false},
		{http.MethodDelete, administrator, (*call).deleteTopicPermissions, "take them all away", "", false},
	}},
	{path: "/topic-permissions/{vhost}/{user}/{exchange}", group: "Permissions", operations: []operation{
		{http.MethodGet, administrator, (*call).getTopicPermissions, "those for one exchange", "", false},
		{http.MethodPut, administrator, (*call).putTopicPermissions, "set them", "write* read*", false},
		{http.MethodDelete, administrator, (*call).deleteTopicPermissions, "take them away", "", false},
	}},
	{path: "/users/{user}/topic-permissions", group: "Permissions", operations: []operation{
		{http.MethodGet, administrator, (*call).userTopicPermissions, "a user's topic permissions", "", false},
	}},
	{path: "/vhosts/{vhost}/topic-permissions", group: "Permissions", operations: []operation{
		{http.MethodGet, administrator, (*call).vhostTopicPermissions, "the topic permissions in a virtual host", "", false},
	}},
}

// permissionRows lists the rows of some users, those in one virtual host only if it has a name.
func permissionRows(accounts []auth.Account, vhost string) []object {
	list := []object{}
	for i := range accounts {
		a := &accounts[i]
		for _, v := range slices.Sorted(maps.Keys(a.Permissions)) {
			if vhost == "" || v == vhost {
				p := a.Permissions[v]
				list = append(list, object{{"user", a.Name}, {"vhost", v}, {"configure", p.Configure}, {"write", p.Write}, {"read", p.Read}})
			}
		}
	}
	return list
}

// topicRows is permissionRows for topic permissions.
func topicRows(accounts []auth.Account, vhost string) []object {
	list := []object{}
	for i := range accounts {
		a := &accounts[i]
		for _, v := range slices.Sorted(maps.Keys(a.TopicPermissions)) {
			for _, x := range slices.Sorted(maps.Keys(a.TopicPermissions[v])) {
				if vhost == "" || v == vhost {
					p := a.TopicPermissions[v][x]
					list = append(list, object{{"user", a.Name}, {"vhost", v}, {"exchange", x}, {"write", p.Write}, {"read", p.Read}})
				}
			}
		}
	}
	return list
}

// replyRows lists rows in order of their users. They are objects already, as both kinds have so little in common.
func (c *call) replyRows(list []object) (reply, error) {
	return listing[object]{items: list, id: rowIdentity, show: func(o object) object { return o }}.reply(c)
}

// rowIdentity orders rows by user, virtual host, and what stands third: the exchange of a topic permission, of which one user may have many in a
// virtual host. Of other rows there is one each, so that the third field does not matter.
func rowIdentity(o object) identity {
	user, _ := o[0].value.(string)
	vhost, _ := o[1].value.(string)
	third, _ := o[2].value.(string)
	return identity{vhost: user, name: vhost + "\x00" + third}
}

// listPermissions and its like list rows of one kind: of all, of a user, of a virtual host.
func (c *call) listPermissions() (reply, error) {
	return c.replyRows(permissionRows(c.api.users.Users(), ""))
}

// listTopicPermissions lists the rows of all users in all virtual hosts, for administrators.
func (c *call) listTopicPermissions() (reply, error) {
	return c.replyRows(topicRows(c.api.users.Users(), ""))
}

// The four below are rows of either kind, of one user or in one virtual host.
func (c *call) userPermissions() (reply, error)      { return c.rowsOfUser(permissionRows) }
func (c *call) userTopicPermissions() (reply, error) { return c.rowsOfUser(topicRows) }

// rowsOfUser lists rows of the user that the path names.
func (c *call) rowsOfUser(rows func([]auth.Account, string) []object) (reply, error) {
	account, err := c.namedUser()
	if err != nil {
		return reply{}, err
	}
	return c.replyRows(rows([]auth.Account{account}, ""))
}

// Rows of a virtual host are looked for in all users, who keep them.
func (c *call) vhostPermissions() (reply, error)      { return c.rowsOfVHost(permissionRows) }
func (c *call) vhostTopicPermissions() (reply, error) { return c.rowsOfVHost(topicRows) }

// rowsOfVHost lists rows in the virtual host that the path names.
func (c *call) rowsOfVHost(rows func([]auth.Account, string) []object) (reply, error) {
	if c.vhost == nil {
		return reply{}, notFound()
	}
	return c.replyRows(rows(c.api.users.Users(), c.vhost.Name()))
}

// row finds the user of the path and its row in the virtual host of the path.
func (c *call) row() (auth.Account, auth.Permissions, error) {
	account, err := c.namedUser()
	if err != nil || c.vhost == nil {
		return account, auth.Permissions{}, notFound()
	}
	p, found := account.Permissions[c.vhost.Name()]
	if !found {
		return account, p, notFound()
	}
	return account, p, nil
}

// getPermissions shows a user's row in a virtual host; 404 if it has none there, which is not the same as an empty one.
func (c *call) getPermissions() (reply, error) {
	account, _, err := c.row()
	if err != nil {
		return reply{}, err
	}
	return ok(permissionRows([]auth.Account{account}, c.vhost.Name())[0])
}

// grantee checks that user and virtual host of the path are there, for whoever gives rights.
func (c *call) grantee() (auth.Account, error) {
	account, found := c.api.users.Account(c.path("user"))
	// RabbitMQ does not tell which of the two it is.
	if !found || c.vhost == nil {
		return account, badRequest("vhost_or_user_not_found")
	}
	return account, nil
}

// putPermissions sets all three expressions at once. They are in force from now on, for connections that are open too.
func (c *call) putPermissions() (reply, error) {
	account, err := c.grantee()
	if err != nil {
		return reply{}, err
	}
	o, err := c.body()
	if err != nil {
		return reply{}, err
	}
	// All three: a right that was forgotten must not become one to everything.
	texts, err := o.texts("configure", "write", "read")
	if err != nil {
		return reply{}, err
	}
	// Only the status depends on it.
	_, existed := account.Permissions[c.vhost.Name()]
	err = c.api.users.SetPermissions(account.Name, c.vhost.Name(), auth.Permissions{Configure: texts[0], Write: texts[1], Read: texts[2]})
	if err == nil {
		c.audit("permission.set", "of", account.Name, "vhost", c.vhost.Name(), "configure", texts[0], "write", texts[1], "read", texts[2])
	}
	return put(!existed, err)
}

// texts reads several fields that have to be there.
func (o object) texts(names ...string) ([]string, error) {
	if err := o.require(names...); err != nil {
		return nil, err
	}
	list := make([]string, len(names))
	for i, name := range names {
		var err error
		if list[i], err = o.text(name, ""); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// deletePermissions takes a row away: the user can't open the virtual host any more. Connections that are there stay, and may do nothing.
func (c *call) deletePermissions() (reply, error) {
	account, _, err := c.row()
	if err != nil {
		return reply{}, err
	}
	err = c.api.users.ClearPermissions(account.Name, c.vhost.Name())
	if err == nil {
		c.audit("permission.deleted", "of", account.Name, "vhost", c.vhost.Name())
	}
	return done(err)
}

// getTopicPermissions lists a user's rows in a virtual host, or the one for an exchange. That there is none is an error.
func (c *call) getTopicPermissions() (reply, error) {
	account, err := c.namedUser()
	if err != nil || c.vhost == nil {
		return reply{}, notFound()
	}
	list := topicRows([]auth.Account{account}, c.vhost.Name())
	if x := c.path("exchange"); x != "" {
		// A user has few rows: to filter them costs nothing.
		list = slices.DeleteFunc(list, func(o object) bool {
			name, _ := o.get("exchange")
			return name != x
		})
	}
	if len(list) == 0 {
		return reply{}, notFound()
	}
	return ok(list)
}

// putTopicPermissions sets what the routing keys must look like that a user publishes to, or binds by, at one topic exchange. The exchange is named by the
// body, or by the path of the newer form.
func (c *call) putTopicPermissions() (reply, error) {
	account, err := c.grantee()
	if err != nil {
		return reply{}, err
	}
	o, err := c.body()
	if err != nil {
		return reply{}, err
	}
	if x := c.path("exchange"); x != "" {
		o = append(object{{"exchange", x}}, o...) // before the body's, if that has one too
	}
	texts, err := o.texts("exchange", "write", "read")
	if err != nil {
		return reply{}, err
	}
	x := texts[0]
	if c.vhost.Exchange([]byte(x)) == nil {
		return reply{}, invalid("no_such_exchange", x)
	}
	_, existed := account.TopicPermissions[c.vhost.Name()][x]
	err = c.api.users.SetTopicPermissions(account.Name, c.vhost.Name(), x, auth.TopicPermissions{Write: texts[1], Read: texts[2]})
	if err == nil {
		c.audit("topic.permission.set", "of", account.Name, "vhost", c.vhost.Name(), "exchange", x, "write", texts[1], "read", texts[2])
	}
	return put(!existed, err)
}

// deleteTopicPermissions takes away the rows of a user in a virtual host. That the exchange of the path has none is no error while others have.
func (c *call) deleteTopicPermissions() (reply, error) {
	account, err := c.namedUser()
	if err != nil || c.vhost == nil || len(account.TopicPermissions[c.vhost.Name()]) == 0 {
		return reply{}, notFound()
	}
	// Without an exchange in the path, all of them.
	names := slices.Collect(maps.Keys(account.TopicPermissions[c.vhost.Name()]))
	if x := c.path("exchange"); x != "" {
		names = []string{x}
	}
	for _, x := range names {
		if err := c.api.users.ClearTopicPermissions(account.Name, c.vhost.Name(), x); err != nil {
			return reply{}, err
		}
	}
	c.audit("topic.permission.deleted", "of", account.Name, "vhost", c.vhost.Name(), "exchanges", names)
	return noContent()
}
