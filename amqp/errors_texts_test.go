package amqp_test

import "leveret/amqp"

// The texts of the catalogue, byte for byte: clients and their test suites match on them.

// catalogueText is an error and what it must say.
type catalogueText struct {
	err  *amqp.Error
	code uint16
	text string
}

var q, x = amqp.QueueIn("q", "/"), amqp.ExchangeIn("x", "/")

// frameTexts are of frames and methods that can't be read, or are out of order.
var frameTexts = []catalogueText{
	{amqp.FrameTooLarge(3, 200000, 131072), 501, `FRAME_ERROR - type 3, all octets = <<>>: {frame_too_large,200000,131064}`},
	{amqp.InvalidFrameEnd(1, []byte{0, 20, 0, 10, 0}, 0), 501, `FRAME_ERROR - type 1, all octets = <<0,20,0,10,0>>: {invalid_frame_end_marker,0}`},
	{amqp.InvalidFrameEnd(3, []byte("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11"), 65), 501,
		`FRAME_ERROR - type 3, first 16 octets = <<1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16>>: {invalid_frame_end_marker,65}`},
	{amqp.UnknownFrame(9, []byte("ab")), 501, `FRAME_ERROR - type 9, all octets = <<"ab">>: unknown_frame`},
	{amqp.UnexpectedFrame(8, nil), 505, `UNEXPECTED_FRAME - type 8, all octets = <<>>`},
	{amqp.ExpectedMethod(), 505, `UNEXPECTED_FRAME - expected method frame, got non method frame instead`},
	{amqp.ExpectedHeader(60), 505, `UNEXPECTED_FRAME - expected content header for class 60, got non content header frame instead`},
	{amqp.ExpectedHeaderOfClass(60, 20), 505, `UNEXPECTED_FRAME - expected content header for class 60, got one for class 20 instead`},
	{amqp.ExpectedBody(), 505, `UNEXPECTED_FRAME - expected content body, got non content body frame instead`},
	{amqp.BodyTooLong(), 501, `FRAME_ERROR - content body frame exceeds remaining content size`},
	{amqp.BodySizeTooLarge(536870913, 536870912), 501, `FRAME_ERROR - content body size 536870913 exceeds maximum allowed size 536870912`},
	{amqp.CannotDecode([]byte{0, 20}), 501, `FRAME_ERROR - cannot decode <<0,20>>`},
	{amqp.CannotDecode([]byte(`a"\`)), 501, `FRAME_ERROR - cannot decode <<"a\"\\">>`},
	{amqp.TooManyValues(16384), 501, `FRAME_ERROR - a field table holds more than 16384 values`},
	{amqp.MalformedUTF8(), 501, `FRAME_ERROR - Malformed UTF-8 in shortstr`},
	{amqp.UnknownMethod(99<<16 | 10), 540, `NOT_IMPLEMENTED - unknown method 99.10`},
	{amqp.UnimplementedMethod(), 503, `COMMAND_INVALID - unimplemented method`},
}

// connectionTexts are of logging in, opening and ending a connection.
var connectionTexts = []catalogueText{
	{amqp.InvalidResponse("PLAIN"), 502, `SYNTAX_ERROR - invalid response for authentication mechanism 'PLAIN'`},
	{amqp.UnknownMechanism("X"), 503, `COMMAND_INVALID - unknown authentication mechanism 'X'`},
	{amqp.InvalidMechanism("X"), 503, `COMMAND_INVALID - invalid authentication mechanism 'X'`},
	{amqp.LoginRefused("PLAIN"), 403, `ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. For details see the broker logfile.`},
	{amqp.TunedTooLow("frame_max", 4096, 8192), 530, `NOT_ALLOWED - negotiated frame_max = 4096 is lower than the minimum allowed value (8192)`},
	{amqp.TunedTooHigh("channel_max", 5000, 2047), 530, `NOT_ALLOWED - negotiated channel_max = 5000 is higher than the maximum allowed value (2047)`},
	{amqp.TunedTooHigh("channel_max", 0, 2047), 530, `NOT_ALLOWED - negotiated channel_max = 0 (no limit) is higher than the maximum allowed value (2047)`},
	{amqp.NodeConnectionLimit(5), 530, `NOT_ALLOWED - connection refused: node connection limit (5) is reached`},
	{amqp.NoVHost("foo"), 530, `NOT_ALLOWED - vhost foo not found`},
	{amqp.VHostConnectionLimit("v", "u", 5), 530, `NOT_ALLOWED - access to vhost 'v' refused for user 'u': connection limit (5) is reached`},
	{amqp.UserConnectionLimit("u", 5), 530, `NOT_ALLOWED - connection refused for user 'u': user connection limit (5) is reached`},
	{amqp.VHostRefused("v", "u"), 530, `NOT_ALLOWED - access to vhost 'v' refused for user 'u'`},
	{amqp.VHostDown("v", "u"), 541, `INTERNAL_ERROR - access to vhost 'v' refused for user 'u': vhost 'v' is down`},
	{amqp.SecretRefused(), 530, `NOT_ALLOWED - New secret was refused by one of the backends`},
	{amqp.CredentialExpired(), 320, `CONNECTION_FORCED - credential expired`},
	{amqp.NodeStopping(), 320, `CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'`},
	{amqp.ConnectionForced("Closed via management plugin"), 320, `CONNECTION_FORCED - Closed via management plugin`},
	{amqp.VHostDeleted("v"), 320, `CONNECTION_FORCED - vhost 'v' is deleted`},
	{amqp.UserDeleted("u"), 320, `CONNECTION_FORCED - user 'u' is deleted`},
	{amqp.NodeMaintenance(), 320, `CONNECTION_FORCED - Node was put into maintenance mode`},
	{amqp.UnexpectedMethodInState("running"), 504, `CHANNEL_ERROR - unexpected method in connection state running`},
	{amqp.Internal(), 541, `INTERNAL_ERROR - the broker failed, its log says why`},
}

// channelTexts are of channels, consumers, deliveries, publishes and transactions.
var channelTexts = []catalogueText{
	{amqp.ExpectedChannelOpen(), 504, `CHANNEL_ERROR - expected 'channel.open'`},
	{amqp.SecondChannelOpen(), 504, `CHANNEL_ERROR - second 'channel.open' seen`},
	{amqp.UnexpectedDuringCommit(), 504, `CHANNEL_ERROR - unexpected command while processing 'tx.commit'`},
	{amqp.ChannelLimit(5, 5), 530, `NOT_ALLOWED - number of channels opened (5) has reached the negotiated channel_max (5)`},
	{amqp.UserChannelLimit("u", 5), 530, `NOT_ALLOWED - number of channels opened for user 'u' has reached the maximum allowed user limit of 5`},
	{amqp.NodeChannelLimit("n", 5), 530, `NOT_ALLOWED - number of channels opened on node 'n' has reached the maximum allowed limit of 5`},
	{amqp.NotImplemented("immediate=true"), 540, `NOT_IMPLEMENTED - immediate=true`},
	{amqp.ImmediateNotImplemented(), 540, `NOT_IMPLEMENTED - immediate=true`},
	{amqp.FlowNotImplemented(), 540, `NOT_IMPLEMENTED - active=false`},
	{amqp.RecoverNotImplemented(), 540, `NOT_IMPLEMENTED - requeue=false`},
	{amqp.PrefetchSizeNotImplemented(10), 540, `NOT_IMPLEMENTED - prefetch_size!=0 (10)`},
	{amqp.GlobalQosNotImplemented("q", "/"), 540, `NOT_IMPLEMENTED - queue 'q' in vhost '/' does not support global qos`},
	{amqp.ReuseConsumerTag("ctag"), 530, `NOT_ALLOWED - attempt to reuse consumer tag 'ctag'`},
	{amqp.ConsumerLimit(5), 530, `NOT_ALLOWED - reached maximum (5) of consumers per channel`},
	{amqp.UnknownDeliveryTag(99), 406, `PRECONDITION_FAILED - unknown delivery tag 99`},
	{amqp.DeliveryTimeout(1, 1800000), 406, `PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out. Timeout value used: 1800000 ms. This timeout value can be configured, see consumers doc guide to learn more`},
	{amqp.MessageTooLarge(16777217, 16777216), 406, `PRECONDITION_FAILED - message size 16777217 is larger than configured max size 16777216`},
	{amqp.MessageTooLarge(536870913, 536870912), 406, `PRECONDITION_FAILED - message size 536870913 is larger than max size 536870912`},
	{amqp.InvalidExpiration([]byte("x"), "no_integer"), 406, `PRECONDITION_FAILED - invalid expiration 'x': no_integer`},
	{amqp.UserIDMismatch("a", "b"), 406, `PRECONDITION_FAILED - user_id property set to 'a' but authenticated user was 'b'`},
	{amqp.UnacceptableHeader("CC", "longstr"), 406, `PRECONDITION_FAILED - invalid message: {unacceptable_type_in_header,"CC",longstr}`},
	{amqp.ConfirmToTx(), 406, `PRECONDITION_FAILED - cannot switch from confirm to tx mode`},
	{amqp.TxToConfirm(), 406, `PRECONDITION_FAILED - cannot switch from tx to confirm mode`},
	{amqp.NotTransactional(), 406, `PRECONDITION_FAILED - channel is not transactional`},
	{amqp.TransactionTooLarge(67108864), 406, `PRECONDITION_FAILED - transaction is larger than configured max size 67108864`},
	{amqp.PartialTx(), 406, `PRECONDITION_FAILED - partial tx completion`},
	{amqp.NoReplyConsumer(), 406, `PRECONDITION_FAILED - fast reply consumer does not exist`},
	{amqp.ReplyConsumerAcks(), 406, `PRECONDITION_FAILED - reply consumer cannot acknowledge`},
	{amqp.ReplyConsumerSet(), 406, `PRECONDITION_FAILED - reply consumer already set`},
}

// accessTexts are of names that are not there, rights that lack, and what is taken.
var accessTexts = []catalogueText{
	{amqp.NoQueue("q", "/"), 404, `NOT_FOUND - no queue 'q' in vhost '/'`},
	{amqp.NoExchange("x", "/"), 404, `NOT_FOUND - no exchange 'x' in vhost '/'`},
	{amqp.NoPreviousQueue(), 404, `NOT_FOUND - no previously declared queue`},
	{amqp.AccessRefused(amqp.Configure, amqp.QueueResource, "q", "/", "u"), 403, `ACCESS_REFUSED - configure access to queue 'q' in vhost '/' refused for user 'u'`},
	{amqp.AccessRefused(amqp.Write, amqp.ExchangeResource, "x", "/", "u"), 403, `ACCESS_REFUSED - write access to exchange 'x' in vhost '/' refused for user 'u'`},
	{amqp.TopicRefused(amqp.Write, "rk", "x", "/", "u"), 403, `ACCESS_REFUSED - write access to topic 'rk' in exchange 'x' in vhost '/' refused for user 'u'`},
	{amqp.ReservedName(amqp.QueueResource, "amq.foo"), 403, `ACCESS_REFUSED - queue name 'amq.foo' contains reserved prefix 'amq.*'`},
	{amqp.DefaultExchange(), 403, `ACCESS_REFUSED - operation not permitted on the default exchange`},
	{amqp.SystemExchange("amq.direct", "/"), 403, `ACCESS_REFUSED - deletion of system exchange 'amq.direct' in vhost '/' not allowed`},
	{amqp.InternalExchange("x", "/"), 403, `ACCESS_REFUSED - cannot publish to internal exchange 'x' in vhost '/'`},
	{amqp.ExclusiveUse("q", "/"), 403, `ACCESS_REFUSED - queue 'q' in vhost '/' in exclusive use`},
	{amqp.VolatileBinding(), 403, `ACCESS_REFUSED - cannot bind or unbind to a volatile (direct reply-to) queue`},
	{amqp.LockedQueue("q", "/"), 405, `RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'q' in vhost '/'. It could be originally declared on another connection or the exclusive property value does not match that of the original declaration.`},
	{amqp.GetFromSingleActive("q", "/"), 405, `RESOURCE_LOCKED - cannot obtain access to locked queue 'q' in vhost '/'. basic.get operations are not supported by quorum queues with single active consumer`},
	{amqp.ProtectedQueue("q", "/"), 405, `RESOURCE_LOCKED - Cannot delete protected queue 'q' in vhost '/'.`},
	{amqp.QueueInUse("q", "/"), 406, `PRECONDITION_FAILED - queue 'q' in vhost '/' in use`},
	{amqp.QueueNotEmpty("q", "/"), 406, `PRECONDITION_FAILED - queue 'q' in vhost '/' not empty`},
	{amqp.ExchangeInUse("x", "/"), 406, `PRECONDITION_FAILED - exchange 'x' in vhost '/' in use`},
	{amqp.VHostQueueLimit("q", "v", 5), 406, `PRECONDITION_FAILED - cannot declare queue 'q': queue limit in vhost 'v' (5) is reached`},
	{amqp.ClusterQueueLimit("q", 5), 406, `PRECONDITION_FAILED - cannot declare queue 'q': queue limit in cluster (5) is reached`},
	{amqp.ExchangeLimit("x", "/", 5), 406, `PRECONDITION_FAILED - cannot declare exchange 'x' in vhost '/': exchange limit of 5 is reached`},
}

// declareTexts are of declaring what is there already, or with arguments that do not fit.
var declareTexts = []catalogueText{
	{amqp.Inequivalent("durable", q, true, false), 406, `PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'q' in vhost '/': received 'true' but current is 'false'`},
	{amqp.Inequivalent("type", x, "fanout", "direct"), 406, `PRECONDITION_FAILED - inequivalent arg 'type' for exchange 'x' in vhost '/': received 'fanout' but current is 'direct'`},
	{amqp.Inequivalent("x-message-ttl", q, int32(2000), int64(1000)), 406, `PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'q' in vhost '/': received '2000' but current is '1000'`},
	{amqp.InequivalentAdded("x-message-ttl", q, int32(1000)), 406, `PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'q' in vhost '/': received the value '1000' of type 'signedint' but current is none`},
	{amqp.InequivalentAdded("x-dead-letter-exchange", q, "dlx"), 406, `PRECONDITION_FAILED - inequivalent arg 'x-dead-letter-exchange' for queue 'q' in vhost '/': received the value 'dlx' of type 'longstr' but current is none`},
	{amqp.InequivalentMissing("x-message-ttl", q, int64(1000)), 406, `PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'q' in vhost '/': received none but current is the value '1000' of type 'long'`},
	{amqp.InvalidArgument("x-message-ttl", q, amqp.ReasonNegative(-1)), 406, `PRECONDITION_FAILED - invalid arg 'x-message-ttl' for queue 'q' in vhost '/': {value_negative,-1}`},
	{amqp.InvalidArgument("x-expires", q, amqp.ReasonZero()), 406, `PRECONDITION_FAILED - invalid arg 'x-expires' for queue 'q' in vhost '/': {value_zero,0}`},
	{amqp.InvalidArgument("x-expires", q, amqp.ReasonTooLarge(315360000001)), 406, `PRECONDITION_FAILED - invalid arg 'x-expires' for queue 'q' in vhost '/': {value_too_large,315360000001}`},
	{amqp.InvalidArgument("x-max-priority", q, amqp.ReasonMaxExceeded(256)), 406, `PRECONDITION_FAILED - invalid arg 'x-max-priority' for queue 'q' in vhost '/': {max_value_exceeded,256}`},
	{amqp.InvalidArgument("x-queue-type", q, amqp.ReasonType(int32(1))), 406, `PRECONDITION_FAILED - invalid arg 'x-queue-type' for queue 'q' in vhost '/': {unacceptable_type,signedint}`},
	{amqp.InvalidArgument("x-priority", q, amqp.ReasonNoInteger("1")), 406, `PRECONDITION_FAILED - invalid arg 'x-priority' for queue 'q' in vhost '/': "expected integer, got longstr"`},
	{amqp.InvalidArgument("x-queue-version", q, amqp.ReasonQueueVersion(int32(1))), 406, `PRECONDITION_FAILED - invalid arg 'x-queue-version' for queue 'q' in vhost '/': "unsupported queue version '1'"`},
	{amqp.InvalidArgument("x-queue-type", q, amqp.ReasonQueueType("foo")), 406, `PRECONDITION_FAILED - invalid arg 'x-queue-type' for queue 'q' in vhost '/': "unsupported queue type 'foo'"`},
	{amqp.InvalidArgument("x-overflow", q, amqp.ReasonOverflow), 406, `PRECONDITION_FAILED - invalid arg 'x-overflow' for queue 'q' in vhost '/': invalid_overflow`},
	{amqp.InvalidArgument("x-dead-letter-strategy", q, amqp.ReasonDeadLetterStrategy), 406, `PRECONDITION_FAILED - invalid arg 'x-dead-letter-strategy' for queue 'q' in vhost '/': invalid_dlx_strategy`},
	{amqp.InvalidArgument("x-max-age", q, amqp.ReasonMaxAge), 406, `PRECONDITION_FAILED - invalid arg 'x-max-age' for queue 'q' in vhost '/': invalid_max_age`},
	{amqp.InvalidArgument("x-dead-letter-routing-key", q, amqp.ReasonRoutingKeyWithout), 406, `PRECONDITION_FAILED - invalid arg 'x-dead-letter-routing-key' for queue 'q' in vhost '/': routing_key_but_no_dlx_defined`},
	{amqp.InvalidArgument("x-queue-leader-locator", q, amqp.ReasonLeaderLocator), 406, `PRECONDITION_FAILED - invalid arg 'x-queue-leader-locator' for queue 'q' in vhost '/': invalid_queue_locator_arg`},
	{amqp.ArgumentOfOtherType("x-max-age", q, "rabbit_classic_queue"), 406, `PRECONDITION_FAILED - invalid arg 'x-max-age' for queue 'q' in vhost '/' of queue type rabbit_classic_queue`},
	{amqp.InvalidArgumentType("alternate-exchange", x, int32(1)), 406, `PRECONDITION_FAILED - invalid type 'signedint' for arg 'alternate-exchange' in exchange 'x' in vhost '/'`},
	{amqp.InvalidProperty("non-durable", q), 406, `PRECONDITION_FAILED - invalid property 'non-durable' for queue 'q' in vhost '/'`},
	{amqp.ServerNamedType("rabbit_quorum_queue"), 406, `PRECONDITION_FAILED - Cannot declare a server-named queue for type rabbit_quorum_queue`},
	{amqp.NamePrefixTooLong("P"), 406, `PRECONDITION_FAILED - Queue name prefix 'P' exceeds the 64-byte limit`},
	{amqp.TransientQueueRefused(), 541, "INTERNAL_ERROR - Feature `transient_nonexcl_queues` is deprecated."},
	{amqp.SegmentSizeTooLarge(), 406, `PRECONDITION_FAILED - Exceeded max value for x-stream-max-segment-size-bytes`},
	{amqp.InvalidFilterSize(), 406, `PRECONDITION_FAILED - Invalid value for x-stream-filter-size-bytes`},
	{amqp.PurgeNotSupported("s", "/"), 540, `NOT_IMPLEMENTED - queue.purge not supported by stream queues queue 's' in vhost '/'`},
	{amqp.GetOfSingleActive("q", "/"), 405, `RESOURCE_LOCKED - cannot obtain access to locked queue 'q' in vhost '/'. basic.get operations are not supported by quorum queues with single active consumer`},
	{amqp.StreamsNotImplemented(), 540, `NOT_IMPLEMENTED - queues of type stream`},
	{amqp.GetNotSupported("s", "/"), 540, `NOT_IMPLEMENTED - basic.get not supported by stream queues queue 's' in vhost '/'`},
}

// exchangeTexts are of exchange types and bindings.
var exchangeTexts = []catalogueText{
	{amqp.UnknownExchangeType("foo"), 406, `PRECONDITION_FAILED - unknown exchange type 'foo'`},
	{amqp.InvalidExchangeType("foo"), 406, `PRECONDITION_FAILED - invalid exchange type 'foo'`},
	{amqp.TooManyHashes("K", 3), 406, `PRECONDITION_FAILED - Topic binding key 'K' uses 3 '#' wildcards, at most 2 are allowed`},
	{amqp.InvalidXMatch("foo"), 406, `PRECONDITION_FAILED - Invalid x-match field value <<"foo">>; expected all, any, all-with-x, or any-with-x`},
	{amqp.InvalidXMatchType(int32(1)), 406, `PRECONDITION_FAILED - Invalid x-match field type signedint (value 1); expected longstr`},
	{amqp.WeightTooSmall(), 406, `PRECONDITION_FAILED - The binding key must be greater than 0`},
	{amqp.WeightTooLarge(10000), 406, `PRECONDITION_FAILED - The binding key must not exceed 10000`},
	{amqp.WeightNoInteger("a"), 406, `PRECONDITION_FAILED - The binding key must be an integer: <<"a">>`},
	{amqp.HashArgumentsExclusive(), 406, `PRECONDITION_FAILED - hash-header and hash-property are mutually exclusive`},
	{amqp.UnsupportedHashProperty("p"), 406, `PRECONDITION_FAILED - Unsupported property: p`},
	{amqp.BindingKeyNotEmpty("k"), 406, `PRECONDITION_FAILED - Non empty binding 'k' key not permitted`},
	{amqp.QueueTypeNotValid("quorum"), 406, `PRECONDITION_FAILED - Queue type quorum not valid for this exchange type`},
	{amqp.DestinationNotFound(), 406, `PRECONDITION_FAILED - Destination not found`},
	{amqp.InvalidHistoryLength("a"), 406, `PRECONDITION_FAILED - Invalid argument <<"a">>, 'x-recent-history-length' must be a positive integer`},
	{amqp.InvalidHistoryLength(int32(0)), 406, `PRECONDITION_FAILED - Invalid argument 0, 'x-recent-history-length' must be a positive integer`},
	{amqp.InvalidDelayedType(), 406, `PRECONDITION_FAILED - Invalid argument, 'x-delayed-type' must be an existing exchange type`},
}
