package amqp

import (
	"fmt"
	"strconv"
)

// Methods and properties have a form as text, a line without the end of line, which logs, dialogue tests and the README use:
//
//	queue.declare queue="jobs" durable=1 arguments={x-max-length=I:100}
//
// Fields stand in the order of the wire. Bits that are not set and empty tables of arguments are left out; any field that is left out reads
// as zero. In tables each value has its tag before it: {name=S:"text" list=A:[t:1 V] "odd name"=x:"\xff"}.

// visitor is shown the fields of a method or of properties, one after the other. Printing and parsing are the two visitors.
type visitor interface {
	bit(name string, v *bool)
	octet(name string, v *uint8)
	short(name string, v *uint16)
	long(name string, v *uint32)
	longlong(name string, v *uint64)
	timestamp(name string, v *Timestamp)
	text(name string, v *string)
	octets(name string, v *[]byte)
	table(name string, v *Table)
}

// propertyVisitor is a visitor of properties.
type propertyVisitor interface {
	visitor
	// property tells whether the property shall be shown; a parser sets its flag when the text goes on with it.
	property(name string, flag uint16, flags *uint16) bool
}

// AppendText appends the method as text.
func AppendText(dst []byte, m Method) []byte {
	p := printer{dst: append(dst, m.ID().String()...)}
	m.visit(&p)
	return p.dst
}

// AppendText appends the properties as text: their names and values.
func (p *Properties) AppendText(dst []byte) []byte {
	out := printer{dst: dst, emptyTables: true}
	p.visit(&out)
	return out.dst
}

// ParseText reads a method from its text. A field that is out of order, unknown or malformed is an error.
func ParseText(text string) (Method, error) {
	p := textParser{rest: text}
	name := p.word()
	m := NewMethod(methodByName(name))
	if m == nil {
		return nil, fmt.Errorf("unknown method %q", name)
	}
	m.visit(&p)
	return m, p.finish()
}

// ParseProperties reads properties from their text.
func ParseProperties(text string) (Properties, error) {
	p := textParser{rest: text}
	var properties Properties
	properties.visit(&p)
	return properties, p.finish()
}

// printer is the visitor that prints.
type printer struct {
	dst         []byte
	emptyTables bool
}

func (p *printer) name(name string) {
	if len(p.dst) > 0 {
		p.dst = append(p.dst, ' ')
	}
	p.dst = append(append(p.dst, name...), '=')
}

func (p *printer) number(name string, v uint64) {
	p.name(name)
	p.dst = strconv.AppendUint(p.dst, v, 10)
}

func (p *printer) bit(name string, v *bool) {
	if *v {
		p.number(name, 1)
	}
}

func (p *printer) octet(name string, v *uint8)         { p.number(name, uint64(*v)) }
func (p *printer) short(name string, v *uint16)        { p.number(name, uint64(*v)) }
func (p *printer) long(name string, v *uint32)         { p.number(name, uint64(*v)) }
func (p *printer) longlong(name string, v *uint64)     { p.number(name, *v) }
func (p *printer) timestamp(name string, v *Timestamp) { p.number(name, uint64(*v)) }

func (p *printer) text(name string, v *string) {
	p.name(name)
	p.dst = strconv.AppendQuote(p.dst, *v)
}

func (p *printer) octets(name string, v *[]byte) {
	p.name(name)
	p.dst = strconv.AppendQuote(p.dst, string(*v))
}

func (p *printer) table(name string, v *Table) {
	if len(*v) > 0 || p.emptyTables {
		p.name(name)
		p.dst = appendTableText(p.dst, *v)
	}
}

func (p *printer) property(_ string, flag uint16, flags *uint16) bool { return *flags&flag != 0 }
