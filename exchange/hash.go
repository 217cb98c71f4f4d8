package exchange

import (
	"encoding/binary"
	"math/bits"

	"leveret/amqp"
)

// The primes are those of the 64-bit xxHash; what matters is that they are odd and mix well. The hash must stay what it is: a key has to come
// to the same queue after a restart, and after an upgrade.
const (
	hashPrime1 = 0x9e3779b185ebca87
	hashPrime2 = 0xc2b2ae3d27d4eb4f
)

// hash is a 64-bit hash of some bytes, on top of that of others: 8 bytes at a time, for keys are hashed once a message. It is none to rely on
// against people who look for collisions: who does that gets an uneven share, no more.
func hash(h uint64, b []byte) uint64 {
	h ^= uint64(len(b)) * hashPrime2
	for len(b) >= 8 {
		h = mix(h^binary.LittleEndian.Uint64(b), hashPrime1)
		b = b[8:]
	}
	var rest uint64
	for i, c := range b {
		rest |= uint64(c) << (8 * i)
	}
	return mix(mix(h^rest, hashPrime1), hashPrime2)
}

// mix multiplies to 128 bits and folds them.
func mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a^hashPrime2, b)
	return high ^ low
}

// hashKeys hashes all routing keys of a message.
func hashKeys(r *Routing) uint64 {
	h := uint64(0)
	for _, key := range r.Keys {
		h = hash(h, key)
	}
	return h
}

// hashHeader hashes the value of a header, equal values alike whatever their encoding. A message without it hashes like all others without.
func hashHeader(name string) func(*Routing) uint64 {
	return func(r *Routing) uint64 {
		if len(r.Headers) == 0 {
			return 0
		}
		tag, value, ok := amqp.FindField(r.Headers, name)
		if !ok {
			return 0
		}
		r.value = amqp.AppendCanonical(r.value[:0], tag, value)
		return hash(1, r.value)
	}
}

// hashProperties are the properties that can be hashed.
var hashProperties = map[string]func(*Routing) uint64{
	"correlation_id": func(r *Routing) uint64 { return hashText(r, amqp.FlagCorrelationID) },
	"message_id":     func(r *Routing) uint64 { return hashText(r, amqp.FlagMessageID) },
	"timestamp":      hashTimestamp,
}

func hashText(r *Routing, flag uint16) uint64 {
	switch {
	case r.Properties == nil || !r.Properties.Has(flag):
		return 0
	case flag == amqp.FlagMessageID:
		return hash(1, r.Properties.MessageID)
	}
	return hash(1, r.Properties.CorrelationID)
}

func hashTimestamp(r *Routing) uint64 {
	if r.Properties == nil || !r.Properties.Has(amqp.FlagTimestamp) {
		return 0
	}
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], r.Properties.Timestamp)
	return hash(1, b[:])
}
