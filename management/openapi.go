package management

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// pathParameter finds the names in a route's path.
// They are written as net/http wants them, which is the form of OpenAPI too.
var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// parameters are the names of a route's path, in order.
func (r *route) parameters() []string {
	var names []string
	for _, found := range pathParameter.FindAllStringSubmatch(r.path, -1) {
		names = append(names, found[1])
	}
	return names
}

// bodyField is a field of a request's body.
type bodyField struct {
	name     string
	required bool
}

// bodyFields are the fields of an operation's body. An ellipsis says that there are more.
func (op *operation) bodyFields() []bodyField {
	var list []bodyField
	for name := range strings.FieldsSeq(op.fields) {
		if name == "..." {
			continue
		}
		plain, required := strings.CutSuffix(name, "*")
		list = append(list, bodyField{plain, required})
	}
	return list
}

// openAPI describes all routes in the OpenAPI format.
func openAPI(list []route, version string) object {
	paths := make(map[string]any, len(list))
	for i := range list {
		paths[prefix+list[i].path] = openPath(&list[i])
	}
	return object{
		{"openapi", "3.1.0"},
		{"info", object{
			{"title", "Leveret HTTP API"}, {"version", version},
			{"description", "The management API of RabbitMQ, and some more. Names in paths are percent-encoded, the virtual host / is %2F."},
		}},
		{"security", []object{{{"basic", []any{}}}}},
		{"components", object{
			{"securitySchemes", object{{"basic", object{{"type", "http"}, {"scheme", "basic"}}}}},
			{"schemas", object{{"Error", errorSchema}}},
		}},
		{"paths", sortedObject(paths)},
	}
}

// errorSchema is what all failures with a body look like.
var errorSchema = object{
	{"type", "object"},
	{"properties", object{{"error", object{{"type", "string"}}}, {"reason", object{{"description", "a text, or a list with an offending value"}}}}},
}

// openPath describes a path: its parameters, and what each method does.
func openPath(r *route) object {
	o := object{}
	if names := r.parameters(); len(names) > 0 {
		var parameters []object
		for _, name := range names {
			parameters = append(parameters, object{
				{"name", name}, {"in", "path"}, {"required", true}, {"schema", object{{"type", "string"}}},
			})
		}
		o.add("parameters", parameters)
	}
	for i := range r.operations {
		op := &r.operations[i]
		o.add(strings.ToLower(op.method), openOperation(r, op))
	}
	return o
}

// openOperation describes one operation. x-tag-needed is no field of OpenAPI's; names that begin with x- are for extensions.
func openOperation(r *route, op *operation) object {
	o := object{
		{"summary", op.summary}, {"tags", []string{r.group}}, {"operationId", operationID(r, op)},
		{"x-tag-needed", op.level.String()}, {"responses", openResponses(op)},
	}
	if op.level == anybody {
		o.add("security", []object{})
	}
	if fields := op.bodyFields(); len(fields) > 0 {
		properties, required := object{}, []string{}
		for _, f := range fields {
			properties.add(f.name, object{})
			if f.required {
				required = append(required, f.name)
			}
		}
		schema := object{{"type", "object"}, {"properties", properties}, {"required", required}}
		o.add("requestBody", object{{"content", object{{"application/json", object{{"schema", schema}}}}}})
	}
	return o
}

// operationID names an operation for generated clients: getQueuesVhostQueue.
func operationID(r *route, op *operation) string {
	var b strings.Builder
	b.WriteString(strings.ToLower(op.method))
	for _, word := range strings.FieldsFunc(r.path, func(c rune) bool { return strings.ContainsRune("/{}-_", c) }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// openResponses tells of success and, as default, of everything else. PUT and DELETE have no body to show.
func openResponses(op *operation) object {
	success := http.StatusOK
	switch op.method {
	case http.MethodPut, http.MethodDelete:
		success = http.StatusNoContent
	}
	o := object{{strconv.Itoa(success), object{{"description", "done"}}}}
	failure := object{{"description", "refused"}, {"content", object{
		{"application/json", object{{"schema", object{{"$ref", "#/components/schemas/Error"}}}}},
	}}}
	return append(o, field{"default", failure})
}
