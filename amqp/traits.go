package amqp

// Traits are a few facts about a message, for those who have to know them when the message itself may not be in the processor's cache any more.
type Traits uint8

// Traits returns the message's.
func (m Message) Traits() Traits { return Traits(m[0]) }

// Persistent reports whether the publisher set delivery mode 2.
func (t Traits) Persistent() bool { return t&messagePersistent != 0 }

// Expires reports whether the publisher set an expiration.
func (t Traits) Expires() bool { return t&messageHasExpiration != 0 }

// OwnDeadLetter reports whether a header of the message names the exchange that it goes to when it dies.
func (t Traits) OwnDeadLetter() bool { return t&messageOwnDeadLetter != 0 }
