package archtest

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// modulePath is the module that the rules are about.
const modulePath = "leveret"

// rungs are the packages from the bottom of the ladder to its top, each with the
// packages of ours that it may import. A folder below a rung (store/storetest,
// amqp/internal/gen) belongs to it, unless it has a line of its own.
var rungs = []rung{
	{"amqp", nil},
	{"store", nil},   // records and numbers: it knows no AMQP
	{"metrics", nil}, // plain numbers, handed to it
	{"pattern", nil},
	{"events", []string{"amqp"}},
	{"frame", []string{"amqp"}},
	{"dedup", []string{"amqp", "store"}},
	{"exchange", []string{"amqp", "dedup"}},
	{"auth", []string{"amqp", "events", "pattern"}},
	{"queue", []string{"amqp", "dedup", "store"}},
	{"vhost", []string{"amqp", "dedup", "events", "exchange", "pattern", "queue", "store"}},
	{"server", []string{"amqp", "events", "frame", "dedup", "exchange", "auth", "queue", "vhost", "store"}},
	{"config", []string{"server", "auth"}}, // reads their defaults, so that each is written once
	{"perf", []string{"amqp", "frame"}},
	{"definitions", []string{"amqp", "exchange", "auth", "queue", "vhost", "server", "store"}},
	{"shovel", []string{"auth", "events", "server", "store", "vhost"}}, // a client, but for where it finds its orders
	{"management", []string{"amqp", "events", "exchange", "auth", "queue", "vhost", "store", "server", "definitions", "shovel"}},
	{"ctl", nil}, // a client of the HTTP API: it may know the broker as little as any other
	{"cmd/broker/admin", []string{"ctl"}},
	{"cmd/broker/rabbitmqctl", []string{"ctl"}},
	{"cmd/broker", []string{
		"cmd/broker/admin", "cmd/broker/rabbitmqctl", "ctl",
		"config", "definitions", "events", "management", "metrics", "perf", "shovel", "server", "auth", "vhost", "queue", "exchange", "store", "frame", "amqp",
	}},
	{"internal", nil},
	{"test", []string{"amqp", "frame"}}, // from outside: what a client may know
}

// rung is one line of the ladder.
type rung struct {
	path string
	may  []string
}

// Ladder reports every import of ours that does not go down the ladder, and every
// package that stands on no rung. Tests keep to the same ladder, but may use the
// support packages (storetest, ...) of the rungs below, which nothing else may.
func Ladder(pkgs []Package) []string {
	var found []string
	for i := range pkgs {
		p := &pkgs[i]
		r, ok := rungOf(p.path())
		if !ok {
			found = append(found, fmt.Sprintf("%s: no rung of the ladder; give it a line in internal/archtest/ladder.go", p.path()))
			continue
		}
		for _, imported := range p.Imports {
			if target, ours := ownPath(imported); ours && !r.allows(target) {
				found = append(found, fmt.Sprintf("%s imports %s, which is not below it", p.path(), target))
			} else if ours && isTestSupport(target) && !isTestSupport(p.path()) {
				found = append(found, fmt.Sprintf("%s imports %s, which is for tests alone", p.path(), target))
			}
		}
		for _, imported := range p.testOnly() {
			if target, ours := ownPath(imported); ours && !r.allows(target) {
				found = append(found, fmt.Sprintf("the tests of %s import %s, which is not below it", p.path(), target))
			}
		}
	}
	return found
}

// ownPath returns the path below the module of an import of ours.
func ownPath(importPath string) (string, bool) {
	return strings.CutPrefix(importPath, modulePath+"/")
}

// rungOf finds the rung of a package: its own line or that of the nearest folder above.
func rungOf(pkg string) (rung, bool) {
	for dir := pkg; dir != "."; dir = path.Dir(dir) {
		if i := slices.IndexFunc(rungs, func(r rung) bool { return r.path == dir }); i >= 0 {
			return rungs[i], true
		}
	}
	return rung{}, false
}

// allows tells whether a package on the rung may import target. Within a rung
// (store and store/storetest) the compiler's ban on cycles is enough.
func (r rung) allows(target string) bool {
	t, ok := rungOf(target)
	return ok && (t.path == r.path || slices.Contains(r.may, t.path))
}

// isTestSupport tells a package that stands beside another for its tests by its
// name: storetest, servertest.
func isTestSupport(pkg string) bool {
	r, ok := rungOf(pkg)
	return ok && r.path != "internal" && r.path != "test" && strings.HasSuffix(pkg, "test")
}

// emptyNames say nothing about what a package holds, and so come to hold everything.
var emptyNames = []string{"base", "common", "helper", "helpers", "interfaces", "misc", "shared", "types", "util", "utils"}

// Names reports packages whose name tells nothing.
func Names(pkgs []Package) []string {
	var found []string
	for i := range pkgs {
		p := &pkgs[i]
		for _, name := range []string{p.Name, path.Base(p.path())} {
			if slices.Contains(emptyNames, name) {
				found = append(found, fmt.Sprintf("%s: %q says nothing about what the package holds", p.path(), name))
				break
			}
		}
	}
	return found
}
