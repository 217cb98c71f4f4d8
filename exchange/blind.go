package exchange

import "leveret/amqp"

// HeaderBlindCopy is the header that holds routing keys that no consumer may see.
const HeaderBlindCopy = "BCC"

// WithoutBlindCopy is a copy of a message without its BCC header.
func WithoutBlindCopy(m amqp.Message) amqp.Message {
	var index amqp.PropertyIndex
	raw := m.Properties()
	if err := amqp.ScanProperties(raw, &index); err != nil {
		return m.WithProperties(raw) // it was scanned when it came in
	}
	return m.WithProperties(amqp.RemoveHeader(nil, raw, &index, HeaderBlindCopy))
}
