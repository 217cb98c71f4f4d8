package amqp

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// textParser is the visitor that parses. The first fault sticks, as in cursor.
type textParser struct {
	rest string
	err  error
}

// fail notes the first fault and drops the rest.
func (p *textParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
	p.rest = ""
}

// finish is the fault, or that of text which is left over.
func (p *textParser) finish() error {
	if p.rest = strings.TrimLeft(p.rest, " "); p.rest != "" {
		p.fail("unexpected %.40q: an unknown field, or one out of order", p.rest)
	}
	return p.err
}

// word reads up to the next blank.
func (p *textParser) word() string {
	word, rest, _ := strings.Cut(p.rest, " ")
	p.rest = rest
	return word
}

// accept reads the text s, if it comes next.
func (p *textParser) accept(s string) bool {
	rest, ok := strings.CutPrefix(p.rest, s)
	p.rest = rest
	return ok
}

// expect reads the text s, which must come next.
func (p *textParser) expect(s string) {
	if p.err == nil && !p.accept(s) {
		p.fail("%q expected before %.40q", s, p.rest)
	}
}

// field tells whether the next field has that name, and reads the name.
func (p *textParser) field(name string) bool {
	p.rest = strings.TrimLeft(p.rest, " ")
	return p.accept(name + "=")
}

// bare reads what needs no quotes: numbers and simple names.
func (p *textParser) bare() string {
	n := 0
	for n < len(p.rest) && (bareOctet(p.rest[n]) || p.rest[n] == '+') {
		n++
	}
	word := p.rest[:n]
	p.rest = p.rest[n:]
	return word
}

func (p *textParser) unsigned(bits int) uint64 {
	word := p.bare()
	n, err := strconv.ParseUint(word, 10, bits)
	if err != nil && p.err == nil {
		p.fail("number expected, not %q", word)
	}
	return n
}

func (p *textParser) signed(bits int) int64 {
	word := p.bare()
	n, err := strconv.ParseInt(word, 10, bits)
	if err != nil && p.err == nil {
		p.fail("number expected, not %q", word)
	}
	return n
}

// quoted reads a text in quotes.
func (p *textParser) quoted() string {
	literal, err := strconv.QuotedPrefix(p.rest)
	if err != nil {
		p.fail("text in quotes expected before %.40q", p.rest)
		return ""
	}
	p.rest = p.rest[len(literal):]
	text, _ := strconv.Unquote(literal) // QuotedPrefix has checked it
	return text
}

// short-string fields hold no more than 255 octets, which every text but a long string is.
func (p *textParser) shortQuoted() string {
	text := p.quoted()
	if len(text) > 255 {
		p.fail("text of more than 255 octets")
	}
	return text
}

func (p *textParser) bit(name string, v *bool) {
	if p.field(name) {
		*v = p.unsigned(1) != 0
	}
}

func (p *textParser) octet(name string, v *uint8) {
	if p.field(name) {
		*v = uint8(p.unsigned(8))
	}
}

func (p *textParser) short(name string, v *uint16) {
	if p.field(name) {
		*v = uint16(p.unsigned(16))
	}
}

func (p *textParser) long(name string, v *uint32) {
	if p.field(name) {
		*v = uint32(p.unsigned(32))
	}
}

func (p *textParser) longlong(name string, v *uint64) {
	if p.field(name) {
		*v = p.unsigned(64)
	}
}

func (p *textParser) timestamp(name string, v *Timestamp) {
	if p.field(name) {
		*v = Timestamp(p.unsigned(64))
	}
}

func (p *textParser) text(name string, v *string) {
	if p.field(name) {
		*v = p.shortQuoted()
	}
}

func (p *textParser) octets(name string, v *[]byte) {
	if p.field(name) {
		*v = []byte(p.quoted())
	}
}

func (p *textParser) table(name string, v *Table) {
	if p.field(name) {
		*v = p.tableValue(MaxTableDepth)
	}
}

func (p *textParser) property(name string, flag uint16, flags *uint16) bool {
	p.rest = strings.TrimLeft(p.rest, " ")
	if !strings.HasPrefix(p.rest, name+"=") {
		return false
	}
	*flags |= flag
	return true
}

// tableValue reads a table in braces; depth is how many levels are left.
func (p *textParser) tableValue(depth int) Table {
	p.nest(depth)
	p.expect("{")
	t := Table{}
	for p.err == nil && !p.accept("}") {
		if len(t) > 0 {
			p.expect(" ")
		}
		t = append(t, Field{Name: p.fieldName(), Value: p.taggedValue(depth)})
	}
	return t
}

// fieldName reads the name of a table's field and the equals sign behind it.
func (p *textParser) fieldName() string {
	var name string
	if strings.HasPrefix(p.rest, `"`) {
		name = p.shortQuoted()
	} else {
		name = p.bare()
	}
	p.expect("=")
	return name
}

// nest fails when no level is left.
func (p *textParser) nest(depth int) {
	if depth == 0 {
		p.fail("nested too deep")
	}
}

func (p *textParser) items(depth int) Array {
	p.nest(depth)
	p.expect("[")
	items := Array{}
	for p.err == nil && !p.accept("]") {
		if len(items) > 0 {
			p.expect(" ")
		}
		items = append(items, p.taggedValue(depth))
	}
	return items
}

// taggedValue reads a value with its tag before it.
func (p *textParser) taggedValue(depth int) any {
	if p.accept("V") {
		return nil
	}
	if len(p.rest) < 2 {
		p.fail("value expected before %q", p.rest)
		return nil
	}
	tag := p.rest[0]
	p.rest = p.rest[1:]
	p.expect(":")
	switch tag {
	case 't':
		return p.unsigned(1) != 0
	case 'S':
		return p.quoted()
	case 'x':
		return []byte(p.quoted())
	case 'f':
		return math.Float32frombits(uint32(p.floatBits(32)))
	case 'd':
		return math.Float64frombits(p.floatBits(64))
	case 'D':
		value := uint32(p.unsigned(32))
		p.expect("/")
		return Decimal{Scale: uint8(p.unsigned(8)), Value: value}
	case 'T':
		return Timestamp(p.unsigned(64))
	case 'A':
		return p.items(depth - 1)
	case 'F':
		return p.tableValue(depth - 1)
	}
	return p.integer(tag)
}

// integer reads the integer that the tag announces.
func (p *textParser) integer(tag byte) any {
	switch tag {
	case 'b':
		return int8(p.signed(8))
	case 'B':
		return uint8(p.unsigned(8))
	case 's':
		return int16(p.signed(16))
	case 'u':
		return uint16(p.unsigned(16))
	case 'I':
		return int32(p.signed(32))
	case 'i':
		return uint32(p.unsigned(32))
	case 'l', 'L':
		return p.signed(64)
	}
	p.fail("unknown tag %q", tag)
	return nil
}

// floatBits reads a float, or its bits in hexadecimal.
func (p *textParser) floatBits(width int) uint64 {
	word := p.bare()
	if digits, ok := strings.CutPrefix(word, "0x"); ok {
		bits, err := strconv.ParseUint(digits, 16, width)
		if err != nil {
			p.fail("bits of a float expected, not %q", word)
		}
		return bits
	}
	v, err := strconv.ParseFloat(word, width)
	if err != nil {
		p.fail("float expected, not %q", word)
	}
	if width == 32 {
		return uint64(math.Float32bits(float32(v)))
	}
	return math.Float64bits(v)
}
