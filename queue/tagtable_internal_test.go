package queue

import (
	"testing"

	"pgregory.net/rapid"
)

// The table is a map, whatever comes and goes, though all tags want the same few slots.
func TestTagTableModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table tagTable[group]
		model := map[uint32]*group{}
		tags := rapid.Custom(func(t *rapid.T) uint32 { return rapid.Uint32Range(0, 40).Draw(t, "tag") << 24 })
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				if tag := tags.Draw(t, "tag"); model[tag] == nil {
					model[tag] = &group{tag: tag}
					table.put(tag, model[tag])
				}
			},
			"remove": func(t *rapid.T) {
				if tag := tags.Draw(t, "tag"); model[tag] != nil {
					table.remove(tag)
					delete(model, tag)
				}
			},
			"": func(t *rapid.T) {
				if tag := tags.Draw(t, "tag"); table.find(tag) != model[tag] {
					t.Fatalf("found %+v for %d, want %+v", table.find(tag), tag, model[tag])
				}
				seen := 0
				table.each(func(g *group) bool {
					seen++
					return model[g.tag] == g
				})
				if seen != len(model) || table.count != seen {
					t.Fatalf("has %d groups, counts %d, want %d", seen, table.count, len(model))
				}
			},
		})
	})
}
