package management

import (
	"net/http"
	"strings"
)

// prefix is where the API stands.
const prefix = "/api"

// router finds the route of a request. It is made of two of net/http's: names can be anything, so /connections/username/x could be a user's
// connections or the part x of a connection, and a ServeMux takes no two patterns that both fit. What is in the first goes before the second.
type router struct {
	first, second *http.ServeMux
}

// newRouter makes a router that serves each route by what handle returns for it.
func newRouter(list []route, handle func(r *route) http.Handler) *router {
	rt := &router{http.NewServeMux(), http.NewServeMux()}
	for i := range list {
		r := &list[i]
		mux := rt.second
		if r.first {
			mux = rt.first
		}
		mux.Handle(prefix+r.path, handle(r))
	}
	return rt
}

// serve calls the handler of the request's route, and reports whether there is one.
func (rt *router) serve(w http.ResponseWriter, r *http.Request) bool {
	r = withPlainPath(r)
	// Handler only looks; it is ServeHTTP that sets the path's values in the request.
	for _, mux := range []*http.ServeMux{rt.first, rt.second} {
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)
			return true
		}
	}
	return false
}

// withPlainPath hides from net/http what names in the path are made of. It takes "%2F" for the end of a path and ".." for a way through folders,
// and both are names here: the first virtual host is called "/". So each part is escaped once more, and [call.path] decodes it. The path is split
// before anything in it is decoded, as clients expect. A slash at the end means nothing.
func withPlainPath(r *http.Request) *http.Request {
	path := strings.TrimSuffix(r.URL.EscapedPath(), "/")
	parts := strings.Split(path, "/")
	for i, part := range parts {
		// net/http would answer with a redirect to the path without them.
		if part == "." || part == ".." {
			part = strings.ReplaceAll(part, ".", "%2E")
		}
		parts[i] = part
	}
	u := *r.URL
	u.Path = strings.Join(parts, "/")
	u.RawPath = strings.ReplaceAll(u.Path, "%", "%25")
	plain := *r
	plain.URL = &u
	return &plain
}

// emptyPart tells whether a path has a part without a name, which stands for nothing.
func emptyPart(r *http.Request) bool { return strings.Contains(r.URL.EscapedPath(), "//") }
