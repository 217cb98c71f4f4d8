package management

import (
	"fmt"
	"strconv"
	"time"
)

// window is the curve that a client asks for: how far back, in which steps.
type window struct{ age, step time.Duration }

// windows are those of one request, one a kind of number; nil where it asked for none.
type windows struct{ messages, data, lengths, node *window }

// maxPoints bounds how many points a curve has, and so what one request can make the broker build.
const maxPoints = 500

// maxReach bounds both parameters, in seconds: a hundred years. Nothing is kept for so long; beyond a few times that, a [time.Duration] would
// overflow, and steps become so short that maxPoints no longer holds.
const maxReach = 100 * 365 * 24 * 60 * 60

// windowsOf reads the parameters msg_rates_age and msg_rates_incr, in seconds, and those of the other kinds.
func windowsOf(c *call) (w windows, err error) {
	for _, kind := range []struct {
		prefix string
		to     **window
	}{{"msg_rates", &w.messages}, {"data_rates", &w.data}, {"lengths", &w.lengths}, {"node_stats", &w.node}} {
		if *kind.to, err = windowOf(c, kind.prefix); err != nil {
			return w, err
		}
	}
	return w, nil
}

// windowOf reads one pair. What is no number is ignored.
func windowOf(c *call, prefix string) (*window, error) {
	age, err := strconv.Atoi(c.query.Get(prefix + "_age"))
	if err != nil {
		return nil, nil
	}
	step, err := strconv.Atoi(c.query.Get(prefix + "_incr"))
	if err != nil {
		return nil, nil
	}
	if age <= 0 || step <= 0 || age > maxReach || step > maxReach || age/step > maxPoints {
		return nil, badRequest(fmt.Sprintf("Invalid range parameters: age %d, incr %d", age, step))
	}
	return &window{time.Duration(age) * time.Second, time.Duration(step) * time.Second}, nil
}

// any is the longest of the windows, nil if there is none: whoever asks for one curve of an object is likely to ask for others.
func (w *windows) any() (longest *window) {
	for _, one := range []*window{w.messages, w.data, w.lengths, w.node} {
		if one != nil && (longest == nil || one.age+one.step > longest.age+longest.step) {
			longest = one
		}
	}
	return longest
}
