package perf

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// numberedSize is what a body needs to carry, behind its stamp, the producer's number and the message's among those of the producer.
const numberedSize = stampSize + 16

// number writes into message i of the template who it is.
func (t *template) number(i int, producer, number uint64) {
	body := t.bytes[t.bodies[i]+stampSize:]
	binary.BigEndian.PutUint64(body, producer)
	binary.BigEndian.PutUint64(body[8:], number)
}

// identity names a message for good.
type identity struct {
	stream
	number uint64
}

// stream is the messages of one producer of one run.
type stream struct{ run, producer uint64 }

// identityOf takes a message's identity out of the beginning of its body.
func identityOf(body []byte) (id identity, ok bool) {
	if len(body) < numberedSize {
		return id, false
	}
	id.run = binary.BigEndian.Uint64(body)
	id.producer = binary.BigEndian.Uint64(body[stampSize:])
	id.number = binary.BigEndian.Uint64(body[stampSize+8:])
	return id, true
}

// span is an inclusive range of numbers.
type span struct{ first, last uint64 }

// spans collects numbers, which mostly come in order.
type spans []span

func (s *spans) add(n uint64) {
	if i := len(*s) - 1; i >= 0 && (*s)[i].last+1 == n {
		(*s)[i].last = n
		return
	}
	*s = append(*s, span{n, n})
}

// joined returns the numbers in order.
func (s spans) joined() (all spans) {
	for _, one := range slices.SortedFunc(slices.Values(s), func(a, b span) int { return cmp.Compare(a.first, b.first) }) {
		if i := len(all) - 1; i >= 0 && one.first <= all[i].last+1 {
			all[i].last = max(all[i].last, one.last)
		} else {
			all = append(all, one)
		}
	}
	return all
}

// writeConfirmed writes what was confirmed, a line a range: run, producer, first and last number.
func (r *run) writeConfirmed() error {
	if r.options.ConfirmedLog == nil {
		return nil
	}
	w := bufio.NewWriter(r.options.ConfirmedLog)
	for i, p := range r.producers {
		for _, s := range p.window.confirms.tags.joined() {
			fmt.Fprintf(w, "%016x %d %d %d\n", r.id, i, s.first, s.last)
		}
	}
	return w.Flush()
}

// readConfirmed reads what runs have written.
func readConfirmed(in io.Reader) (map[stream]spans, error) {
	confirmed := make(map[stream]spans)
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		var of stream
		var s span
		if _, err := fmt.Sscanf(lines.Text(), "%x %d %d %d", &of.run, &of.producer, &s.first, &s.last); err != nil || s.first == 0 || s.last < s.first {
			return nil, fmt.Errorf("line %d of the log of confirms is not one: %q", n, lines.Text())
		}
		confirmed[of] = append(confirmed[of], s)
	}
	for of, s := range confirmed {
		confirmed[of] = s.joined()
	}
	return confirmed, lines.Err()
}
