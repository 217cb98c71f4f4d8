package interop

import (
	"slices"
	"strconv"
	"testing"
)

func TestConfirms(t *testing.T) {
	eachClient(t, func(t *testing.T, client string) {
		run(t, client, "confirms", []string{freshQueue(t)}, "confirmed 101", "ready 100")
	})
}

func TestMandatoryReturns(t *testing.T) {
	eachClient(t, func(t *testing.T, client string) {
		key := freshName(t)
		run(t, client, "returns", []string{key}, "312 NO_ROUTE amq.direct "+key+" m-1 come back", "routed")
	})
}

// The last argument of each line is the number of messages that were left when it was got.
func TestNackAndReject(t *testing.T) {
	eachClient(t, func(t *testing.T, client string) {
		run(t, client, "reject", []string{freshQueue(t)},
			"a new 3", "a redelivered 3", "a redelivered 3", // nack and reject with requeue: back at the head
			"b new 2",                                       // the reject without requeue dropped it
			"c new 1", "b redelivered 2", "c redelivered 1", // nack of both with requeue
			"d new 0",         // nack of both without
			"d redelivered 0") // nack of everything outstanding, which is what tag 0 means
	})
}

func TestExclusiveAndAutoDeleteQueues(t *testing.T) {
	eachClient(t, func(t *testing.T, client string) {
		run(t, client, "lifetime", []string{freshName(t), freshName(t)},
			"declare by another: 405",
			"consume by another: 405",
			"publish by another: ok",
			"after its owner: 404",
			"one consumer left: ok",
			"no consumer left: 404")
	})
}

func TestUnknownTagClosesOnlyItsChannel(t *testing.T) {
	eachClient(t, func(t *testing.T, client string) {
		run(t, client, "unknown_tag", []string{freshQueue(t)}, "406 PRECONDITION_FAILED - unknown delivery tag 99", "still open")
	})
}

func TestLargeBodies(t *testing.T) {
	eachClient(t, func(t *testing.T, client string) {
		for _, frameMax := range []int{4096, 131072} {
			args := []string{freshQueue(t), strconv.Itoa(frameMax)}
			var want []string
			n := frameMax - 8 // what a body frame carries at most
			for _, size := range []int{0, 1, n - 1, n, n + 1, n + 8, 2*n - 1, 2 * n, 2*n + 1, 3_000_000} {
				args = append(args, strconv.Itoa(size))
				want = append(want, strconv.Itoa(size)+" whole")
			}
			run(t, client, "large", slices.Clone(args), want...)
		}
	})
}
