// Package pattern matches names with the regular expressions of policies and permissions.
//
// RabbitMQ takes Perl's expressions there, and operators use what only these have: ^(?!amq\.).* is in many a definitions file. Go's own
// engine, which takes time in proportion to the name's length, does nearly all of them; what it does not know (looking ahead and behind,
// back references, atomic groups) goes to one that tries one way after the other. Since that may take for ever, it is given up after
// Patience; a pattern that was given up Strikes times is not tried any more.
//
// A Pattern does not change, and may be used by any goroutine.
package pattern

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dlclark/regexp2/v2"
)

const (
	// Patience is how long, about, one match may take.
	Patience = 20 * time.Millisecond
	// Strikes is how many matches of a pattern may take longer before it counts as one that matches nothing.
	Strikes = 100
)

var (
	// ErrInvalid is the error of what is no regular expression; what is wrong with it is wrapped beside.
	ErrInvalid = errors.New("invalid regular expression")
	// ErrTooSlow is the error of a match that was given up.
	ErrTooSlow = errors.New("pattern takes too long to match")
)

// clockPeriod is how exact Patience is.
const clockPeriod = 10 * time.Millisecond

func init() { regexp2.SetTimeoutCheckPeriod(clockPeriod) }

// Pattern is one compiled expression.
type Pattern struct {
	expression string
	match      func(name string) bool // one of the quick ways; nil for
	slow       *regexp2.Regexp
	strikes    atomic.Int32
	constant   bool // it matches every name
}

// Compile compiles an expression, or returns an error that is ErrInvalid.
func Compile(expression string) (*Pattern, error) {
	p := &Pattern{expression: expression}
	if match := simple(expression); match != nil {
		p.match = match
		_, p.constant = everything[expression]
		return p, nil
	}
	quick, err := regexp.Compile(expression)
	if err == nil {
		p.match = quick.MatchString
		return p, nil
	}
	slow, slowErr := regexp2.Compile(expression)
	if slowErr != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	slow.MatchTimeout = Patience
	p.slow = slow
	return p, nil
}

// String is the expression.
func (p *Pattern) String() string { return p.expression }

// Everything reports whether the pattern is one of the usual ways to write that it matches every name.
func (p *Pattern) Everything() bool { return p.constant }

// Match reports whether the expression is found anywhere in name. A match that was given up counts as none.
func (p *Pattern) Match(name string) bool {
	found, _ := p.Find(name)
	return found
}

// Find is Match with the error ErrTooSlow for a match that was given up.
func (p *Pattern) Find(name string) (bool, error) {
	if p.match != nil {
		return p.match(name), nil
	}
	if p.strikes.Load() >= Strikes {
		return false, ErrTooSlow
	}
	found, err := p.slow.MatchString(name)
	if err != nil {
		p.strikes.Add(1)
		return false, ErrTooSlow
	}
	return found, nil
}

// everything are the usual expressions that match every name.
var everything = map[string]struct{}{"": {}, ".*": {}, "^.*$": {}, "^.*": {}, ".*$": {}, "^": {}}

// simple returns how to match an expression without an engine: one that matches everything, and a plain text with or without
// its ends fixed. It returns nil for any other.
func simple(expression string) func(string) bool {
	if _, ok := everything[expression]; ok {
		return func(string) bool { return true }
	}
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil
	}
	parts := []*syntax.Regexp{re}
	if re.Op == syntax.OpConcat {
		parts = re.Sub
	}
	begin := parts[0].Op == syntax.OpBeginText
	if begin {
		parts = parts[1:]
	}
	end := len(parts) > 0 && parts[len(parts)-1].Op == syntax.OpEndText
	if end {
		parts = parts[:len(parts)-1]
	}
	if len(parts) != 1 || parts[0].Op != syntax.OpLiteral || parts[0].Flags&syntax.FoldCase != 0 {
		return nil
	}
	text := string(parts[0].Rune)
	switch {
	case begin && end:
		return func(name string) bool { return name == text }
	case begin:
		return func(name string) bool { return strings.HasPrefix(name, text) }
	case end:
		return func(name string) bool { return strings.HasSuffix(name, text) }
	}
	return func(name string) bool { return strings.Contains(name, text) }
}
