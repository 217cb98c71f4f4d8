package archtest

import (
	"os"
	"path/filepath"
	"testing"
)

// moduleWith makes a folder with one file in it and returns the module that it would be.
func moduleWith(t *testing.T, path, file, text string) Package {
	t.Helper()
	dir := t.TempDir()
	if file != "" {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Package{Module: &Module{Path: path, Dir: dir}}
}

func TestLicences(t *testing.T) {
	mit := "Permission is hereby granted, free of charge, to any person obtaining a copy of this software"
	bsd := "Redistribution and use in source and binary forms, with or without\nmodification, are permitted"
	deps := []Package{
		{ImportPath: "fmt"},
		{Module: &Module{Path: modulePath, Main: true}},
		moduleWith(t, "a/mit", "LICENSE", mit),
		moduleWith(t, "a/bsd", "LICENSE.txt", bsd),
		moduleWith(t, "a/apache", "LICENCE", "Apache License\n      Version 2.0, January 2004"),
		moduleWith(t, "b/gpl", "COPYING", "GNU GENERAL PUBLIC LICENSE, Version 3"),
		moduleWith(t, "b/dual", "LICENSE", mit+"\nor the Mozilla Public License"),
		moduleWith(t, "b/own", "LICENSE", "You may look at it."),
		moduleWith(t, "b/none", "", ""),
		{Module: &Module{Path: "b/away"}},
	}
	deps = append(deps, deps[len(deps)-1]) // a second package of the same module
	sameFindings(t, Licences(deps),
		"module b/gpl is under a copyleft licence",
		"module b/dual is under a copyleft licence",
		"module b/own: its licence is not one",
		"module b/none: it has no licence file",
		"module b/away: its source is not at hand",
	)
}

func TestAdmitted(t *testing.T) {
	tests := []struct {
		pkg, imported string
		inTest, want  bool
	}{
		{"queue", "fmt", false, true},
		{"queue", "leveret/amqp", false, true},
		{"store", "go.etcd.io/bbolt", false, true},
		{"store", "go.etcd.io/bbolt/errors", false, true},
		{"store", "go.etcd.io/bboltish", false, false},
		{"queue", "go.etcd.io/bbolt", false, false},
		{"queue", "go.etcd.io/bbolt", true, false},
		{"queue", "pgregory.net/rapid", true, true},
		{"queue", "pgregory.net/rapid", false, false},
		{"test/interop", "github.com/rabbitmq/amqp091-go", true, true},
	}
	for _, tt := range tests {
		if got := admitted(tt.pkg, tt.imported, tt.inTest); got != tt.want {
			t.Errorf("admitted(%q, %q, inTest %v) = %v, want %v", tt.pkg, tt.imported, tt.inTest, got, tt.want)
		}
	}
}
