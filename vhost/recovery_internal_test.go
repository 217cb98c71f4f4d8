package vhost

import (
	"reflect"
	"testing"

	"leveret/store"

	"pgregory.net/rapid"
)

func TestRangesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ranges []store.Range
		end := uint64(0)
		for range rapid.IntRange(0, 20).Draw(t, "ranges") {
			first := end + uint64(rapid.IntRange(1, 1000).Draw(t, "gap"))
			end = first + uint64(rapid.IntRange(0, 1<<40).Draw(t, "length"))
			ranges = append(ranges, store.Range{First: first, Last: end})
		}
		encoded := encodeRanges(ranges)
		if got := decodeRanges(encoded); !reflect.DeepEqual(got, ranges) {
			t.Fatalf("got %v, want %v", got, ranges)
		}
		if n := rapid.IntRange(0, len(encoded)).Draw(t, "cut"); len(decodeRanges(encoded[:n])) > len(ranges) {
			t.Fatal("a part has more than the whole")
		}
	})
}
