package amqp_test

import (
	"errors"
	"testing"

	"leveret/amqp"
)

func TestValidationDetails(t *testing.T) {
	object := map[string]any{"b": "x", "a": int64(1)}
	for got, want := range map[string]string{
		amqp.DetailValue(int64(-1), "message TTL"):                   `-1 is not a valid message TTL`,
		amqp.DetailValue("x", "overflow value"):                      `<<"x">> is not a valid overflow value`,
		amqp.DetailSettings(object):                                  `[{<<"a">>,1},{<<"b">>,<<"x">>}] are not recognised policy settings`,
		amqp.DetailDefinition("x"):                                   `definition must be a dictionary: <<"x">>`,
		amqp.DetailApplyTo("foo"):                                    `apply-to 'foo' unrecognised; should be one of: 'queues', 'classic_queues',  'quorum_queues', 'streams', 'exchanges', or 'all'`,
		amqp.DetailApplyTo(int64(5)):                                 `apply-to '5' unrecognised; should be one of: 'queues', 'classic_queues',  'quorum_queues', 'streams', 'exchanges', or 'all'`,
		amqp.DetailPattern("pattern", errors.New("missing )")):       `pattern should be regular expression but is invalid: missing )`,
		amqp.DetailPatternType("pattern", int64(5)):                  `pattern should be a binary but was 5`,
		amqp.DetailRetryMin("all"):                                   `delayed-retry-min is required when delayed-retry-type is all`,
		amqp.DetailRetryMax(5, 10):                                   `delayed-retry-max (5) must not be smaller than delayed-retry-min (10)`,
		amqp.DetailNumber("priority", "high"):                        `priority should be a number, actually was <<"high">>`,
		amqp.DetailText("src-queue", int64(5)):                       `src-queue should be binary, actually was 5`,
		amqp.DetailBoolean("trust-user-id", nil):                     `trust-user-id should be boolean, actually was null`,
		amqp.DetailList("src-uri", object):                           `src-uri should be list, actually was #{<<"a">> => 1,<<"b">> => <<"x">>}`,
		amqp.DetailOneOf("ack-mode", []string{"no-ack", "on"}, "x"):  `ack-mode should be one of [<<"no-ack">>,<<"on">>], actually was <<"x">>`,
		amqp.DetailURI("x", errors.New("no scheme")):                 `"x" not a valid URI: no scheme`,
		amqp.DetailDeleteAfter("src-delete-after", "x"):              `src-delete-after should be a number greater than or equal to 0, "never" or "queue-length", actually was <<"x">>`,
		amqp.DetailMissing("src-uri", "sh"):                          `Key "src-uri" not found in sh`,
		amqp.DetailUnrecognised(map[string]any{"n": int64(1)}, "sh"): `Unrecognised terms [{<<"n">>,1}] in sh`,
		amqp.DetailNoObject("sh", int64(5)):                          `sh not a list 5`,
		amqp.DetailComponent("foo"):                                  `component foo not found`,
	} {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestValidationError(t *testing.T) {
	if err := amqp.Invalid(); err != nil {
		t.Errorf("nothing is wrong, but %v", err)
	}
	err := amqp.Invalid("one", "two")
	if got, want := err.Error(), "Validation failed\n\none\ntwo\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var invalid *amqp.ValidationError
	if !errors.As(err, &invalid) || len(invalid.Details) != 2 {
		t.Errorf("%T", err)
	}
}

func TestFormatTerm(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{nil, "null"},
		{true, "true"},
		{int64(-5), "-5"},
		{5.0, "5.0"},
		{1.5, "1.5"},
		{1e300, "1e+300"},
		{"", `<<"">>`},
		{`a"b\`, `<<"a\"b\\">>`},
		{"é", `<<"é"/utf8>>`},
		{"\xff", `<<255>>`},
		{[]any{int64(1), "a", []any{}}, `[1,<<"a">>,[]]`},
		{map[string]any{"b": nil, "a": map[string]any{}}, `#{<<"a">> => #{},<<"b">> => null}`},
	} {
		if got := amqp.FormatTerm(c.v); got != c.want {
			t.Errorf("%v prints as %s, want %s", c.v, got, c.want)
		}
	}
}
