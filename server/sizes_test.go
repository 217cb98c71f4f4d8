package server_test

import (
	"bytes"
	"testing"

	"leveret/amqp"
	"leveret/exchange"
)

// TestSizes: messages are counted by the size of their bodies, each bound belonging to the smaller ones, however they are published.
func TestSizes(t *testing.T) {
	r := start(t, testOptions())
	c := r.open()
	sum := uint64(0)
	for _, size := range []int{0, 100, 101, 5000, 200_000} {
		c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("nobody")}, nil, bytes.Repeat([]byte("x"), size))
		sum += uint64(size)
	}
	c.mustFlush()
	eventually(t, "all sizes are counted", func() bool { return r.Stats().Sizes.Bytes == sum })
	if counts := r.Stats().Sizes.Counts; counts != [9]uint64{2, 1, 1, 0, 1} {
		t.Errorf("counts %v; want 2, 1, 1, 0, 1", counts)
	}
	traffic := func() exchange.Traffic { return r.VHosts()[0].Exchange(nil).Traffic() }
	eventually(t, "the exchange counts what it drops", func() bool { return traffic() == exchange.Traffic{In: 5, Dropped: 5} })
	c.call(1, &amqp.ConfirmSelect{}, amqp.MethodConfirmSelectOk)
	c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("nobody"), Mandatory: true}, nil, nil)
	c.mustFlush()
	eventually(t, "the exchange counts what it returns", func() bool {
		return traffic() == exchange.Traffic{In: 6, Dropped: 5, Returned: 1, Confirmable: 1}
	})
}
