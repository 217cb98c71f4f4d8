package pattern_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"leveret/pattern"
)

func compile(t testing.TB, expression string) *pattern.Pattern {
	t.Helper()
	p, err := pattern.Compile(expression)
	if err != nil {
		t.Fatalf("%q: %v", expression, err)
	}
	return p
}

func TestMatch(t *testing.T) {
	for _, c := range []struct{ expression, names, others string }{
		{"", "a  q.1", ""},
		{".*", "a q.1 amq.topic", ""},
		{"^.*$", "a q.1", ""},
		{"^orders$", "orders", "orders1 1orders order"},
		{`^q\.default$`, "q.default", "qxdefault"},
		{"^orders", "orders orders.1", "1orders"},
		{`\.dlq$`, "a.dlq", "adlq a.dlq.1"},
		{"order", "order border orders", "orde"},
		{"^(a|b)c", "ac bc bcd", "c abc"},
		{"(?i)^abc$", "abc ABC aBc", "abcd"},
		{`^(?!amq\.).*`, "orders am amqx", "amq.topic amq."},
		{`^(?!amq\.|eager).*\d$`, "orders1 amq1", "amq.1 eager1 orders"},
		{`(?<=\.)dlq`, "a.dlq", "dlq adlq"},
		{`^(.)\1`, "aab", "ab aba"},
		{`^(?>a+)b`, "aab", "b aa"},
		{`^a++b`, "aab", "aa"},
	} {
		p := compile(t, c.expression)
		if p.String() != c.expression {
			t.Errorf("%q says that it is %q", c.expression, p)
		}
		for name := range strings.SplitSeq(c.names, " ") {
			if found, err := p.Find(name); !found || err != nil || !p.Match(name) {
				t.Errorf("%q does not match %q (%v)", c.expression, name, err)
			}
		}
		for name := range strings.FieldsSeq(c.others) {
			if p.Match(name) {
				t.Errorf("%q matches %q", c.expression, name)
			}
		}
	}
}

func TestEverything(t *testing.T) {
	for expression, want := range map[string]bool{"": true, ".*": true, "^.*$": true, "^": true, "^a": false, "(?!x)": false, ".+": false} {
		if got := compile(t, expression).Everything(); got != want {
			t.Errorf("%q: everything %t", expression, got)
		}
	}
}

func TestInvalid(t *testing.T) {
	for _, expression := range []string{"(", "[", "a**", `\`, "(?<n", `(?!a`, `\2(a)`} {
		p, err := pattern.Compile(expression)
		if !errors.Is(err, pattern.ErrInvalid) {
			t.Errorf("%q: %v, %v", expression, p, err)
		}
	}
}

func TestSlowPatternsAreGivenUp(t *testing.T) {
	p := compile(t, `^(?=x?)(a+)+\1$`) // tries each way to cut a row of letters
	evil := strings.Repeat("a", 60) + "b"
	begun := time.Now()
	if found, err := p.Find(evil); found || !errors.Is(err, pattern.ErrTooSlow) {
		t.Fatalf("found %t, %v", found, err)
	}
	if took := time.Since(begun); took > 500*pattern.Patience {
		t.Errorf("took %v", took)
	}
	if !p.Match("aa") {
		t.Error("a pattern that was given up once matches nothing more")
	}
	for range pattern.Strikes - 1 {
		p.Match(evil)
	}
	if _, err := p.Find("aa"); !errors.Is(err, pattern.ErrTooSlow) {
		t.Errorf("it is still tried: %v", err)
	}
}

// TestQuickWays compares the ways without an engine with Go's.
func TestQuickWays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`\^?(a|b|\\\.|\.|é|ab){0,4}\$?`).Draw(t, "expression")
		name := rapid.StringMatching(`[ab.é]{0,6}`).Draw(t, "name")
		p, err := pattern.Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := p.Match(name), regexp.MustCompile(text).MatchString(name); got != want {
			t.Fatalf("%q in %q: %t, want %t", text, name, got, want)
		}
	})
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{"", ".*", `^(?!amq\.).*`, "(", `(a+)+\1$`, "[[:alpha:]]", `\Qa`, "a{1,2000}"} {
		f.Add(seed, "amq.topic")
	}
	f.Fuzz(func(t *testing.T, expression, name string) {
		p, err := pattern.Compile(expression)
		if err != nil {
			return
		}
		if p.Everything() && !p.Match(name) {
			t.Errorf("%q does not match %q", expression, name)
		}
		p.Match(name)
	})
}

func BenchmarkMatch(b *testing.B) {
	for _, expression := range []string{".*", "^orders$", "^orders.*[0-9]$", `^(?!amq\.).*`} {
		b.Run(expression, func(b *testing.B) {
			p := compile(b, expression)
			for b.Loop() {
				p.Match("orders.eu.17")
			}
		})
	}
}
