package amqp

import (
	"fmt"
	"strings"
)

// This file holds the texts about policies and parameters that are refused. No client of the protocol sees them; the HTTP API shows them
// as they are.

// ValidationError is the error of a policy or parameter that is refused. It is made by Invalid, does not change and may be shared.
type ValidationError struct {
	// Details are what is wrong, each a sentence.
	Details []string
}

// Invalid is the error of a policy or parameter with these details; without any it is nil.
func Invalid(details ...string) error {
	if len(details) == 0 {
		return nil
	}
	return &ValidationError{details}
}

// Error is RabbitMQ's text: a heading, an empty line, a line for each detail.
func (e *ValidationError) Error() string {
	return "Validation failed\n\n" + strings.Join(e.Details, "\n") + "\n"
}

// Details that stand for themselves.
const (
	DetailNoPolicy           = "no policy provided"
	DetailNoName             = "name must not be empty"
	DetailShovelSource       = "Must specify 'src-exchange' or 'src-queue'"
	DetailShovelTwoSources   = "Cannot specify 'src-exchange' and 'src-queue'"
	DetailShovelTwoTargets   = "Cannot specify 'dest-exchange' and 'dest-queue'"
	DetailShovelNoAckCounted = "Cannot specify 'no-ack' and numerical 'delete-after'"
	DetailFederationTwice    = "cannot specify federation-upstream, federation-upstream-set or federation-upstream-pattern together"
)

// DetailValue is the detail of a policy's value that its key can't have; what is the noun for it: "message TTL".
func DetailValue(v any, what string) string { return FormatTerm(v) + " is not a valid " + what }

// DetailSettings is the detail of keys that no policy of that kind has.
func DetailSettings(unknown map[string]any) string {
	return pairsTerm(unknown) + " are not recognised policy settings"
}

// DetailDefinition is the detail of a policy's definition that is no object.
func DetailDefinition(v any) string { return "definition must be a dictionary: " + FormatTerm(v) }

// DetailApplyTo is the detail of an apply-to that says nothing.
func DetailApplyTo(v any) string {
	text, ok := v.(string)
	if !ok {
		text = FormatTerm(v)
	}
	return fmt.Sprintf("apply-to '%s' unrecognised; should be one of: 'queues', 'classic_queues',  'quorum_queues', 'streams', 'exchanges', or 'all'", text)
}

// DetailPattern is the detail of a pattern that is no regular expression.
func DetailPattern(key string, cause error) string {
	return fmt.Sprintf("%s should be regular expression but is invalid: %s", key, cause)
}

// DetailPatternType is the detail of a pattern that is no text.
func DetailPatternType(key string, v any) string {
	return fmt.Sprintf("%s should be a binary but was %s", key, FormatTerm(v))
}

// DetailRetryMin is the detail of a delayed-retry-type without the wait that it needs.
func DetailRetryMin(kind string) string {
	return "delayed-retry-min is required when delayed-retry-type is " + kind
}

// DetailRetryMax is the detail of a longest wait that is under the shortest.
func DetailRetryMax(longest, shortest int64) string {
	return fmt.Sprintf("delayed-retry-max (%d) must not be smaller than delayed-retry-min (%d)", longest, shortest)
}

// DetailNumber is the detail of a value that is no number where one must be.
func DetailNumber(key string, v any) string {
	return fmt.Sprintf("%s should be a number, actually was %s", key, FormatTerm(v))
}

// DetailText is like DetailNumber, for a text.
func DetailText(key string, v any) string {
	return fmt.Sprintf("%s should be binary, actually was %s", key, FormatTerm(v))
}

// DetailBoolean is like DetailNumber, for a boolean.
func DetailBoolean(key string, v any) string {
	return fmt.Sprintf("%s should be boolean, actually was %s", key, FormatTerm(v))
}

// DetailList is like DetailNumber, for a list.
func DetailList(key string, v any) string {
	return fmt.Sprintf("%s should be list, actually was %s", key, FormatTerm(v))
}

// DetailOneOf is the detail of a text that is none of those that the key takes.
func DetailOneOf(key string, accepted []string, v any) string {
	return fmt.Sprintf("%s should be one of [%s], actually was %s", key, joined(accepted, textTerm), FormatTerm(v))
}

// DetailURI is the detail of a text that is no URI.
func DetailURI(text string, cause error) string {
	return fmt.Sprintf("%q not a valid URI: %s", text, cause)
}

// DetailDeleteAfter is the detail of a shovel that is to end at no time that there is.
func DetailDeleteAfter(key string, v any) string {
	return fmt.Sprintf(`%s should be a number greater than or equal to 0, "never" or "queue-length", actually was %s`, key, FormatTerm(v))
}

// DetailMissing is the detail of a key that the parameter of that name must have.
func DetailMissing(key, name string) string {
	return fmt.Sprintf(`Key "%s" not found in %s`, key, name)
}

// DetailUnrecognised is the detail of keys that the parameter of that name does not have.
func DetailUnrecognised(unknown map[string]any, name string) string {
	return fmt.Sprintf("Unrecognised terms %s in %s", pairsTerm(unknown), name)
}

// DetailNoObject is the detail of a parameter whose value is no object.
func DetailNoObject(name string, v any) string {
	return fmt.Sprintf("%s not a list %s", name, FormatTerm(v))
}

// DetailComponent is the detail of a parameter of a component that does not exist.
func DetailComponent(component string) string {
	return fmt.Sprintf("component %s not found", component)
}
