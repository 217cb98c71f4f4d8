package amqp

// This file holds the errors of logging in, tuning, opening and ending a connection.

// InvalidResponse is the error of a SASL response that does not have its mechanism's form.
func InvalidResponse(mechanism string) *Error {
	return newErrorf(CodeSyntaxError, "invalid response for authentication mechanism '%s'", mechanism)
}

// UnknownMechanism is the error of a SASL mechanism that the server does not know.
func UnknownMechanism(name string) *Error {
	return newErrorf(CodeCommandInvalid, "unknown authentication mechanism '%s'", name)
}

// InvalidMechanism is the error of a SASL mechanism that the server knows but did not offer.
func InvalidMechanism(name string) *Error {
	return newErrorf(CodeCommandInvalid, "invalid authentication mechanism '%s'", name)
}

// LoginRefused is the error of a login that failed; it tells nothing of why.
func LoginRefused(mechanism string) *Error {
	return newErrorf(CodeAccessRefused,
		"Login was refused using authentication mechanism %s. For details see the broker logfile.", mechanism)
}

// TunedTooLow is the error of a limit in connection.tune-ok that is below the least allowed value; name is "frame_max" or "channel_max".
func TunedTooLow(name string, value, least uint32) *Error {
	return newErrorf(CodeNotAllowed, "negotiated %s = %d is lower than the minimum allowed value (%d)", name, value, least).
		At(MethodConnectionTune)
}

// TunedTooHigh is the error of a limit in connection.tune-ok above what the server proposed, which 0, no limit, is too.
func TunedTooHigh(name string, value, most uint32) *Error {
	note := ""
	if value == 0 {
		note = " (no limit)"
	}
	return newErrorf(CodeNotAllowed, "negotiated %s = %d%s is higher than the maximum allowed value (%d)", name, value, note, most).
		At(MethodConnectionTune)
}

// NodeConnectionLimit is the error of connection.open when the broker has its most connections.
func NodeConnectionLimit(limit int) *Error {
	return newErrorf(CodeNotAllowed, "connection refused: node connection limit (%d) is reached", limit)
}

// NoVHost is the error of connection.open for a virtual host that is not there.
func NoVHost(vhost string) *Error {
	return newErrorf(CodeNotAllowed, "vhost %s not found", vhost)
}

// VHostConnectionLimit is the error of connection.open when the virtual host has its most connections.
func VHostConnectionLimit(vhost, user string, limit int) *Error {
	return newErrorf(CodeNotAllowed, "access to vhost '%s' refused for user '%s': connection limit (%d) is reached", vhost, user, limit)
}

// UserConnectionLimit is the error of connection.open when the user has its most connections.
func UserConnectionLimit(user string, limit int) *Error {
	return newErrorf(CodeNotAllowed, "connection refused for user '%s': user connection limit (%d) is reached", user, limit)
}

// VHostRefused is the error of a user without permissions in the virtual host, at connection.open or after connection.update-secret.
func VHostRefused(vhost, user string) *Error {
	return newErrorf(CodeNotAllowed, "access to vhost '%s' refused for user '%s'", vhost, user)
}

// VHostDown is the error of connection.open for a virtual host that has failed or is stopping.
func VHostDown(vhost, user string) *Error {
	return newErrorf(CodeInternalError, "access to vhost '%s' refused for user '%s': vhost '%s' is down", vhost, user, vhost)
}

// SecretRefused is the error of connection.update-secret with a secret that does not log the user in.
func SecretRefused() *Error {
	return newError(CodeNotAllowed, "New secret was refused by one of the backends")
}

// CredentialExpired is the error of a connection whose token has run out.
func CredentialExpired() *Error {
	return newError(CodeConnectionForced, "credential expired")
}

// NodeStopping is the error of every connection when the broker stops.
func NodeStopping() *Error {
	return newError(CodeConnectionForced, "broker forced connection closure with reason 'shutdown'")
}

// ConnectionForced is the error of a connection that an operator closes, with the operator's words.
func ConnectionForced(reason string) *Error {
	return newError(CodeConnectionForced, reason)
}

// VHostDeleted is the error of the connections to a virtual host that is removed.
func VHostDeleted(vhost string) *Error {
	return newErrorf(CodeConnectionForced, "vhost '%s' is deleted", vhost)
}

// UserDeleted is the error of the connections of a user that is removed.
func UserDeleted(user string) *Error {
	return newErrorf(CodeConnectionForced, "user '%s' is deleted", user)
}

// NodeMaintenance is the error of every connection when the broker goes into maintenance.
func NodeMaintenance() *Error {
	return newError(CodeConnectionForced, "Node was put into maintenance mode")
}

// UnexpectedMethodInState is the error of a method that does not fit the connection's state: starting, securing, tuning, opening or running.
func UnexpectedMethodInState(state string) *Error {
	return newErrorf(CodeChannelError, "unexpected method in connection state %s", state)
}

// Internal is the error of a fault in the broker; the cause stands in the log alone.
func Internal() *Error {
	return newError(CodeInternalError, "the broker failed, its log says why")
}
