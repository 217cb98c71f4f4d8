package archtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// homes says where a third-party module may be imported. Each stands in a decision
// record in docs/decisions; a module without a line here has none.
var homes = []home{
	{module: "github.com/MicahParks/keyfunc/v3", in: []string{"auth"}},
	{module: "github.com/coder/websocket", in: []string{"server"}},
	{module: "github.com/dlclark/regexp2/v2", in: []string{"pattern"}},
	{module: "github.com/golang-jwt/jwt/v5", in: []string{"auth", "test"}},
	{module: "github.com/pires/go-proxyproto", in: []string{"server"}},
	{module: "github.com/michaelklishin/rabbit-hole/v2", in: []string{"test"}},
	{module: "github.com/prometheus/client_golang", in: []string{"metrics"}},
	{module: "github.com/prometheus/client_model", in: []string{"metrics"}},
	{module: "github.com/prometheus/common", in: []string{"metrics"}},
	{module: "github.com/rabbitmq/amqp091-go", in: []string{"shovel", "test"}},
	{module: "github.com/spf13/cobra", in: []string{"cmd/broker", "cmd/broker/admin", "cmd/broker/rabbitmqctl"}},
	{module: "github.com/spf13/pflag", in: []string{"cmd/broker", "cmd/broker/admin", "cmd/broker/rabbitmqctl"}},
	{module: "go.etcd.io/bbolt", in: []string{"store"}},
	{module: "go.uber.org/goleak", tests: true},
	{module: "golang.org/x/crypto", in: []string{"auth"}},
	{module: "golang.org/x/sys", in: []string{"cmd/broker/admin", "server", "store", "test"}},
	{module: "golang.org/x/time", in: []string{"auth"}},
	{module: "pgregory.net/rapid", tests: true},
}

// home is where one module may be imported.
type home struct {
	module string
	in     []string // rungs whose product code and tests may
	tests  bool     // the tests of any package, and test support packages
}

// Dependencies reports third-party imports outside their home.
func Dependencies(pkgs []Package) []string {
	var found []string
	for i := range pkgs {
		p := &pkgs[i]
		for _, imported := range p.Imports {
			if !admitted(p.path(), imported, isTestSupport(p.path())) {
				found = append(found, fmt.Sprintf("%s imports %s: not its place, or no decision record", p.path(), imported))
			}
		}
		for _, imported := range p.testOnly() {
			if !admitted(p.path(), imported, true) {
				found = append(found, fmt.Sprintf("the tests of %s import %s: not its place, or no decision record", p.path(), imported))
			}
		}
	}
	return found
}

// admitted tells whether pkg may have the import; inTest, whether it is for a test.
func admitted(pkg, imported string, inTest bool) bool {
	first, _, _ := strings.Cut(imported, "/")
	if first == modulePath || !strings.Contains(first, ".") {
		return true // ours, or the standard library
	}
	i := slices.IndexFunc(homes, func(h home) bool {
		return imported == h.module || strings.HasPrefix(imported, h.module+"/")
	})
	if i < 0 {
		return false
	}
	r, _ := rungOf(pkg)
	return slices.Contains(homes[i].in, r.path) || homes[i].tests && inTest
}

// permissive are the opening words, or words found in no other licence, of the
// licences that let anyone ship one binary of all parts without further duties than naming them.
var permissive = []*regexp.Regexp{
	regexp.MustCompile(`Apache License Version 2\.0`),
	regexp.MustCompile(`Permission is hereby granted, free of charge, to any person obtaining a copy`),                     // MIT
	regexp.MustCompile(`Redistribution and use in source and binary forms, with or without modification, are permitted`),   // BSD
	regexp.MustCompile(`Permission to use, copy, modify, and(/or)? distribute this software for any purpose with or with`), // ISC
}

// copyleft tells a licence that reaches over to what is linked with it.
var copyleft = regexp.MustCompile(`(?i)GNU (Affero |Lesser |Library )?General Public License|Mozilla Public License|Eclipse Public License`)

// Licences reports modules of deps whose licence is missing, unknown or copyleft.
// A module whose source is not at hand is reported too: nothing can be said of it.
func Licences(deps []Package) []string {
	var found, seen []string
	for _, p := range deps {
		m := p.Module
		if m == nil || m.Main || slices.Contains(seen, m.Path) {
			continue
		}
		seen = append(seen, m.Path)
		text, err := licenceText(m.Dir)
		switch {
		case err != nil:
			found = append(found, fmt.Sprintf("module %s: %v", m.Path, err))
		case copyleft.MatchString(text):
			found = append(found, fmt.Sprintf("module %s is under a copyleft licence", m.Path))
		case !slices.ContainsFunc(permissive, func(r *regexp.Regexp) bool { return r.MatchString(text) }):
			found = append(found, fmt.Sprintf("module %s: its licence is not one of those that we know", m.Path))
		}
	}
	return found
}

// licenceText reads a module's licence file, with all space made single: licences
// are wrapped in many ways.
func licenceText(dir string) (string, error) {
	if dir == "" {
		return "", fmt.Errorf("its source is not at hand (go mod download)")
	}
	for _, pattern := range []string{"LICENSE*", "LICENCE*", "COPYING*"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return "", err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err == nil { // a folder of licences is passed over
				return strings.Join(strings.Fields(string(text)), " "), nil
			}
		}
	}
	return "", fmt.Errorf("it has no licence file")
}
