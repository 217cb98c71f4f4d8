package amqp

// This file holds the errors of exchange types and of the bindings they take.

// UnknownExchangeType is the error of declaring an exchange of a type that the broker does not know.
func UnknownExchangeType(name string) *Error {
	return newErrorf(CodePreconditionFailed, "unknown exchange type '%s'", name)
}

// InvalidExchangeType is the error of declaring an exchange of a type whose name means something else.
func InvalidExchangeType(name string) *Error {
	return newErrorf(CodePreconditionFailed, "invalid exchange type '%s'", name)
}

// TooManyHashes is the error of a topic binding key with more than two "#".
func TooManyHashes(key string, hashes int) *Error {
	return newErrorf(CodePreconditionFailed, "Topic binding key '%s' uses %d '#' wildcards, at most 2 are allowed", key, hashes)
}

// InvalidXMatch is the error of a headers binding whose x-match is an unknown word.
func InvalidXMatch(value string) *Error {
	return newErrorf(CodePreconditionFailed, "Invalid x-match field value %s; expected all, any, all-with-x, or any-with-x", erlangBinary(value))
}

// InvalidXMatchType is the error of a headers binding whose x-match is no string.
func InvalidXMatchType(v any) *Error {
	return newErrorf(CodePreconditionFailed, "Invalid x-match field type %s (value %s); expected longstr", TypeName(v), FormatValue(v))
}

// WeightTooSmall is the error of a consistent hash binding with a weight below 1.
func WeightTooSmall() *Error {
	return newError(CodePreconditionFailed, "The binding key must be greater than 0")
}

// WeightTooLarge is the error of a consistent hash binding with a weight over the limit.
func WeightTooLarge(limit int) *Error {
	return newErrorf(CodePreconditionFailed, "The binding key must not exceed %d", limit)
}

// WeightNoInteger is the error of a consistent hash binding whose key is no number.
func WeightNoInteger(key string) *Error {
	return newErrorf(CodePreconditionFailed, "The binding key must be an integer: %s", erlangBinary(key))
}

// HashArgumentsExclusive is the error of a consistent hash exchange with both of its arguments.
func HashArgumentsExclusive() *Error {
	return newError(CodePreconditionFailed, "hash-header and hash-property are mutually exclusive")
}

// UnsupportedHashProperty is the error of a consistent hash exchange over a property that it cannot hash.
func UnsupportedHashProperty(property string) *Error {
	return newErrorf(CodePreconditionFailed, "Unsupported property: %s", property)
}

// BindingKeyNotEmpty is the error of binding to a local random exchange with a key.
func BindingKeyNotEmpty(key string) *Error {
	return newErrorf(CodePreconditionFailed, "Non empty binding '%s' key not permitted", key)
}

// QueueTypeNotValid is the error of binding a queue of the wrong type to a local random exchange.
func QueueTypeNotValid(queueType string) *Error {
	return newErrorf(CodePreconditionFailed, "Queue type %s not valid for this exchange type", queueType)
}

// DestinationNotFound is the error of binding what is not there to a local random exchange.
func DestinationNotFound() *Error {
	return newError(CodePreconditionFailed, "Destination not found")
}

// InvalidHistoryLength is the error of a recent history exchange whose length is no positive integer.
func InvalidHistoryLength(v any) *Error {
	return newErrorf(CodePreconditionFailed, "Invalid argument %s, 'x-recent-history-length' must be a positive integer", erlangTerm(v))
}

// InvalidDelayedType is the error of a delayed message exchange without the type that it routes by.
func InvalidDelayedType() *Error {
	return newError(CodePreconditionFailed, "Invalid argument, 'x-delayed-type' must be an existing exchange type")
}
