package amqp

import (
	"fmt"
	"strconv"
)

// emptyFrame is how many octets of a frame are not payload; RabbitMQ's texts name the limit without them.
const emptyFrame = 8

// FrameTooLarge is the error of a frame whose header announces a payload of size octets where frameMax is the negotiated limit.
func FrameTooLarge(frameType byte, size, frameMax uint32) *Error {
	return newErrorf(CodeFrameError, "%s: {frame_too_large,%d,%d}", payloadText(frameType, nil), size, frameMax-emptyFrame)
}

// InvalidFrameEnd is the error of a frame whose last octet is not the frame end.
func InvalidFrameEnd(frameType byte, payload []byte, end byte) *Error {
	return newErrorf(CodeFrameError, "%s: {invalid_frame_end_marker,%d}", payloadText(frameType, payload), end)
}

// UnknownFrame is the error of a frame of unknown type, or whose payload cannot be one of its type.
func UnknownFrame(frameType byte, payload []byte) *Error {
	return newErrorf(CodeFrameError, "%s: unknown_frame", payloadText(frameType, payload))
}

// UnexpectedFrame is the error of a frame on a channel where its type has no business: content on channel 0, a heartbeat elsewhere.
func UnexpectedFrame(frameType byte, payload []byte) *Error {
	return newError(CodeUnexpectedFrame, payloadText(frameType, payload))
}

// payloadText shows a frame's type and the head of its payload.
func payloadText(frameType byte, payload []byte) string {
	const shown = 16
	which := "all octets"
	if len(payload) > shown {
		which, payload = "first "+strconv.Itoa(shown)+" octets", payload[:shown]
	}
	return fmt.Sprintf("type %d, %s = %s", frameType, which, erlangBinary(payload))
}

// ExpectedMethod is the error of a header or body frame that no method announced.
func ExpectedMethod() *Error {
	return newError(CodeUnexpectedFrame, "expected method frame, got non method frame instead")
}

// ExpectedHeader is the error of any other frame, or of a header with a weight, where the content header of that class must come.
func ExpectedHeader(class uint16) *Error {
	return newErrorf(CodeUnexpectedFrame, "expected content header for class %d, got non content header frame instead", class)
}

// ExpectedHeaderOfClass is the error of a content header of another class than its method's.
func ExpectedHeaderOfClass(class, got uint16) *Error {
	return newErrorf(CodeUnexpectedFrame, "expected content header for class %d, got one for class %d instead", class, got)
}

// ExpectedBody is the error of any other frame where a body frame must come.
func ExpectedBody() *Error {
	return newError(CodeUnexpectedFrame, "expected content body, got non content body frame instead")
}

// BodyTooLong is the error of a body frame that holds more than what is left of the announced size.
func BodyTooLong() *Error {
	return newError(CodeFrameError, "content body frame exceeds remaining content size")
}

// BodySizeTooLarge is the error of a content header that announces more than any message may have.
func BodySizeTooLarge(size, limit uint64) *Error {
	return newErrorf(CodeFrameError, "content body size %d exceeds maximum allowed size %d", size, limit)
}

// CannotDecode is the error of method arguments, properties or a field table that are cut short, too long or malformed.
func CannotDecode(octets []byte) *Error {
	return newErrorf(CodeFrameError, "cannot decode %s", erlangBinary(octets))
}

// TooManyValues is the error of a field table that holds more values than are worth reading.
func TooManyValues(limit int) *Error {
	return newErrorf(CodeFrameError, "a field table holds more than %d values", limit)
}

// MalformedUTF8 is the error of a name that is not UTF-8.
func MalformedUTF8() *Error {
	return newError(CodeFrameError, "Malformed UTF-8 in shortstr")
}

// UnknownMethod is the error of a class or method number that the protocol does not have.
func UnknownMethod(id MethodID) *Error {
	return newErrorf(CodeNotImplemented, "unknown method %s", formatMethodNumbers(id)).At(id)
}

// UnimplementedMethod is the error of a method that the server knows but never takes, such as one that only servers send.
func UnimplementedMethod() *Error {
	return newError(CodeCommandInvalid, "unimplemented method")
}
