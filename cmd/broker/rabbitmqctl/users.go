package rabbitmqctl

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"leveret/ctl"
)

var userVerbs = []verb{
	{name: "add_user", args: "<user> [password]", doing: `Adding user "{0}"`, run: addUser,
		options: []option{{"pre-hashed-password", "false", "the password is a hash"}, {"password-hash-algorithm", "", "how the hash was made"}}},
	{name: "delete_user", args: "<user>", doing: `Deleting user "{0}"`, run: func(s *session, args []string) error { return s.delete(ctl.Path("users", args[0])) }},
	{name: "change_password", args: "<user> [password]", doing: `Changing password for user "{0}"`, run: changePassword},
	// Then only a certificate or a token can log it in.
	{name: "clear_password", args: "<user>", doing: `Clearing password for user "{0}"`, run: func(s *session, args []string) error {
		return s.changeUser(args[0], func(user map[string]any) { delete(user, "password_hash") })
	}},
	// Tags that are there and not named are taken away.
	{name: "set_user_tags", args: "<user> [tag] [...]", doing: `Setting tags for user "{0}"`, run: func(s *session, args []string) error {
		return s.changeUser(args[0], func(user map[string]any) { user["tags"] = strings.Join(args[1:], ",") })
	}},
	{name: "authenticate_user", args: "<user> [password]", doing: `Authenticating user "{0}"`, run: authenticate},
	{name: "hash_password", args: "[password]", run: hashPassword},
	{name: "set_user_limits", args: "<user> <limits>", doing: `Setting user limits to "{1}" for user "{0}"`, run: func(s *session, args []string) error {
		return s.setLimits(args[1], "user-limits", args[0])
	}},
	// "all" is a word of the tool: the API takes one at a time.
	{name: "clear_user_limits", args: "<user> <limit>", doing: `Clearing "{1}" limit for user "{0}"`, run: func(s *session, args []string) error {
		return s.clearLimits(args[1], []string{"max-connections", "max-channels"}, "user-limits", args[0])
	}},
}

// password is the second argument, or a line of the input.
// It is cut off at the end of the line alone: blanks may be part of a password.
func (s *session) password(args []string) (string, error) {
	if len(args) > 1 {
		return args[1], nil
	}
	line, err := bufio.NewReader(s.cmd.InOrStdin()).ReadString('\n')
	if err != nil && line == "" {
		return "", &ctl.UsageError{Text: "the password is missing"}
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// addUser makes a user without tags, which may log in over AMQP as soon as somebody gives it permissions.
func addUser(s *session, args []string) error {
	password, err := s.password(args)
	if err != nil {
		return err
	}
	if err := must("the user's name", args[0]); err != nil {
		return err
	}
	path := ctl.Path("users", args[0])
	// The API's PUT would change a user that is there; the tool must not.
	if err := s.get(path, nil); err == nil {
		return &failure{fmt.Sprintf("User \"%s\" already exists", args[0]), ctl.ExitSoftware}
	} else if !ctl.IsMissing(err) {
		return err
	}
	user := map[string]any{"tags": "", "password": password}
	if s.flag("pre-hashed-password") == "true" {
		// The hash goes to the broker as it is, which refuses what is none.
		user = map[string]any{"tags": "", "password_hash": password}
		if algorithm := s.flag("password-hash-algorithm"); algorithm != "" {
			user["hashing_algorithm"] = algorithm
		}
	}
	if err := s.put(path, user); err != nil {
		return err
	}
	// RabbitMQ's sentence: a new user without permissions is the most frequent of all questions.
	return s.hint("Done. Don't forget to grant the user permissions to some virtual hosts! See 'rabbitmqctl help set_permissions' to learn more.")
}

// changePassword sets a new password and leaves the tags.
func changePassword(s *session, args []string) error {
	password, err := s.password(args)
	if err != nil {
		return err
	}
	return s.changeUser(args[0], func(user map[string]any) {
		delete(user, "password_hash")
		// Without it the broker hashes by its default.
		delete(user, "hashing_algorithm")
		user["password"] = password
	})
}

// changeUser changes something of a user and leaves the rest: the API knows users as a whole only.
func (s *session) changeUser(name string, change func(user map[string]any)) error {
	var now ctl.Object
	if err := s.get(ctl.Path("users", name), &now); err != nil {
		if ctl.IsMissing(err) {
			return noUser(name)
		}
		return err
	}
	// A PUT without hash and without password would make a user that can't log in by one; so what is there is sent along.
	user := map[string]any{"tags": strings.ReplaceAll(now.Text("tags"), ", ", ",")}
	// The rest of a user is not the PUT's: permissions and limits stay.
	for _, field := range []string{"password_hash", "hashing_algorithm"} {
		if v := now[field]; v != nil && v != "" {
			user[field] = v
		}
	}
	change(user)
	return s.put(ctl.Path("users", name), user)
}

// authenticate logs in as the user.
func authenticate(s *session, args []string) error {
	password, err := s.password(args)
	if err != nil {
		return err
	}
	// A form, as the browser would send: the only way that takes a password without being authenticated by it.
	form := url.Values{"username": {args[0]}, "password": {password}}
	err = s.post("/login", []byte(form.Encode()))
	// The API lets in who has a tag for it, but tells the rest apart from a wrong password.
	var refused *ctl.Refusal
	if errors.As(err, &refused) && refused.Reason == "Not management user" {
		err = nil // which it could only be told who knows the password
	}
	if err != nil {
		var unreachable *ctl.Unavailable
		if errors.As(err, &unreachable) {
			return err
		}
		return &failure{fmt.Sprintf("Error: failed to authenticate user \"%s\"\ninvalid credentials", args[0]), ctl.ExitRefused}
	}
	if s.quiet {
		return nil
	}
	return s.say("Success")
}

// hashPassword prints what password_hash in a definitions file would be. The broker does the hashing, as it does for users.
// The password is part of the path and so of access logs of proxies: for that `broker hash-password` needs no broker.
func hashPassword(s *session, args []string) error {
	password, err := s.password(append([]string{""}, args...))
	if err != nil {
		return err
	}
	var answer ctl.Object
	if err := s.get(ctl.Path("auth", "hash_password", password), &answer); err != nil {
		return err
	}
	if _, err := base64.StdEncoding.DecodeString(answer.Text("ok")); err != nil {
		return err
	}
	return s.say("%s", answer.Text("ok"))
}

// setLimits sets each limit of a JSON object.
func (s *session) setLimits(given string, path ...string) error {
	var limits map[string]any
	if err := ctl.Decode([]byte(given), &limits); err != nil || limits == nil {
		return &ctl.Refusal{Reason: "limits are a JSON object such as {\"max-connections\": 10}, not " + given}
	}
	// One call each: a limit that is refused leaves the others as far as they came, in no order, as in RabbitMQ.
	for name, limit := range limits {
		if err := s.put(ctl.Path(append(path, name)...), map[string]any{"value": limit}); err != nil {
			return err
		}
	}
	return nil
}

// clearLimits clears one limit, or all.
func (s *session) clearLimits(which string, all []string, path ...string) error {
	names := []string{which}
	if which == "all" {
		names = all
	}
	for _, name := range names {
		if err := s.delete(ctl.Path(append(path, name)...)); err != nil {
			return err
		}
	}
	return nil
}
