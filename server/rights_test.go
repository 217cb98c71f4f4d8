package server_test

import (
	"testing"

	"leveret/amqp"
	"leveret/auth"
)

// Rights that are taken away count at once on channels that are open, whatever the connection remembers of routes.
func TestRightsTakenAway(t *testing.T) {
	r := start(t, testOptions())
	c := r.dial()
	if err := c.opening(opening{user: "limited"}); err != nil {
		t.Fatal(err)
	}
	c.declare("own")
	fill(c, "own", 10, 1)
	c.call(1, &amqp.BasicGet{NoAck: true}, amqp.MethodBasicGetOk)
	if _, err := c.content(); err != nil {
		t.Fatal(err)
	}
	if err := r.users.SetPermissions("limited", "/", auth.Permissions{}); err != nil {
		t.Fatal(err)
	}
	for _, try := range []struct {
		name   string
		method amqp.Method
		want   string
	}{
		{"publish", &amqp.BasicPublish{RoutingKey: []byte("own")},
			"ACCESS_REFUSED - write access to exchange 'amq.default' in vhost '/' refused for user 'limited'"},
		{"get", &amqp.BasicGet{Queue: "own"}, "ACCESS_REFUSED - read access to queue 'own' in vhost '/' refused for user 'limited'"},
		{"declare", &amqp.QueueDeclare{Queue: "own2"}, "ACCESS_REFUSED - configure access to queue 'own2' in vhost '/' refused for user 'limited'"},
	} {
		if m, ok := try.method.(*amqp.BasicPublish); ok {
			c.addPublish(1, m, nil, nil)
			c.mustFlush()
		} else {
			c.send(1, try.method)
		}
		if m := c.expect(amqp.MethodChannelClose).(*amqp.ChannelClose); m.ReplyText != try.want {
			t.Errorf("%s: got %q, want %q", try.name, m.ReplyText, try.want)
		}
		c.send(1, &amqp.ChannelCloseOk{})
		c.call(1, &amqp.ChannelOpen{}, amqp.MethodChannelOpenOk)
	}
	c.goodbye()
}
