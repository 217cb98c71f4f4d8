package admin

import (
	"leveret/ctl"

	"github.com/spf13/cobra"
)

// explanationColumns tell of each policy that fits a queue what became of it.
var explanationColumns = []column{{"policy", "name"}, {"kind", "kind"}, {"applies", "applies"}, {"why not", "reason"}}

// explainCommand answers the question why a setting does not have the effect that a policy should give it.
func (s *session) explainCommand() *cobra.Command {
	cmd := s.onQueue("explain", "Tell which policies apply to a queue, and why others don't", func(cmd *cobra.Command, path string) error {
		var answer ctl.Object
		raw, err := s.get(cmd.Context(), path+"/policy", &answer)
		if err != nil {
			return err
		}
		if s.json {
			return printJSON(cmd.OutOrStdout(), raw)
		}
		return s.explain(cmd, answer)
	})
	cmd.Long = "Tell which policies apply to a queue, which fit its name and do not apply, and why; and what those that apply come to."
	return cmd
}

// explain prints the policies that apply, then those that fit and do not, and what comes of them together.
func (s *session) explain(cmd *cobra.Command, answer ctl.Object) error {
	var policies []ctl.Object
	// At most one of each kind applies: of those that fit, the one with the highest priority.
	for _, kind := range []string{"policy", "operator_policy"} {
		if name := answer.Text(kind); name != "" {
			policies = append(policies, ctl.Object{"name": name, "kind": kind, "applies": true})
		}
	}
	// RabbitMQ has no such field; there the table ends with what applies.
	skipped, _ := answer["policy_skipped"].([]any)
	for _, v := range skipped {
		o, _ := v.(map[string]any)
		kind := "policy"
		if o["operator"] == true {
			kind = "operator_policy"
		}
		policies = append(policies, ctl.Object{"name": o["name"], "kind": kind, "applies": false, "reason": o["reason"]})
	}
	if len(policies) == 0 {
		return s.say(cmd, "no policy fits queue '%s'", answer.Text("name"))
	}
	if err := s.print(cmd.OutOrStdout(), tableOf(policies, explanationColumns)); err != nil {
		return err
	}
	effective, _ := answer["effective_policy_definition"].(map[string]any)
	if len(effective) == 0 {
		return nil
	}
	if err := s.say(cmd, "\nTogether they set:"); err != nil {
		return err
	}
	for name, v := range effective {
		if v == "" {
			effective[name] = `""` // the default exchange, for one
		}
	}
	return s.print(cmd.OutOrStdout(), properties(effective))
}
