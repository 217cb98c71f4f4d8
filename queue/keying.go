package queue

// Keying says by what a queue tells its messages apart, for groups and for fairness.
type Keying struct {
	Source KeySource
	Name   string // of the header or property
}

// KeySource is where the key of a message is found. A message that has none there has the empty key.
type KeySource uint8

// The sources of keys.
const (
	NoKey        KeySource = iota // messages are not told apart
	ByHeader                      // the header of that Name
	ByProperty                    // the property of that Name, as "correlation-id"
	ByUser                        // the user who published it
	ByConnection                  // the connection it came by
)

// Deduplication says how a queue recognizes messages that it had before. The zero value: it does not.
type Deduplication struct {
	Enabled bool
	Header  string // that holds the key; a message without it is no duplicate
	Size    int    // keys that are remembered
	TTL     int64  // ms that a key is remembered; 0: until newer ones take its place
}
