package vhost

import (
	"net/url"
	"slices"

	"leveret/amqp"
)

// What shovels and federation upstreams are made of. Their values are checked and kept; whoever runs them reads them from the parameters.

// field is a key of a parameter's value and the check of what stands there; the check returns what is wrong, or nothing.
type field struct {
	key       string
	check     func(key string, value any) string
	mandatory bool
}

// checkFields compares an object with the fields it may have. The details come in RabbitMQ's order: keys that do not exist, then the
// fields from the last to the first.
func checkFields(name string, fields []field, object map[string]any) []string {
	var details []string
	unknown := make(map[string]any)
	for key, value := range object {
		if !slices.ContainsFunc(fields, func(f field) bool { return f.key == key }) {
			unknown[key] = value
		}
	}
	if len(unknown) > 0 {
		details = append(details, amqp.DetailUnrecognised(unknown, name))
	}
	for _, f := range slices.Backward(fields) {
		value, ok := object[f.key]
		detail := ""
		switch {
		case ok:
			detail = f.check(f.key, value)
		case f.mandatory:
			detail = amqp.DetailMissing(f.key, name)
		}
		if detail != "" {
			details = append(details, detail)
		}
	}
	return details
}

// fieldText and its like below check one field of a shovel's parameter each; what they return is RabbitMQ's sentence, empty if
// all is well.
func fieldText(key string, value any) string {
	if !isText(value) {
		return amqp.DetailText(key, value)
	}
	return ""
}

func fieldNumber(key string, value any) string {
	if _, ok := numberOf(value); !ok {
		return amqp.DetailNumber(key, value)
	}
	return ""
}

func fieldBoolean(key string, value any) string {
	if !isBoolean(value) {
		return amqp.DetailBoolean(key, value)
	}
	return ""
}

func fieldObject(key string, value any) string {
	if _, ok := value.(map[string]any); !ok {
		return amqp.DetailList(key, value)
	}
	return ""
}

func fieldOneOf(accepted ...string) func(string, any) string {
	return func(key string, value any) string {
		s, ok := value.(string)
		switch {
		case !ok:
			return amqp.DetailText(key, value)
		case !slices.Contains(accepted, s):
			return amqp.DetailOneOf(key, accepted, value)
		}
		return ""
	}
}

// fieldURIs checks a URI, or a list of some. An empty list is refused: whoever is to connect needs somewhere to.
func fieldURIs(key string, value any) string {
	list, ok := value.([]any)
	if s, isText := value.(string); isText {
		list, ok = []any{s}, true
	}
	if !ok || len(list) == 0 {
		return amqp.DetailList(key, value)
	}
	for _, item := range list {
		s, ok := item.(string)
		if !ok {
			return amqp.DetailText(key, item)
		}
		if _, err := url.Parse(s); err != nil {
			return amqp.DetailURI(s, err)
		}
	}
	return ""
}

// fieldDeleteAfter takes a number of messages, or a word for when that is known.
func fieldDeleteAfter(key string, value any) string {
	if n, ok := value.(int64); ok && n >= 0 || value == "never" || value == "queue-length" {
		return ""
	}
	return amqp.DetailDeleteAfter(key, value)
}

var (
	fieldAckMode = fieldOneOf("no-ack", "on-publish", "on-confirm")
	protocols    = fieldOneOf("amqp091", "amqp10", "local")
)

// shovelFields are all that a shovel may have; one that is not among them is refused, as a misspelt one would silently mean
// nothing.
var shovelFields = []field{
	{key: "src-uri", check: fieldURIs, mandatory: true},
	{key: "dest-uri", check: fieldURIs, mandatory: true},
	{key: "src-protocol", check: protocols},
	{key: "dest-protocol", check: protocols},
	{key: "ack-mode", check: fieldAckMode},
	{key: "reconnect-delay", check: fieldNumber},

	{key: "src-queue", check: fieldText},
	{key: "src-queue-args", check: fieldObject},
	{key: "src-exchange", check: fieldText},
	{key: "src-exchange-key", check: fieldText},
	{key: "src-consumer-args", check: fieldObject},
	{key: "src-consumer-name", check: fieldText},
	{key: "src-predeclared", check: fieldBoolean},
	{key: "src-prefetch-count", check: fieldNumber},
	{key: "prefetch-count", check: fieldNumber},
	{key: "src-delete-after", check: fieldDeleteAfter},
	{key: "delete-after", check: fieldDeleteAfter},
	{key: "src-delete-after-duration", check: fieldNumber},
	{key: "src-address", check: fieldText},

	{key: "dest-queue", check: fieldText},
	{key: "dest-queue-args", check: fieldObject},
	{key: "dest-exchange", check: fieldText},
	{key: "dest-exchange-key", check: fieldText},
	{key: "dest-predeclared", check: fieldBoolean},
	{key: "dest-publish-properties", check: fieldObject},
	{key: "publish-properties", check: fieldObject},
	{key: "dest-add-forward-headers", check: fieldBoolean},
	{key: "add-forward-headers", check: fieldBoolean},
	{key: "dest-add-timestamp-header", check: fieldBoolean},
	{key: "dest-address", check: fieldText},
	{key: "dest-properties", check: fieldObject},
	{key: "dest-application-properties", check: fieldObject},
	{key: "dest-message-annotations", check: fieldObject},
}

// checkShovel checks the value of a shovel.
func checkShovel(name string, value any) (any, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, amqp.Invalid(amqp.DetailNoObject(name, value))
	}
	has := func(key string) bool {
		_, ok := object[key]
		return ok
	}
	var details []string
	switch {
	case has("src-exchange") && has("src-queue"):
		details = append(details, amqp.DetailShovelTwoSources)
	case !has("src-exchange") && !has("src-queue") && !has("src-address"):
		details = append(details, amqp.DetailShovelSource)
	}
	if has("dest-exchange") && has("dest-queue") {
		details = append(details, amqp.DetailShovelTwoTargets)
	}
	for _, key := range []string{"src-delete-after", "delete-after"} {
		if _, counted := object[key].(int64); counted && object["ack-mode"] == "no-ack" {
			details = append(details, amqp.DetailShovelNoAckCounted)
		}
	}
	return value, amqp.Invalid(append(details, checkFields(name, shovelFields, object)...)...)
}

// upstreamFields are those of an upstream and of a member of a set alike; the first is the one that each must have.
func upstreamFields(mandatory field) []field {
	return []field{
		mandatory,
		{key: "exchange", check: fieldText},
		{key: "queue", check: fieldText},
		{key: "consumer-tag", check: fieldText},
		{key: "prefetch-count", check: fieldNumber},
		{key: "reconnect-delay", check: fieldNumber},
		{key: "max-hops", check: fieldNumber},
		{key: "expires", check: fieldNumber},
		{key: "message-ttl", check: fieldNumber},
		{key: "trust-user-id", check: fieldBoolean},
		{key: "ack-mode", check: fieldAckMode},
		{key: "resource-cleanup-mode", check: fieldOneOf("default", "never")},
		{key: "queue-type", check: fieldOneOf("classic", "quorum")},
		{key: "bind-nowait", check: fieldBoolean},
		{key: "channel-use-mode", check: fieldOneOf("multiple", "single")},
		{key: "ha-policy", check: fieldText},
	}
}

var (
	upstream       = upstreamFields(field{key: "uri", check: fieldURIs, mandatory: true})
	upstreamMember = upstreamFields(field{key: "upstream", check: fieldText, mandatory: true})
)

// checkUpstream validates an upstream of federation, which is kept for tools and not used.
func checkUpstream(name string, value any) (any, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, amqp.Invalid(amqp.DetailNoObject(name, value))
	}
	return value, amqp.Invalid(checkFields(name, upstream, object)...)
}

// checkUpstreamSet does so for a list of them.
func checkUpstreamSet(name string, value any) (any, error) {
	members, ok := value.([]any)
	if !ok {
		return nil, amqp.Invalid(amqp.DetailList(name, value))
	}
	var details []string
	for _, member := range members {
		object, ok := member.(map[string]any)
		if !ok {
			details = append(details, amqp.DetailNoObject(name, member))
			continue
		}
		details = append(details, checkFields(name, upstreamMember, object)...)
	}
	return value, amqp.Invalid(details...)
}
