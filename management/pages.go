package management

import (
	"bytes"
	"html/template"
	"net/http"
)

// pages serves what is no API: redirects, the reference, and the page at /. It reports whether the path is one of these.
func (a *API) pages(w http.ResponseWriter, r *http.Request) bool {
	switch r.URL.Path {
	case "/":
		writePage(w, "text/html; charset=utf-8", a.front)
	case prefix, prefix + "/":
		redirect(w, prefix+"/index.html")
	case "/cli":
		redirect(w, "/cli/index.html")
	case prefix + "/index.html":
		writePage(w, "text/html; charset=utf-8", a.reference)
	case prefix + "/openapi.json":
		writePage(w, "application/json", a.description)
	default:
		return false
	}
	return true
}

// redirect is for good, as these addresses are.
func redirect(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusMovedPermanently)
}

// writePage sends a page that anybody may read: none of them tells anything of this broker.
func writePage(w http.ResponseWriter, kind string, text []byte) {
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(text) // the client is gone if that fails
}

// group is a heading of the reference with its routes.
type group struct {
	Name   string
	Routes []reference
}

// reference is an operation as the reference shows it.
type reference struct{ Method, Path, Summary, Level, Fields string }

// groups orders operations for the reference, in the order of the table.
func groups(list []route) []group {
	var all []group
	at := make(map[string]int)
	for i := range list {
		r := &list[i]
		if _, known := at[r.group]; !known {
			at[r.group] = len(all)
			all = append(all, group{Name: r.group})
		}
		g := &all[at[r.group]]
		for j := range r.operations {
			op := &r.operations[j]
			g.Routes = append(g.Routes, reference{op.method, prefix + r.path, op.summary, op.level.String(), op.fields})
		}
	}
	return all
}

// referencePage is made of the route table, and so never older than the routes. It needs nothing from elsewhere: no scripts,
// no fonts.
var referencePage = template.Must(template.New("reference").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Leveret HTTP API</title>
<style>body{font-family:sans-serif;margin:2em;max-width:80em}table{border-collapse:collapse}td,th{padding:.2em .8em .2em 0;text-align:left;vertical-align:top}code{white-space:nowrap}</style>
</head><body><h1>Leveret HTTP API</h1>
<p>The management API of RabbitMQ. Names in paths are percent-encoded: the virtual host / is %2F, the default exchange amq.default. Fields with * are
required. <a href="openapi.json">OpenAPI description</a>.</p>
{{range .}}<h2>{{.Name}}</h2><table><tr><th>method<th>path<th>what it does<th>for<th>body</tr>
{{range .Routes}}<tr><td>{{.Method}}<td><code>{{.Path}}</code><td>{{.Summary}}<td>{{.Level}}<td>{{.Fields}}</tr>
{{end}}</table>{{end}}</body></html>
`))

// frontPage is what stands at / as long as there is no web application.
const frontPage = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Leveret</title></head><body><h1>Leveret</h1>
<p>An AMQP 0-9-1 broker.</p>
<ul><li><a href="api/index.html">HTTP API</a>, <a href="api/openapi.json">its description</a></li><li><a href="api/overview">overview</a></li>
<li><a href="metrics">metrics</a></li></ul></body></html>
`

// makePages builds the pages from the routes, once.
func (a *API) makePages(list []route) {
	var b bytes.Buffer
	if err := referencePage.Execute(&b, groups(list)); err != nil {
		a.log.Error("the reference of the HTTP API can't be shown", "error", err)
	}
	a.front, a.reference = []byte(frontPage), b.Bytes()
	a.description = appendJSON(nil, openAPI(list, a.options.Version))
}
