package amqp

import (
	"fmt"
	"strconv"
)

// This file holds the texts about arguments that RabbitMQ does not have, and about policies and parameters that are refused.

// Reasons of InvalidArgument for arguments of ours, in the manner of the others.
const (
	ReasonCounting = "invalid_delivery_limit_counts"
	ReasonDispatch = "invalid_dispatch"
	ReasonKeying   = "invalid_key"
)

// ReasonNumber is the reason of a value that is no number, or not one from least to most.
func ReasonNumber(v any, least, most float64) string {
	n, ok := Number(v)
	if !ok {
		return erlangString("expected number, got " + TypeName(v))
	}
	return erlangString(fmt.Sprintf("expected number from %v to %v, got %s", least, most, strconv.FormatFloat(n, 'f', -1, 64)))
}

// ReasonCombined is the reason of an argument that excludes another one of the same declare.
func ReasonCombined(other string) string { return erlangString("not together with " + other) }

// ReasonAlone is the reason of an argument that means nothing without another one.
func ReasonAlone(other string) string { return erlangString("not without " + other) }
