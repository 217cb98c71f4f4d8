package amqp

// ExtraKeys returns the routing keys in the CC and BCC headers of an encoded table that CheckTable has passed, nil for none, and whether there
// is a BCC header, which nobody may see. It allocates only if there are such headers. The error is an *Error 406: the headers must be arrays; their
// items that are no strings do not count.
//
// [basic.publish CC, BCC]: an extension of RabbitMQ
func ExtraKeys(headers []byte) (keys [][]byte, blind bool, err error) {
	if len(headers) == 0 {
		return nil, false, nil
	}
	_, _, copied := FindField(headers, "CC")
	_, _, blind = FindField(headers, "BCC")
	if !copied && !blind {
		return nil, false, nil
	}
	table, _, err := DecodeTable(headers)
	if err != nil {
		return nil, false, err
	}
	for _, name := range [...]string{"CC", "BCC"} {
		v, ok := table.Get(name)
		if !ok {
			continue
		}
		list, ok := v.(Array)
		if !ok {
			return nil, false, UnacceptableHeader(name, TypeName(v))
		}
		for _, item := range list {
			if key, ok := item.(string); ok {
				keys = append(keys, []byte(key))
			}
		}
	}
	return keys, blind, nil
}
