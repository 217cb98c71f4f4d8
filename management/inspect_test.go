package management_test

import (
	"net/http"
	"testing"

	"leveret/amqp"
)

// TestMessagesOfOthers: what stands in another's exclusive queue, answers to requests mostly, is for administrators to see, whatever rights somebody
// has on names.
func TestMessagesOfOthers(t *testing.T) {
	r := start(t)
	r.must(http.StatusCreated, "PUT", "/api/users/man", `{"password":"x","tags":"management"}`)
	r.must(http.StatusCreated, "PUT", "/api/permissions/%2F/man", `{"configure":".*","write":".*","read":".*"}`)
	c := r.client()
	c.send(1, &amqp.QueueDeclare{Queue: "mine", Exclusive: true})
	c.expect(amqp.MethodQueueDeclareOk)
	r.must(http.StatusOK, "POST", "/api/exchanges/%2F/amq.default/publish", `{"properties":{},"routing_key":"mine","payload":"x","payload_encoding":"string"}`)
	for _, tt := range []struct {
		method, path string
		status       int // for an administrator
	}{
		{"GET", "/api/queues/%2F/mine/messages", http.StatusOK},
		{"GET", "/api/queues/%2F/mine/delayed", http.StatusOK},
		{"DELETE", "/api/queues/%2F/mine/messages/1", http.StatusNoContent},
	} {
		r.must(http.StatusBadRequest, tt.method, tt.path, "", "Authorization", basic("man:x"))
		r.must(tt.status, tt.method, tt.path, "")
	}
}
