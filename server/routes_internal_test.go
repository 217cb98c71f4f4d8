package server

import (
	"testing"

	"leveret/amqp"
	"leveret/auth"
)

// Rights that change between the check and the moment when the route is remembered make it a route of old rights: the next message is
// checked again.
func TestRouteIsOfTheRightsThatWereChecked(t *testing.T) {
	c := hotPath(t)
	p := &c.publisher
	m := amqp.Message(amqp.AppendMessageAddress(nil, []byte("amq.direct"), []byte("k")))
	p.routes.version = p.routes.rights.Load()
	x, err := c.exchangeFor(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.server.users.SetPermissions("guest", "/", auth.Permissions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.resolve(new(channel), x, m, nil); err != nil {
		t.Fatal(err)
	}
	if p.routes.find(m.Address()) == nil {
		t.Fatal("the route was not remembered at all, so the test says nothing")
	}
	ch := c.last
	ch.content.message, ch.content.properties = append(m, 0, 0), 2
	if _, _, err := c.destination(ch, ch.content.message); err == nil {
		t.Error("published by a right that was taken away")
	}
}
