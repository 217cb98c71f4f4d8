package management

import "net/http"

// pages serves what is no API: redirects, the reference, and the page at /. It reports whether the path is one of these.
func (a *API) pages(w http.ResponseWriter, r *http.Request) bool {
	switch r.URL.Path {
	case prefix, prefix + "/":
		w.Header().Set("Location", prefix+"/index.html")
		w.WriteHeader(http.StatusMovedPermanently)
	case "/cli":
		w.Header().Set("Location", "/cli/index.html")
		w.WriteHeader(http.StatusMovedPermanently)
	default:
		return false
	}
	return true
}
