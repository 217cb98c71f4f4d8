// Package archtest holds the rules that the tree keeps as a whole and that no
// compiler checks: who may import whom, where a third-party module may appear
// and under which licence, one package comment a package, the words that name
// nothing, and the bars on the size of files and functions.
//
// Each rule is a function from facts about a tree to a list of findings, one
// sentence each; an empty list means that the rule holds. The package's own test
// applies them to this repository, and to a small bad tree in testdata, so that
// a rule that has stopped finding anything is noticed.
package archtest
