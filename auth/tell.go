package auth

import (
	"maps"
	"slices"

	"leveret/amqp"
)

// tell emits what has become of a user, by the difference between what it was and is; nil is a user that is not there.
func (a *Authenticator) tell(name string, old, now *entry) {
	switch {
	case old == nil && now == nil:
		return
	case now == nil:
		a.tellUser("user.deleted", name)
		return // its permissions went with it
	case old == nil:
		a.tellUser("user.created", name)
		old = new(entry)
		old.account.PasswordHash = now.account.PasswordHash
	}
	was, is := &old.account, &now.account
	if was.PasswordHash != is.PasswordHash {
		key := "user.password.changed"
		if is.PasswordHash == "" {
			key = "user.password.cleared"
		}
		a.tellUser(key, name)
	}
	if !slices.Equal(was.Tags, is.Tags) {
		tags := make(amqp.Array, len(is.Tags))
		for i, tag := range is.Tags {
			tags[i] = tag
		}
		a.tellUser("user.tags.set", name, amqp.Field{Name: "tags", Value: tags})
	}
	a.tellPermissions(name, was, is)
	a.tellTopics(name, was, is)
}

func (a *Authenticator) tellUser(key, name string, more ...amqp.Field) {
	a.options.Events.Emit(key, func() amqp.Table { return append(amqp.Table{{Name: "name", Value: name}}, more...) })
}

// tellPermissions emits which rows were set and which were taken away.
func (a *Authenticator) tellPermissions(user string, was, is *Account) {
	for _, vhost := range slices.Sorted(maps.Keys(is.Permissions)) {
		row := is.Permissions[vhost]
		if old, had := was.Permissions[vhost]; had && old == row {
			continue
		}
		a.options.Events.Emit("permission.created", func() amqp.Table {
			return append(permissionOf(user, vhost), amqp.Field{Name: "configure", Value: row.Configure},
				amqp.Field{Name: "write", Value: row.Write}, amqp.Field{Name: "read", Value: row.Read})
		})
	}
	for _, vhost := range slices.Sorted(maps.Keys(was.Permissions)) {
		if _, has := is.Permissions[vhost]; !has {
			a.options.Events.Emit("permission.deleted", func() amqp.Table { return permissionOf(user, vhost) })
		}
	}
}

// tellTopics is tellPermissions for topic permissions.
func (a *Authenticator) tellTopics(user string, was, is *Account) {
	for vhost, rows := range is.TopicPermissions {
		for exchange, row := range rows {
			if old, had := was.TopicPermissions[vhost][exchange]; had && old == row {
				continue
			}
			a.options.Events.Emit("topic.permission.created", func() amqp.Table {
				return append(permissionOf(user, vhost), amqp.Field{Name: "exchange", Value: exchange},
					amqp.Field{Name: "write", Value: row.Write}, amqp.Field{Name: "read", Value: row.Read})
			})
		}
	}
	for vhost, rows := range was.TopicPermissions {
		for exchange := range rows {
			if _, has := is.TopicPermissions[vhost][exchange]; has {
				continue
			}
			a.options.Events.Emit("topic.permission.deleted", func() amqp.Table {
				return append(permissionOf(user, vhost), amqp.Field{Name: "exchange", Value: exchange})
			})
		}
	}
}

func permissionOf(user, vhost string) amqp.Table {
	return amqp.Table{{Name: "user", Value: user}, {Name: "vhost", Value: vhost}}
}
