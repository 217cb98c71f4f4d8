package metrics

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
)

// packers are reused, as each takes hundreds of kilobytes. Scrapes are read once and on the next machine, so speed counts.
var packers = sync.Pool{New: func() any {
	packer, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	return packer
}}

// compressed returns where to write an answer to, packed if the client takes that, and what ends it.
func compressed(w http.ResponseWriter, r *http.Request) (out io.Writer, done func() error) {
	w.Header().Set("Vary", "Accept-Encoding")
	if !takesGzip(r.Header.Get("Accept-Encoding")) {
		return w, func() error { return nil }
	}
	w.Header().Set("Content-Encoding", "gzip")
	packer := packers.Get().(*gzip.Writer)
	packer.Reset(w)
	return packer, func() error {
		err := packer.Close()
		packers.Put(packer)
		return err
	}
}

// takesGzip reads a list such as "deflate, gzip;q=0.5".
func takesGzip(accepted string) bool {
	for coding := range strings.SplitSeq(accepted, ",") {
		name, weight, _ := strings.Cut(strings.ReplaceAll(coding, " ", ""), ";")
		if strings.EqualFold(name, "gzip") || name == "*" {
			return strings.Trim(strings.TrimPrefix(weight, "q="), "0.") != "" || weight == ""
		}
	}
	return false
}
