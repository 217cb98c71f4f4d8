package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
)

// Package is what the go command tells about one package of a module.
type Package struct {
	ImportPath string
	Name       string
	Dir        string
	GoFiles    []string
	Imports    []string
	Module     *Module

	// Imports of test files inside the package and of its _test package.
	TestImports  []string
	XTestImports []string
}

// Module is the module that a package belongs to; nil for the standard library.
type Module struct {
	Path string
	Main bool
	Dir  string // where its source is unpacked, empty when it was not downloaded
}

// List asks the go command for the packages that the arguments name, seen from
// the folder dir. A package with an error is listed all the same: what is
// wrong with it is for the compiler to say.
func List(dir string, args ...string) ([]Package, error) {
	cmd := exec.Command("go", append([]string{"list", "-e", "-json=ImportPath,Name,Dir,GoFiles,Imports,Module,TestImports,XTestImports"}, args...)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s in %s: %w: %s", strings.Join(args, " "), dir, err, stderr.Bytes())
	}
	return decodeList(out)
}

// decodeList reads the objects that the go command prints one after the other.
func decodeList(out []byte) ([]Package, error) {
	var pkgs []Package
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p Package
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs, nil
		} else if err != nil {
			return nil, fmt.Errorf("output of go list: %w", err)
		}
		pkgs = append(pkgs, p)
	}
}

// path is the package's path below its module, "." for the module's root.
func (p *Package) path() string {
	if p.ImportPath == modulePath {
		return "."
	}
	return strings.TrimPrefix(p.ImportPath, modulePath+"/")
}

// testOnly returns the imports that only the package's tests have, each once: its
// own path, which a test in the package's _test package has, is not among them.
func (p *Package) testOnly() []string {
	var imports []string
	for _, i := range slices.Concat(p.TestImports, p.XTestImports) {
		if i != p.ImportPath && !slices.Contains(p.Imports, i) && !slices.Contains(imports, i) {
			imports = append(imports, i)
		}
	}
	return imports
}
