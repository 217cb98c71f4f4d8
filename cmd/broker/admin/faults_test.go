package admin_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"leveret/cmd/broker/admin"
	"leveret/ctl"
	"leveret/ctl/ctltest"
)

// accepted are values for flags without which a command line is not understood.
var accepted = map[string]string{
	"name": "n", "for": "f", "pattern": "^a", "definition": "{}", "value": "1", "write": "w", "read": "r", "configure": "c", "source": "s",
	"destination": "d", "exchange": "e", "component": "c", "new-password": "p", "source-queue": "a", "destination-queue": "b", "payload": "p",
	"routing-key": "k", "queue": "q", "connection": "c", "channel": "1", "tag": "t", "limit": "max-queues", "count": "1", "interval": "1ms", "rounds": "1",
}

// arguments are tried one after the other until a command line is understood.
var arguments = [][]string{nil, {"5"}, {"5", "5"}, {"5", "5", "5"}, {"5", "5", "5", "5"}, {"0.5"}, {"-"}, {"info"}, {"memory"}}

// leaves are the paths of the commands below one that do something.
func leaves(cmd *cobra.Command, path ...string) (paths [][]string) {
	for _, c := range cmd.Commands() {
		at := append(slices.Clone(path), c.Name())
		if !c.HasSubCommands() && c.Name() != "help" {
			paths = append(paths, at)
		}
		paths = append(paths, leaves(c, at...)...)
	}
	return paths
}

// flagsOf are the accepted values of the flags that a command has, in order.
func flagsOf(t *testing.T, path []string) (flags []string) {
	cmd, _, err := admin.New().Find(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range accepted {
		if f := cmd.LocalFlags().Lookup(name); f != nil && f.Value.Type() != "bool" {
			flags = append(flags, "--"+name+"="+value)
		}
	}
	slices.Sort(flags)
	return flags
}

// understood are command lines of all commands, each with what it needs.
func understood(t *testing.T) (lines [][]string) {
	a := ctltest.New(t, nil)
	for _, path := range leaves(admin.New()) {
		flags := flagsOf(t, path)
		n := slices.IndexFunc(arguments, func(words []string) bool {
			_, code := ctlAt(a, "{}", slices.Concat(path, words, flags)...)
			return code != ctl.ExitUsage
		})
		if n < 0 {
			output, _ := ctlAt(a, "{}", slices.Concat(path, flags)...)
			t.Errorf("%v: no line is understood: %s", path, output)
			continue
		}
		lines = append(lines, slices.Concat(path, arguments[n], flags))
	}
	return lines
}

// Whatever answers instead of the API, a command ends with one of the exit codes that the help promises and a sentence. It reports no success if it can't
// have had any, and as JSON it prints JSON or nothing.
func TestFaults(t *testing.T) {
	codes := []int{0, ctl.ExitUsage, ctl.ExitRefused, ctl.ExitUnavailable, ctl.ExitSoftware, ctl.ExitTimeout}
	lines, forms := understood(t), []string{"--json=false", "--quiet", "--json"}
	for i, fault := range ctltest.Faults {
		t.Run(fault.Name, func(t *testing.T) {
			url := fault.Serve(t)
			for j, line := range lines {
				form := forms[(i+j)%len(forms)]
				output, code := ctltest.Run(admin.New(), "{}", slices.Concat(line, []string{form, "--url", url})...)
				if signs := ctltest.Signs(output); signs != nil {
					t.Errorf("%v %s: %q in %q", line, form, signs, output)
				}
				if !slices.Contains(codes, code) || (code != 0) != strings.Contains(output, "error: ") {
					t.Errorf("%v %s: exit code %d, %q", line, form, code, output)
				}
				if code == 0 && fault.Fails {
					t.Errorf("%v %s: success, %q", line, form, output)
				}
				if form == "--json" && code == 0 && output != "" && !json.Valid([]byte(output)) {
					t.Errorf("%v %s: no JSON: %q", line, form, output)
				}
			}
		})
	}
}
