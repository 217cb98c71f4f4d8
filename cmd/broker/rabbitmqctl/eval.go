package rabbitmqctl

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"leveret/ctl"
)

// eval does what the few expressions mean that scripts and clients' test suites are known to use. It runs no code.
var (
	setAlarm   = regexp.MustCompile(`^rabbit_alarm:set_alarm\(\{\{resource_limit,\s*(memory|disk),\s*node\(\)\},\s*\[\]\}\)$`)
	clearAlarm = regexp.MustCompile(`^rabbit_alarm:clear_alarm\(\{resource_limit,\s*(memory|disk),\s*node\(\)\}\)$`)
	setEnv     = regexp.MustCompile(`^application:set_env\((\w+),\s*(\w+),\s*(.*)\)$`)
	getEnv     = regexp.MustCompile(`^application:get_env\((\w+),\s*(\w+)\)$`)
)

// eval knows the expression by its form. All others are refused, with what is known: to pretend success would hide what did not happen.
func eval(s *session, args []string) error {
	// Erlang ends an expression with a dot, which scripts may leave out.
	expression := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(args[0]), "."))
	if m := setAlarm.FindStringSubmatch(expression); m != nil {
		return s.done(s.put(ctl.Path("leveret", "alarms", m[1]), nil))
	}
	if m := clearAlarm.FindStringSubmatch(expression); m != nil {
		return s.done(s.delete(ctl.Path("leveret", "alarms", m[1])))
	}
	if m := getEnv.FindStringSubmatch(expression); m != nil {
		return s.environment(m[1], m[2])
	}
	if m := setEnv.FindStringSubmatch(expression); m != nil {
		v, rest, err := term(m[3])
		if err != nil || strings.TrimSpace(rest) != "" {
			return &ctl.Refusal{Reason: "eval: " + m[3] + " is no Erlang term"}
		}
		return s.done(s.put(ctl.Path("leveret", "environment", m[1], m[2]), map[string]any{"value": v}))
	}
	return &ctl.Refusal{Reason: "eval: there is no Erlang here. Known are rabbit_alarm:set_alarm and clear_alarm, application:set_env and get_env"}
}

// done prints what most Erlang functions return.
// Scripts compare with it.
func (s *session) done(err error) error {
	if err != nil {
		return err
	}
	return s.say("ok")
}

// environment prints a setting.
// A setting that nobody knows is no error in Erlang.
func (s *session) environment(application, key string) error {
	var answer ctl.Object
	err := s.get(ctl.Path("leveret", "environment", application, key), &answer)
	if refused, ok := err.(*ctl.Refusal); ok && refused.Status == http.StatusNotFound {
		return s.say("undefined")
	}
	if err != nil {
		return err
	}
	return s.say("{ok,%s}", appendTerm(nil, answer["value"]))
}

// sorted are the names in a JSON object in their order, as maps have none.
func sorted(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
