package management_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// deadlines notes until when the request may still be read.
type deadlines struct {
	*httptest.ResponseRecorder
	set []time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.set = append(d.set, at)
	return nil
}

// What bounds the time for a body ends with it: a call that takes longer, like a slow replay, goes on.
func TestBodyTimeEndsWithTheBody(t *testing.T) {
	r := start(t)
	answer := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	request := httptest.NewRequest(http.MethodPut, "/api/queues/%2F/q", strings.NewReader("{}"))
	request.Header.Set("Authorization", basic("guest:guest"))
	request.RemoteAddr = "127.0.0.1:1"
	r.api.ServeHTTP(answer, request)
	if answer.Code != http.StatusCreated {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	if n := len(answer.set); n != 2 || answer.set[0].IsZero() || !answer.set[1].IsZero() {
		t.Errorf("deadlines %v, want one and then none", answer.set)
	}
}
