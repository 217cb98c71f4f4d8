package exchange

import "leveret/amqp"

// The arguments by which an exchange recognizes duplicates: LavinMQ's, and the type of the community's plugin.
const (
	DeduplicationType     = "x-message-deduplication" // a fanout exchange that looks for duplicates
	ArgDeduplication      = "x-message-deduplication" // true makes any exchange look for them
	ArgCacheSize          = "x-cache-size"            // most keys that are remembered
	ArgCacheTTL           = "x-cache-ttl"             // ms for which they are
	ArgDeduplicationField = "x-deduplication-header"  // name of the header that holds the key
)

func init() {
	// That it looks for duplicates is not the table's matter: see Settings.
	types[DeduplicationType] = func(amqp.Table) (table, error) { return new(fanout), nil }
}

// Deduplicates reports whether an exchange that is declared so looks for duplicates.
func (o *Options) Deduplicates() bool {
	v, _ := o.Arguments.Get(ArgDeduplication)
	asked, _ := v.(bool)
	return asked || o.Type == DeduplicationType
}
