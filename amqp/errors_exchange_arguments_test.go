package amqp_test

import (
	"testing"

	"leveret/amqp"
)

func TestTextsOfExchangeArguments(t *testing.T) {
	checkTexts(t, []catalogueText{
		{amqp.HashHeaderType(int32(5)), 406, `PRECONDITION_FAILED - Invalid header name to hash: 5`},
		{amqp.UnsupportedHashAlgorithm("md5"), 406, `PRECONDITION_FAILED - Unsupported hash algorithm: md5; expected jump or ring`},
		{amqp.InternalQueue("q", "/"), 403, `ACCESS_REFUSED - queue 'q' in vhost '/' is internal: its messages wait for an exchange`},
	})
}
