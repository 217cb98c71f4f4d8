package config

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestEdits(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "ab", 1}, {"abc", "xabc", 1},
		{"kitten", "sitting", 3}, {"frame_max", "framemax", 1}, {"ab", "ba", 2},
	}
	for _, tt := range tests {
		if got := edits(tt.a, tt.b); got != tt.want {
			t.Errorf("from %q to %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

// naiveEdits is the definition, without a table.
func naiveEdits(a, b string) int {
	switch {
	case a == "":
		return len(b)
	case b == "":
		return len(a)
	case a[0] == b[0]:
		return naiveEdits(a[1:], b[1:])
	}
	return 1 + min(naiveEdits(a[1:], b), naiveEdits(a, b[1:]), naiveEdits(a[1:], b[1:]))
}

func TestEditsFollowDefinition(t *testing.T) {
	word := rapid.StringMatching(`[abc]{0,6}`)
	rapid.Check(t, func(rt *rapid.T) {
		a, b := word.Draw(rt, "a"), word.Draw(rt, "b")
		if got, want := edits(a, b), naiveEdits(a, b); got != want {
			rt.Fatalf("from %q to %q: %d, want %d", a, b, got, want)
		}
	})
}

// TestNearestFindsTypos spoils every known key by one letter: the answer is that key, or another one that is as near.
func TestNearestFindsTypos(t *testing.T) {
	var keys []string
	for _, s := range settings {
		keys = append(keys, strings.TrimSuffix(s.key, "."))
	}
	rapid.Check(t, func(rt *rapid.T) {
		key := rapid.SampledFrom(keys).Draw(rt, "key")
		at := rapid.IntRange(0, len(key)-1).Draw(rt, "at")
		if s, _, _ := find(key + ".x"); s.family() {
			key += ".x"
		}
		typo := key[:at] + "q" + key[at+1:]
		if got := nearest(typo); edits(typo, got) > 1 {
			rt.Fatalf("nearest to %q is %q, want %q", typo, got, key)
		}
	})
}

// TestKeysAreOurs holds that no setting hides behind a key that is accepted without effect, and that no key is listed twice.
func TestKeysAreOurs(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range settings {
		if seen[s.key] {
			t.Errorf("%s is there twice", s.key)
		}
		seen[s.key] = true
		if got, _, found := find(s.key + map[bool]string{true: "x"}[s.family()]); !found || got.key != s.key {
			t.Errorf("%s is found as %q", s.key, got.key)
		}
		if s.alias != (s.get == nil) {
			t.Errorf("%s: an alias is what is not printed", s.key)
		}
	}
	for _, key := range rabbitMQKeys {
		if seen[key] {
			t.Errorf("%s is a setting, and accepted without effect", key)
		}
		seen[key] = true
	}
}

func TestFlagsAreSettings(t *testing.T) {
	names := map[string]bool{}
	for _, f := range Flags() {
		s, _, found := find(f.Key + map[bool]string{true: "x"}[f.List])
		if !found || s.flag != f.Name || names[f.Name] {
			t.Errorf("%+v", f)
		}
		names[f.Name] = true
	}
	if len(names) < 10 {
		t.Errorf("flags %v", names)
	}
}
