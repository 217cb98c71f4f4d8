package management

import (
	"encoding/json"
	"strings"
)

// Texts of validation errors show values in Erlang's notation, as RabbitMQ's do; people search for them.

// term prints a JSON value as RabbitMQ would print what it makes of it.
func term(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		if v {
			return "true"
		}
		return "false"
	case string:
		return `<<"` + v + `">>`
	// As it was written, since 1.0 and 1 are two things in Erlang.
	case json.Number:
		return v.String()
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = term(v[i])
		}
		return "[" + strings.Join(parts, ",") + "]"
	case object:
		parts := make([]string, len(v))
		for i, f := range v {
			parts[i] = `{<<"` + f.name + `">>,` + term(f.value) + "}"
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	// Nothing else comes out of JSON.
	return string(appendJSON(nil, v))
}

// termText prints a value where RabbitMQ puts a text in: texts stand as they are.
func termText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return term(v)
}
