package rabbitmqctl_test

import (
	"regexp"
	"strings"
	"testing"

	"leveret/cmd/broker/rabbitmqctl"
	"leveret/ctl/ctltest"
)

// placeholder is one argument in a verb's line of use.
var placeholder = regexp.MustCompile(`<[^>]*>`)

// given are arguments that a verb does not refuse; all others may be any word.
var given = map[string]string{
	"<fraction>": "0.5", "<limit>": "1GB", "<json>": "{}", "<definition>": "{}", "<limits>": `{"max-queues":1}`, "<value>": "1", "<level>": "info", "<position>": "1",
	"<port>": "5672", "<count>": "1", "<seconds>": "1",
}

// alone are verbs that ask nothing of the broker: there is nothing to do for one node, or the answer is always the same.
var alone = map[string]bool{
	"await_online_quorum_plus_one": true, "check_if_any_deprecated_features_are_used": true, "enable_feature_flag": true, "list_hashes": true,
	"list_unresponsive_queues": true, "log_location": true, "os_env": true, "post_upgrade": true, "rebalance": true, "rotate_logs": true, "tls_versions": true,
}

// anyArguments fills in what a verb needs.
func anyArguments(use string) []string {
	words := []string{strings.Fields(use)[0]}
	for _, p := range placeholder.FindAllString(use, -1) {
		word, known := given[p]
		if !known {
			word = "word"
		}
		words = append(words, word)
	}
	return words
}

// Whatever answers instead of the API, a verb ends, with an exit code of RabbitMQ's tools and a sentence; it reports no success if it can't have had any.
func TestFaults(t *testing.T) {
	codes := map[int]bool{0: true, 64: true, 65: true, 67: true, 69: true, 70: true, 75: true, 78: true}
	for _, fault := range ctltest.Faults {
		t.Run(fault.Name, func(t *testing.T) {
			t.Setenv("LEVERET_URL", fault.Serve(t))
			for _, cmd := range rabbitmqctl.New("rabbitmqctl").Commands() {
				args := append(anyArguments(cmd.Use), "-t", "0.3")
				output, code := ctltest.Run(rabbitmqctl.New("rabbitmqctl"), "from the input\n", args...)
				if signs := ctltest.Signs(output); signs != nil {
					t.Errorf("%v: %q in %q", args, signs, output)
				}
				if !codes[code] || (code != 0) != strings.Contains(output, "error: ") {
					t.Errorf("%v: exit code %d, %q", args, code, output)
				}
				if fault.Fails && code == 0 && !alone[cmd.Name()] {
					t.Errorf("%v: success, %q", args, output)
				}
			}
		})
	}
}
