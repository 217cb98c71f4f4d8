package exchange

import (
	"errors"
	"slices"
	"strconv"

	"leveret/amqp"
)

const (
	argHashHeader   = "hash-header"
	argHashProperty = "hash-property"
	argHashOn       = "x-hash-on"   // LavinMQ's name of hash-header
	argAlgorithm    = "x-algorithm" // LavinMQ's choice between the two ways of sharing

	// maxWeight is the largest weight of a binding.
	maxWeight = 10_000
)

func init() {
	types["x-consistent-hash"] = newConsistentHash
}

// consistentHash leads to one destination, the same for the same key (or header, or property), to each for a share of the keys that its weight
// gives it. The weight is the binding key, as a decimal number.
type consistentHash struct {
	source func(*Routing) uint64
	circle circle
	shares map[Destination]*share
}

// circle shares the hashes out. Few of them move when a share comes or goes.
type circle interface {
	add(*share)
	remove(*share)
	// pick returns the share that a hash belongs to, nil when there is none.
	pick(hash uint64) *share
}

// share is what one destination has. Of several bindings to it the first counts, as long as it is there.
type share struct {
	destination Destination
	bindings    []*Binding
	weight      int
}

func newConsistentHash(arguments amqp.Table) (table, error) {
	t := &consistentHash{source: hashKeys, shares: make(map[Destination]*share)}
	header, byHeader := arguments.Get(argHashHeader)
	property, byProperty := arguments.Get(argHashProperty)
	if byHeader && byProperty {
		return nil, amqp.HashArgumentsExclusive()
	}
	if !byHeader && !byProperty {
		header, byHeader = arguments.Get(argHashOn)
	}
	if byHeader {
		name, ok := header.(string)
		if !ok {
			return nil, amqp.HashHeaderType(header)
		}
		t.source = hashHeader(name)
	}
	if byProperty {
		name, _ := property.(string)
		if t.source = hashProperties[name]; t.source == nil {
			return nil, amqp.UnsupportedHashProperty(amqp.FormatValue(property))
		}
	}
	var err error
	t.circle, err = newCircle(arguments)
	return t, err
}

func newCircle(arguments amqp.Table) (circle, error) {
	v, ok := arguments.Get(argAlgorithm)
	if !ok {
		return new(buckets), nil
	}
	switch v {
	case "jump":
		return new(buckets), nil
	case "ring":
		return new(ring), nil
	}
	return nil, amqp.UnsupportedHashAlgorithm(v)
}

func (*consistentHash) keyed() bool { return false }

func (*consistentHash) check(b *Binding) error {
	_, err := parseWeight(b.Key)
	return err
}

func parseWeight(key string) (int, error) {
	n, err := strconv.Atoi(key)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, amqp.WeightNoInteger(key)
	case n < 1: // what is out of range is the nearest number in range
		return 0, amqp.WeightTooSmall()
	case n > maxWeight:
		return 0, amqp.WeightTooLarge(maxWeight)
	}
	return n, nil
}

func (t *consistentHash) add(b *Binding) {
	if s := t.shares[b.Destination]; s != nil {
		s.bindings = append(s.bindings, b)
		return
	}
	s := &share{destination: b.Destination, bindings: []*Binding{b}}
	s.weight, _ = parseWeight(b.Key) // Bind has checked it
	t.shares[b.Destination] = s
	t.circle.add(s)
}

func (t *consistentHash) remove(b *Binding) {
	s := t.shares[b.Destination]
	counted := s.bindings[0] == b
	s.bindings = slices.DeleteFunc(s.bindings, func(other *Binding) bool { return other == b })
	if !counted {
		return
	}
	t.circle.remove(s)
	if len(s.bindings) == 0 {
		delete(t.shares, b.Destination)
		return
	}
	s.weight, _ = parseWeight(s.bindings[0].Key)
	t.circle.add(s)
}

func (t *consistentHash) route(r *Routing) {
	if s := t.circle.pick(t.source(r)); s != nil {
		r.reach(s.destination)
	}
}
