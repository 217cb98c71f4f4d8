package amqp_test

import (
	"testing"

	"leveret/amqp"
)

func TestExtensionTexts(t *testing.T) {
	const prefix = `PRECONDITION_FAILED - invalid arg 'x-a' for queue 'q' in vhost '/': `
	checkTexts(t, []catalogueText{
		{amqp.InvalidArgument("x-a", q, amqp.ReasonCounting), 406, prefix + `invalid_delivery_limit_counts`},
		{amqp.InvalidArgument("x-a", q, amqp.ReasonDispatch), 406, prefix + `invalid_dispatch`},
		{amqp.InvalidArgument("x-a", q, amqp.ReasonKeying), 406, prefix + `invalid_key`},
		{amqp.InvalidArgument("x-a", q, amqp.ReasonNumber("1", 0, 1)), 406, prefix + `"expected number, got longstr"`},
		{amqp.InvalidArgument("x-a", q, amqp.ReasonNumber(1.5, 0, 1)), 406, prefix + `"expected number from 0 to 1, got 1.5"`},
		{amqp.InvalidArgument("x-a", q, amqp.ReasonNumber(int8(-1), 0, 1)), 406, prefix + `"expected number from 0 to 1, got -1"`},
		{amqp.InvalidArgument("x-a", q, amqp.ReasonNumber(amqp.Decimal{Scale: 2, Value: 150}, 0, 1)), 406, prefix + `"expected number from 0 to 1, got 1.5"`},
		{amqp.InvalidArgument("x-a", q, amqp.ReasonCombined("x-b")), 406, prefix + `"not together with x-b"`},
		{amqp.InvalidArgument("x-a", q, amqp.ReasonAlone("x-b")), 406, prefix + `"not without x-b"`},
	})
}
