package server

import "testing"

// TestFrugalBufferIsNotKept: a connection that was to read little, in an alarm or before it was open, reads as much as others afterwards, also if it
// never has to wait for input; what is pending stays.
func TestFrugalBufferIsNotKept(t *testing.T) {
	frugal := true
	in := &input{frugal: func() bool { return frugal }, crowded: func() bool { return false }}
	next := func(wanted int) {
		t.Helper()
		in.makeRoom()
		in.take()
		if len(in.buf) != wanted {
			t.Fatalf("the buffer has %d bytes, want %d", len(in.buf), wanted)
		}
	}
	next(frugalBuffer)
	in.to = 10
	in.consume(10)
	next(frugalBuffer)
	frugal = false
	in.to = copy(in.buf, "abcdef")
	in.consume(4)
	next(frugalBuffer)
	if got := string(in.pending()); got != "ef" {
		t.Errorf("%q is pending", got)
	}
	in.consume(2)
	next(readBuffer)
}

// BenchmarkBorrow is what a connection does whenever it has waited for input.
func BenchmarkBorrow(b *testing.B) {
	in := &input{frugal: func() bool { return false }, crowded: func() bool { return false }}
	b.ReportAllocs()
	for b.Loop() {
		in.take()
		in.free()
	}
}
