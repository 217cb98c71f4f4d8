package server_test

import (
	"fmt"
	"testing"

	"leveret/amqp"
	"leveret/auth"
)

// check is one method, the rights that it needs, and what refuses it if one of them lacks.
type check struct {
	name   string
	method amqp.Method
	answer amqp.MethodID // when all rights are there; 0: none
	needs  []need
}

// need is one right on one name.
type need struct {
	right amqp.Right
	kind  amqp.ResourceKind
	name  string
}

func (n need) text() string {
	if n.kind == "topic" {
		return fmt.Sprintf("ACCESS_REFUSED - %s access to topic '%s' in exchange 'topic' in vhost '/' refused for user 'u'", n.right, n.name)
	}
	return fmt.Sprintf("ACCESS_REFUSED - %s access to %s '%s' in vhost '/' refused for user 'u'", n.right, n.kind, n.name)
}

const queueKind, exchangeKind, topicKind = amqp.QueueResource, amqp.ExchangeResource, amqp.ResourceKind("topic")

func table(name string, value any) amqp.Table { return amqp.Table{{Name: name, Value: value}} }

// checks are all methods that ask for rights, each with all that it asks for. There are the queues old and other, bound to old, and the
// exchanges old, other and topic; what is called new is not there.
var checks = []check{
	{"declare exchange", &amqp.ExchangeDeclare{Exchange: "new", Type: "fanout"}, amqp.MethodExchangeDeclareOk,
		[]need{{amqp.Configure, exchangeKind, "new"}}},
	{"declare exchange that is there", &amqp.ExchangeDeclare{Exchange: "old", Type: "direct"}, amqp.MethodExchangeDeclareOk,
		[]need{{amqp.Configure, exchangeKind, "old"}}},
	{"declare exchange with alternate", &amqp.ExchangeDeclare{Exchange: "new", Type: "fanout", Arguments: table("alternate-exchange", "other")},
		amqp.MethodExchangeDeclareOk,
		[]need{{amqp.Configure, exchangeKind, "new"}, {amqp.Read, exchangeKind, "new"}, {amqp.Write, exchangeKind, "other"}}},
	{"delete exchange", &amqp.ExchangeDelete{Exchange: "old"}, amqp.MethodExchangeDeleteOk, []need{{amqp.Configure, exchangeKind, "old"}}},
	{"delete exchange that is not there", &amqp.ExchangeDelete{Exchange: "new"}, amqp.MethodExchangeDeleteOk,
		[]need{{amqp.Configure, exchangeKind, "new"}}},
	{"bind exchange", &amqp.ExchangeBind{Destination: "other", Source: "old"}, amqp.MethodExchangeBindOk,
		[]need{{amqp.Write, exchangeKind, "other"}, {amqp.Read, exchangeKind, "old"}}},
	{"bind exchange to topic", &amqp.ExchangeBind{Destination: "other", Source: "topic", RoutingKey: "k"}, amqp.MethodExchangeBindOk,
		[]need{{amqp.Write, exchangeKind, "other"}, {amqp.Read, exchangeKind, "topic"}, {amqp.Read, topicKind, "k"}}},
	{"unbind exchange", &amqp.ExchangeUnbind{Destination: "other", Source: "old"}, amqp.MethodExchangeUnbindOk,
		[]need{{amqp.Write, exchangeKind, "other"}, {amqp.Read, exchangeKind, "old"}}},
	{"declare queue", &amqp.QueueDeclare{Queue: "new"}, amqp.MethodQueueDeclareOk, []need{{amqp.Configure, queueKind, "new"}}},
	{"declare queue that is there", &amqp.QueueDeclare{Queue: "old"}, amqp.MethodQueueDeclareOk, []need{{amqp.Configure, queueKind, "old"}}},
	{"declare queue with dead letters", &amqp.QueueDeclare{Queue: "new", Arguments: table("x-dead-letter-exchange", "other")},
		amqp.MethodQueueDeclareOk,
		[]need{{amqp.Configure, queueKind, "new"}, {amqp.Read, queueKind, "new"}, {amqp.Write, exchangeKind, "other"}}},
	{"delete queue", &amqp.QueueDelete{Queue: "old"}, amqp.MethodQueueDeleteOk, []need{{amqp.Configure, queueKind, "old"}}},
	{"delete queue that is not there", &amqp.QueueDelete{Queue: "new"}, amqp.MethodQueueDeleteOk, []need{{amqp.Configure, queueKind, "new"}}},
	{"bind queue", &amqp.QueueBind{Queue: "old", Exchange: "old"}, amqp.MethodQueueBindOk,
		[]need{{amqp.Write, queueKind, "old"}, {amqp.Read, exchangeKind, "old"}}},
	{"bind queue to topic", &amqp.QueueBind{Queue: "old", Exchange: "topic", RoutingKey: "a.*"}, amqp.MethodQueueBindOk,
		[]need{{amqp.Write, queueKind, "old"}, {amqp.Read, exchangeKind, "topic"}, {amqp.Read, topicKind, "a.*"}}},
	{"unbind queue", &amqp.QueueUnbind{Queue: "old", Exchange: "old"}, amqp.MethodQueueUnbindOk,
		[]need{{amqp.Write, queueKind, "old"}, {amqp.Read, exchangeKind, "old"}}},
	{"unbind queue from topic", &amqp.QueueUnbind{Queue: "old", Exchange: "topic", RoutingKey: "k"}, amqp.MethodQueueUnbindOk,
		[]need{{amqp.Write, queueKind, "old"}, {amqp.Read, exchangeKind, "topic"}, {amqp.Read, topicKind, "k"}}},
	{"unbind exchange from topic", &amqp.ExchangeUnbind{Destination: "other", Source: "topic", RoutingKey: "k"}, amqp.MethodExchangeUnbindOk,
		[]need{{amqp.Write, exchangeKind, "other"}, {amqp.Read, exchangeKind, "topic"}, {amqp.Read, topicKind, "k"}}},
	{"purge", &amqp.QueuePurge{Queue: "old"}, amqp.MethodQueuePurgeOk, []need{{amqp.Read, queueKind, "old"}}},
	{"consume", &amqp.BasicConsume{Queue: "old"}, amqp.MethodBasicConsumeOk, []need{{amqp.Read, queueKind, "old"}}},
	{"get", &amqp.BasicGet{Queue: "old"}, amqp.MethodBasicGetEmpty, []need{{amqp.Read, queueKind, "old"}}},
	{"publish", &amqp.BasicPublish{Exchange: []byte("old")}, 0, []need{{amqp.Write, exchangeKind, "old"}}},
	{"publish to the default exchange", &amqp.BasicPublish{RoutingKey: []byte("nowhere")}, 0, []need{{amqp.Write, exchangeKind, "amq.default"}}},
	{"publish to topic", &amqp.BasicPublish{Exchange: []byte("topic"), RoutingKey: []byte("k")}, 0,
		[]need{{amqp.Write, exchangeKind, "topic"}, {amqp.Write, topicKind, "k"}}},
}

// grant gives u exactly these rights.
func grant(t *testing.T, users *auth.Authenticator, needs []need) {
	t.Helper()
	var row auth.Permissions
	var topic auth.TopicPermissions
	add := func(expression *string, name string) {
		if *expression != "" {
			*expression += "|"
		}
		*expression += "^" + name + "$"
	}
	for _, n := range needs {
		switch {
		case n.kind == topicKind && n.right == amqp.Read:
			topic.Read = ".*"
		case n.kind == topicKind:
			topic.Write = ".*"
		case n.right == amqp.Configure:
			add(&row.Configure, n.name)
		case n.right == amqp.Write:
			add(&row.Write, n.name)
		default:
			add(&row.Read, n.name)
		}
	}
	hash, err := auth.HashPassword(auth.SHA256, "u")
	if err == nil {
		err = users.PutUser(auth.Account{
			Name: "u", PasswordHash: hash, Permissions: map[string]auth.Permissions{"/": row},
			TopicPermissions: map[string]map[string]auth.TopicPermissions{"/": {"topic": topic}},
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// try sends the method of a check, and returns the text of the refusal, or nothing if it was allowed.
func (c *client) try(k check) string {
	c.t.Helper()
	if m, ok := k.method.(*amqp.BasicPublish); ok {
		c.addPublish(1, m, nil, nil)
		c.add(1, &amqp.BasicQos{})
		c.mustFlush()
		k.answer = amqp.MethodBasicQosOk
	} else {
		c.send(1, k.method)
	}
	f, err := c.next()
	if err != nil {
		c.t.Fatal(err)
	}
	switch f.MethodID() {
	case k.answer:
		return ""
	case amqp.MethodChannelClose:
		var m amqp.ChannelClose
		if err := m.Decode(f.Arguments()); err != nil {
			c.t.Fatal(err)
		}
		if m.ReplyCode != 403 || amqp.MethodID(uint32(m.ClassID)<<16|uint32(m.MethodID)) != k.method.ID() {
			c.t.Errorf("%d at %d,%d", m.ReplyCode, m.ClassID, m.MethodID)
		}
		return m.ReplyText
	}
	c.t.Fatalf("got %s", f.MethodID())
	return ""
}

// Every method that needs rights works with exactly these, and is refused, in the words that clients know, without any one of them.
func TestPermissionsOfEveryMethod(t *testing.T) {
	for _, k := range checks {
		t.Run(k.name, func(t *testing.T) {
			r := start(t, testOptions())
			g := r.open()
			for _, x := range []string{"old", "other"} {
				g.call(1, &amqp.ExchangeDeclare{Exchange: x, Type: "direct"}, amqp.MethodExchangeDeclareOk)
				g.declare(x)
			}
			g.call(1, &amqp.ExchangeDeclare{Exchange: "topic", Type: "topic"}, amqp.MethodExchangeDeclareOk)
			attempt := func(needs []need) string {
				grant(t, r.users, needs)
				c := r.dial()
				if err := c.opening(opening{user: "u"}); err != nil {
					t.Fatal(err)
				}
				defer c.conn.Close()
				return c.try(k)
			}
			for i, missing := range k.needs {
				others := append(append([]need{}, k.needs[:i]...), k.needs[i+1:]...)
				if got := attempt(others); got != missing.text() {
					t.Errorf("without the right to %s %s %s:\n got %q\nwant %q", missing.right, missing.kind, missing.name, got, missing.text())
				}
			}
			if got := attempt(k.needs); got != "" {
				t.Errorf("with all rights: %q", got)
			}
			g.goodbye()
		})
	}
}

// Passive declares are content with any right on the name.
func TestPermissionsOfPassiveDeclares(t *testing.T) {
	r := start(t, testOptions())
	g := r.open()
	g.declare("old")
	g.call(1, &amqp.ExchangeDeclare{Exchange: "old", Type: "direct"}, amqp.MethodExchangeDeclareOk)
	for _, k := range []check{
		{name: "queue", method: &amqp.QueueDeclare{Queue: "old", Passive: true}, answer: amqp.MethodQueueDeclareOk},
		{name: "exchange", method: &amqp.ExchangeDeclare{Exchange: "old", Passive: true}, answer: amqp.MethodExchangeDeclareOk},
	} {
		for _, right := range []amqp.Right{amqp.Configure, amqp.Write, amqp.Read, ""} {
			t.Run(k.name+" "+string(right), func(t *testing.T) {
				want := ""
				grant(t, r.users, []need{{right, queueKind, "old"}})
				if right == "" {
					grant(t, r.users, nil)
					want = need{amqp.Configure, amqp.ResourceKind(k.name), "old"}.text()
				}
				c := r.dial()
				if err := c.opening(opening{user: "u"}); err != nil {
					t.Fatal(err)
				}
				defer c.conn.Close()
				if got := c.try(k); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			})
		}
	}
	g.goodbye()
}

// free are the methods that a client may send whatever its rights: they are about what it has anyway.
var free = []amqp.MethodID{
	amqp.MethodChannelOpen, amqp.MethodChannelClose, amqp.MethodChannelCloseOk, amqp.MethodChannelFlow, amqp.MethodChannelFlowOk, amqp.MethodAccessRequest,
	amqp.MethodBasicQos, amqp.MethodBasicCancel, amqp.MethodBasicCancelOk, amqp.MethodBasicAck, amqp.MethodBasicNack, amqp.MethodBasicReject,
	amqp.MethodBasicRecover, amqp.MethodBasicRecoverAsync, amqp.MethodConfirmSelect, amqp.MethodTxSelect, amqp.MethodTxCommit, amqp.MethodTxRollback,
}

// A method that is new needs a line in the table of checks, or a reason to need none.
func TestEveryMethodHasItsRights(t *testing.T) {
	checked := map[amqp.MethodID]bool{}
	for _, k := range checks {
		checked[k.method.ID()] = true
	}
	for _, id := range free {
		if checked[id] {
			t.Errorf("%s is checked and free", id)
		}
		checked[id] = true
	}
	for class := range uint32(200) {
		for method := range uint32(256) {
			id := amqp.MethodID(class<<16 | method)
			if amqp.NewMethod(id) != nil && id.FromClient() && id.Class() != amqp.ClassConnection && !checked[id] {
				t.Errorf("%s: nothing is said of its rights", id)
			}
		}
	}
}

// Each routing key of a message needs the right to write, those of CC and BCC too, whether the route is remembered or not.
func TestPermissionsOfFurtherKeys(t *testing.T) {
	r := start(t, testOptions())
	for name, headers := range map[string]amqp.Table{
		"CC": table("CC", amqp.Array{"own.1", "other"}), "BCC": table("BCC", amqp.Array{"other"}), "neither": nil, "allowed": table("CC", amqp.Array{"own.2"}),
	} {
		c := r.dial()
		if err := c.opening(opening{user: "limited"}); err != nil {
			t.Fatal(err)
		}
		publish := func(headers amqp.Table) {
			c.addPublish(1, &amqp.BasicPublish{Exchange: []byte("amq.topic"), RoutingKey: []byte("own.0")}, &amqp.Properties{Flags: amqp.FlagHeaders, Headers: headers}, nil)
		}
		publish(nil)
		publish(headers)
		c.add(1, &amqp.BasicQos{})
		c.mustFlush()
		f, err := c.next()
		if err != nil {
			t.Fatal(err)
		}
		refused := f.MethodID() == amqp.MethodChannelClose
		if want := name == "CC" || name == "BCC"; refused != want {
			t.Errorf("%s: refused %v", name, refused)
		}
		c.conn.Close()
	}
}
