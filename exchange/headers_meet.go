package exchange

import "leveret/amqp"

// headerField is the value of a message's header as on the wire.
type headerField struct {
	tag   byte
	value []byte
}

// manyCriteria is from how many criteria on a rule is worth an index of the message's headers. Looking through thousands of headers for each of
// thousands of criteria would take seconds a message.
const manyCriteria = 16

// meets reports whether the message's headers meet all criteria.
func (r *Routing) meets(criteria []criterion) bool {
	if len(criteria) >= manyCriteria {
		r.indexFields()
	}
	for i := range criteria {
		c := &criteria[i]
		f, ok := r.field(c.name, len(criteria))
		if !ok {
			return false
		}
		if c.present {
			continue
		}
		r.value = amqp.AppendCanonical(r.value[:0], f.tag, f.value)
		if string(r.value) != c.value {
			return false
		}
	}
	return true
}

// field finds a header: in the index, where one was made for so many criteria.
func (r *Routing) field(name string, criteria int) (f headerField, ok bool) {
	if criteria >= manyCriteria {
		f, ok = r.fields[name]
		return f, ok
	}
	f.tag, f.value, ok = amqp.FindField(r.Headers, name)
	return f, ok
}

// mostIndexed is up to how many headers the memory of an index is kept for the next message.
const mostIndexed = 256

// dropIndex forgets the message's headers: nothing may alias them when it has been routed.
func (r *Routing) dropIndex() {
	if len(r.fields) > mostIndexed {
		r.fields = nil
	}
	clear(r.fields)
}

// indexFields files the message's headers by their names, once a message and exchange. Of several fields of one name the first counts.
func (r *Routing) indexFields() {
	if len(r.fields) > 0 {
		return
	}
	if r.fields == nil {
		r.fields = make(map[string]headerField)
	}
	amqp.EachField(r.Headers, func(name []byte, tag byte, value []byte) bool {
		if _, known := r.fields[string(name)]; !known {
			r.fields[string(name)] = headerField{tag, value}
		}
		return true
	})
}
