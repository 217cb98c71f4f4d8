package queue

import (
	"math"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// rotation is a queue's consumers, with letters for names.
type rotation struct {
	t       rapid.TB
	cs      consumers
	members map[string]*Consumer
}

func newRotation(t rapid.TB, single bool) *rotation {
	return &rotation{t: t, cs: consumers{single: single}, members: map[string]*Consumer{}}
}

func (r *rotation) add(priority int, tags ...string) {
	for _, tag := range tags {
		r.members[tag] = &Consumer{Tag: tag, Priority: priority}
		r.cs.add(r.members[tag])
	}
}

// stall takes consumers' room away, or gives it back.
func (r *rotation) stall(stalled bool, tags ...string) {
	for _, tag := range tags {
		r.members[tag].stalled = stalled
		r.cs.update(r.members[tag])
	}
}

func (r *rotation) remove(tag string) { r.cs.remove(r.members[tag]) }

// serve gives one message to each consumer that is next, n times, and compares whom it reached: a letter each, "-" for nobody.
func (r *rotation) serve(want string) {
	r.t.Helper()
	var served strings.Builder
	for range len(want) {
		c := r.cs.next()
		if c == nil {
			served.WriteString("-")
			continue
		}
		served.WriteString(c.Tag)
		c.unacked++
		r.cs.served(c)
	}
	if got := served.String(); got != want {
		r.t.Errorf("served %s, want %s", got, want)
	}
}

func TestRoundRobin(t *testing.T) {
	r := newRotation(t, false)
	r.serve("--")
	r.add(0, "a")
	r.serve("aaa")
	r.add(0, "b", "c")
	r.serve("abcabcab")
	r.remove("c")
	r.serve("aba")
	r.add(0, "d") // behind a, which was served last
	r.serve("badbad")
	r.remove("b")
	r.remove("a")
	r.remove("d")
	r.serve("-")
	if len(r.cs.classes) != 0 || r.cs.ready != 0 {
		t.Errorf("left: %d classes, %d ready", len(r.cs.classes), r.cs.ready)
	}
}

func TestHighestPriorityFirst(t *testing.T) {
	r := newRotation(t, false)
	r.add(0, "a", "b")
	r.add(-1, "z")
	r.add(5, "p", "q")
	r.serve("pqpqp")
	r.stall(true, "q")
	r.serve("ppp")
	r.stall(true, "p")
	r.serve("aba") // whoever has room, without waiting for those above
	r.stall(true, "b", "a")
	r.serve("zz")
	r.stall(false, "b")
	r.serve("bb")
	r.stall(false, "q", "p", "a")
	r.serve("qpqp")
	r.remove("p")
	r.remove("q")
	r.serve("bab")
}

// A consumer without room stands aside; with room again it comes behind those that waited.
func TestRoomGoesToTheTail(t *testing.T) {
	r := newRotation(t, false)
	r.add(0, "a", "b", "c")
	r.serve("a")
	r.stall(true, "b")
	r.serve("caca")
	r.stall(false, "b")
	r.serve("cabcab")
	r.stall(true, "c", "a", "b")
	r.serve("-")
	r.stall(false, "b")
	r.stall(false, "c", "a")
	r.serve("bcabca")
	r.stall(false, "a") // who had room keeps its place
	r.serve("bca")
}

func TestPrefetchIsRoom(t *testing.T) {
	r := newRotation(t, false)
	r.add(0, "a", "b", "c")
	r.members["a"].Prefetch = 1
	r.members["b"].Prefetch = 2
	r.members["c"].Prefetch, r.members["c"].NoAck = 1, true // which does not bind it
	r.serve("abcbccc")
	r.members["b"].unacked--
	r.cs.update(r.members["b"])
	r.members["a"].unacked--
	r.cs.update(r.members["a"])
	r.serve("cbaccc")
}

func TestSingleActiveConsumer(t *testing.T) {
	r := newRotation(t, true)
	r.add(0, "a", "b")
	r.add(5, "p")
	r.add(5, "q")
	r.serve("aaa") // the first that came, whatever the priority of the others
	r.stall(true, "a")
	r.serve("--") // the others wait also while it has no room
	r.remove("b")
	r.serve("-")
	r.stall(false, "a")
	r.serve("a")
	r.add(0, "c")
	r.remove("a")
	r.serve("pp") // the highest priority, then the oldest
	r.stall(true, "q")
	r.remove("p")
	r.serve("-")
	r.stall(false, "q")
	r.serve("q")
	r.remove("q")
	r.serve("c")
	r.remove("c")
	r.serve("-")
	r.add(0, "d")
	r.serve("d")
}

func TestPrioritiesMayBeAnyInteger(t *testing.T) {
	priorities := []int{math.MinInt, -1, 0, 1, math.MaxInt}
	rapid.Check(t, func(t *rapid.T) {
		r := newRotation(t, false)
		for _, i := range rapid.Permutation([]int{0, 1, 2, 3, 4}).Draw(t, "order") {
			r.add(priorities[i], string(rune('a'+i)))
		}
		for _, tag := range []string{"e", "d", "c", "b", "a"} {
			r.serve(tag)
			r.remove(tag)
		}
		r.serve("-")
	})
}

// The rings do what a plain list does: the first of the highest priority is next, and goes to the end.
func TestRotationModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var cs consumers
		var all, line []*Consumer
		leave := func(c *Consumer) { line = slices.DeleteFunc(line, func(o *Consumer) bool { return o == c }) }
		draw := func(t *rapid.T) *Consumer { return rapid.SampledFrom(all).Draw(t, "consumer") }
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				c := &Consumer{Priority: rapid.IntRange(0, 2).Draw(t, "priority"), Prefetch: rapid.IntRange(0, 3).Draw(t, "prefetch")}
				cs.add(c)
				all, line = append(all, c), append(line, c)
			},
			"remove": func(t *rapid.T) {
				if len(all) == 0 {
					return
				}
				c := draw(t)
				cs.remove(c)
				cs.remove(c) // once is enough
				leave(c)
				all = slices.DeleteFunc(all, func(o *Consumer) bool { return o == c })
			},
			"settle": func(t *rapid.T) {
				if len(all) == 0 {
					return
				}
				c := draw(t)
				if full := !c.hasRoom(); full && c.unacked > 0 {
					line = append(line, c)
				}
				c.unacked = max(0, c.unacked-1)
				cs.update(c)
			},
			"serve": func(t *rapid.T) {
				var want *Consumer
				for _, c := range line {
					if want == nil || c.Priority > want.Priority {
						want = c
					}
				}
				got := cs.next()
				if got != want {
					t.Fatalf("next is %v, want %v", got, want)
				}
				if got == nil {
					return
				}
				got.unacked++
				cs.served(got)
				if leave(got); got.hasRoom() {
					line = append(line, got)
				}
			},
			"": func(t *rapid.T) {
				if cs.ready != len(line) || len(cs.all) != len(all) {
					t.Fatalf("%d ready of %d, want %d of %d", cs.ready, len(cs.all), len(line), len(all))
				}
			},
		})
	})
}

// computed is how long the process has computed so far. What others do on the machine meanwhile does not count.
func computed(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Many consumers taken out at once cost little more each than a few do; the others are served on in their order.
func TestManyConsumersAreTakenOutAtOnce(t *testing.T) {
	detach := func(n int, priorities int) time.Duration {
		cs := consumers{}
		var stay, gone []*Consumer
		for i := range n {
			c := &Consumer{Priority: i % priorities}
			cs.add(c)
			if i%(n/10) == n/20 {
				stay = append(stay, c)
			} else {
				gone = append(gone, c)
			}
		}
		slices.Reverse(gone) // the youngest stand farthest from the front
		begun := computed(t)
		cs.remove(gone...)
		took := computed(t) - begun
		if !slices.Equal(cs.all, stay) || cs.ready != len(stay) {
			t.Fatalf("%d consumers are left, %d ready; want the %d that stay, in their order", len(cs.all), cs.ready, len(stay))
		}
		return took
	}
	for _, c := range []struct {
		name       string
		priorities func(n int) int
	}{{"one priority", func(int) int { return 1 }}, {"many priorities", func(n int) int { return n / 2 }}} {
		t.Run(c.name, func(t *testing.T) {
			const few, many = 1000, 16_000
			mean := func(n int) time.Duration {
				took, times := time.Duration(0), time.Duration(0)
				for ; took < 30*time.Millisecond; times++ { // clocks may tick each ten
					took += detach(n, c.priorities(n))
				}
				return took / times
			}
			if a, b := mean(few), mean(many); b > 5*many/few*a {
				t.Errorf("%d consumers take %s, %d take %s", few, a, many, b)
			}
		})
	}
}
