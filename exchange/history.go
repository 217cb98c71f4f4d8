package exchange

import (
	"bytes"
	"sync"

	"leveret/amqp"
)

const (
	argHistoryLength     = "x-recent-history-length"
	headerHistoryNoStore = "x-recent-history-no-store"
	defaultHistoryLength = 20
)

func init() {
	types["x-recent-history"] = newHistory
}

// history leads to all destinations, as fanout does, and keeps the last messages for those that are bound later. They are in memory alone.
type history struct {
	fanout
	length int

	mu     sync.Mutex // guards the rest: messages are routed under the exchange's read lock
	kept   []amqp.Message
	oldest int // its index, once kept is full
}

func newHistory(arguments amqp.Table) (table, error) {
	length := int64(defaultHistoryLength)
	if v, ok := arguments.Get(argHistoryLength); ok {
		if length, ok = amqp.Integer(v); !ok || length <= 0 {
			return nil, amqp.InvalidHistoryLength(v)
		}
	}
	return &history{length: int(length)}, nil
}

func (*history) keyed() bool { return false }

func (t *history) route(r *Routing) {
	if len(r.Message) > 0 && !noStore(r.Headers) {
		t.keep(visible(r.Message, r.Headers))
	}
	t.fanout.route(r)
}

func noStore(headers []byte) bool {
	if len(headers) == 0 {
		return false
	}
	tag, value, ok := amqp.FindField(headers, headerHistoryNoStore)
	return ok && tag == 't' && value[0] != 0
}

// visible is a copy of the message as consumers may see it: the keys of BCC are nobody's business.
func visible(m amqp.Message, headers []byte) amqp.Message {
	if len(headers) > 0 {
		if _, _, blind := amqp.FindField(headers, HeaderBlindCopy); blind {
			return WithoutBlindCopy(m)
		}
	}
	return bytes.Clone(m)
}

func (t *history) keep(m amqp.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.kept) < t.length {
		t.kept = append(t.kept, m)
		return
	}
	t.kept[t.oldest] = m
	t.oldest = (t.oldest + 1) % t.length
}

func (t *history) recall() []amqp.Message {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append(append([]amqp.Message(nil), t.kept[t.oldest:]...), t.kept[:t.oldest]...)
}
