package admin

import (
	"strings"

	"leveret/ctl"

	"github.com/spf13/cobra"
)

// rightsNouns are who may do what, and the rules that hold for objects.
var rightsNouns = []noun{
	{
		// The API has no part of a user: a PUT replaces all of it, so keepUser fetches what is not given.
		name: "user", plural: "users", short: "users", list: "/users", item: "/users/{name}",
		columns: []column{{"name", "name"}, {"tags", "tags"}, {"limits", "limits"}},
		fields: []field{
			{name: "name", help: "the user's name"},
			{name: "new-password", key: "password", help: "the user's password"},
			{name: "password-hash", key: "password_hash", help: "hash of the password instead, as `broker hash-password` makes it"},
			// A switch of this tool alone, with no field of the body: it says that nothing was forgotten.
			{name: "no-password", help: "it logs in without one, by a certificate, or not at all", kind: boolean, fallback: "false"},
			{name: "hashing-algorithm", key: "hashing_algorithm", help: "rabbit_password_hashing_sha256 or ..._sha512"},
			{name: "tags", key: "tags", help: "administrator, monitoring, policymaker, management, ...", kind: tags},
		},
		keep: keepUser,
	},
	{
		// What is not given of a virtual host stays as it is; the API sees to that.
		name: "vhost", plural: "vhosts", short: "virtual hosts", list: "/vhosts", item: "/vhosts/{name}",
		columns: []column{{"name", "name"}, {"messages", "messages"}, {"default queue type", "default_queue_type"}, {"tracing", "tracing"},
			{"protected", "protected_from_deletion"}, {"(description)", "description"}},
		fields: []field{
			{name: "name", help: "the virtual host's name"},
			{name: "description", key: "description", help: "a text for people"},
			{name: "tags", key: "tags", help: "names with commas between them", kind: tags},
			{name: "default-queue-type", key: "default_queue_type", help: "type of queues that are declared without one", choices: []string{"classic", "quorum", "stream"}},
			{name: "tracing", key: "tracing", help: "copy all messages to amq.rabbitmq.trace", kind: boolean},
			{name: "protected", key: "protected_from_deletion", help: "refuse to delete it", kind: boolean},
		},
	},
	{
		// All three patterns are required: an empty one, which allows nothing, has to be meant.
		name: "permissions", plural: "permissions", short: "permissions of users in virtual hosts",
		list: "/permissions", ofVHost: true, item: "/permissions/{vhost}/{for}",
		columns: []column{{"user", "user"}, {"vhost", "vhost"}, {"configure", "configure"}, {"write", "write"}, {"read", "read"}},
		fields: []field{
			{name: "for", help: "the user"},
			{name: "configure", key: "configure", help: "pattern of names that it may declare and delete", required: true},
			{name: "write", key: "write", help: "pattern of names that it may publish to and bind", required: true},
			{name: "read", key: "read", help: "pattern of names that it may consume from", required: true},
		},
	},
	{
		// Of a user there is a row for each exchange; a deletion takes all of a virtual host away.
		name: "topic_permission", plural: "topic_permissions", short: "permissions by routing key", list: "/topic-permissions", ofVHost: true, item: "/topic-permissions/{vhost}/{for}",
		columns: []column{{"user", "user"}, {"vhost", "vhost"}, {"exchange", "exchange"}, {"write", "write"}, {"read", "read"}},
		fields: []field{
			{name: "for", help: "the user"},
			{name: "exchange", key: "exchange", help: "the topic exchange", required: true},
			{name: "write", key: "write", help: "pattern of routing keys", required: true},
			{name: "read", key: "read", help: "pattern of routing keys", required: true},
		},
	},
	policyNoun("policy", "policies", "policies", "/policies"),
	policyNoun("operator_policy", "operator_policies", "policies that bound what users may set", "/operator-policies"),
	{
		// Policies and limits are parameters too for RabbitMQ, but are set by the nouns of their own, which check more.
		name: "parameter", plural: "parameters", short: "runtime parameters", list: "/parameters", ofVHost: true, item: "/parameters/{component}/{vhost}/{name}",
		columns: []column{{"vhost", "vhost"}, {"component", "component"}, {"name", "name"}, {"value", "value"}},
		fields: []field{
			{name: "name", help: "the parameter's name"},
			{name: "component", help: "what it is for: shovel, federation-upstream, ..."},
			{name: "value", key: "value", help: "any JSON", kind: value, required: true},
		},
	},
	{
		name: "global_parameter", plural: "global_parameters", short: "runtime parameters of no virtual host", list: "/global-parameters", item: "/global-parameters/{name}",
		columns: []column{{"name", "name"}, {"value", "value"}},
		fields:  []field{{name: "name", help: "the parameter's name"}, {name: "value", key: "value", help: "any JSON", kind: value, required: true}},
	},
	{
		// The API lists limits by their holder, so one row has all of a virtual host's, and its sets and deletions are of one
		// limit.
		name: "vhost_limit", plural: "vhost_limits", short: "limits of virtual hosts", list: "/vhost-limits/{vhost}", item: "/vhost-limits/{vhost}/{name}",
		columns: []column{{"vhost", "vhost"}, {"limits", "value"}},
		fields:  limitFields,
	},
	{
		name: "user_limit", plural: "user_limits", short: "limits of users", list: "/user-limits", item: "/user-limits/{for}/{name}",
		columns: []column{{"user", "user"}, {"limits", "value"}},
		fields:  append([]field{{name: "for", help: "the user"}}, limitFields...),
	},
}

// keepUser leaves a user's password and tags as they are if no others are given: the API would take them away.
//
// A new one has to have a password, or to be meant to have none: it is easily forgotten that --password is the caller's own.
func keepUser(s *session, cmd *cobra.Command, v values, body map[string]any) error {
	// A hash and a password say the same: what the user is to log in with from now on.
	given := body["password"] != nil || body["password_hash"] != nil
	if given && body["tags"] != nil {
		return nil
	}
	var user ctl.Object
	_, err := s.get(cmd.Context(), ctl.Path("users", *v["name"]), &user)
	if err != nil && !ctl.IsMissing(err) {
		return err
	}
	if err != nil && !given && *v["no-password"] != "true" {
		return &ctl.UsageError{Text: "a new user needs --new-password, --password-hash, or --no-password; --password is that of who calls"}
	}
	if body["tags"] == nil {
		body["tags"] = strings.ReplaceAll(user.Text("tags"), ", ", ",") // nothing: the API wants to be told so
	}
	if hash := user.Text("password_hash"); !given && hash != "" && *v["no-password"] != "true" {
		body["password_hash"], body["hashing_algorithm"] = hash, user.Text("hashing_algorithm")
	}
	return nil
}

// limitFields are those of both kinds; which names make sense for which, the broker knows.
var limitFields = []field{
	{name: "name", help: "max-connections, max-queues, max-channels, max-messages, max-bytes", choices: []string{"max-connections", "max-queues", "max-channels", "max-messages", "max-bytes"}},
	{name: "value", key: "value", help: "the limit; -1 is none", kind: number, required: true},
}

// policyNoun: the two kinds of policies are alike.
func policyNoun(name, plural, short, path string) noun {
	return noun{
		name: name, plural: plural, short: short, list: path + "/{vhost}", item: path + "/{vhost}/{name}",
		columns: []column{{"vhost", "vhost"}, {"name", "name"}, {"pattern", "pattern"}, {"apply to", "apply-to"}, {"priority", "priority"}, {"definition", "definition"}},
		fields: []field{
			{name: "name", help: "the policy's name"},
			{name: "pattern", key: "pattern", help: "pattern of the names that it is for", required: true},
			{name: "definition", key: "definition", help: `what it sets, {"max-length": 1000}`, kind: object, required: true},
			// The default is sent too: a policy that is declared anew is what the line says, whatever it was.
			{name: "apply-to", key: "apply-to", help: "all, queues, classic_queues, quorum_queues, streams or exchanges", fallback: "all",
				choices: []string{"all", "queues", "classic_queues", "quorum_queues", "streams", "exchanges"}},
			{name: "priority", key: "priority", help: "of those that fit, the highest applies", kind: number, fallback: "0"},
		},
	}
}
