package server_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"

	"leveret/amqp"
	"leveret/auth"
	"leveret/server"
	"leveret/store"
	"leveret/vhost"
)

// mustCreate makes a virtual host in which guest may do everything.
func (r *rig) mustCreate(name string) {
	r.t.Helper()
	created, err := r.CreateVHost(name, vhost.Metadata{})
	if err != nil || !created {
		r.t.Fatalf("create %q: created %v, %v", name, created, err)
	}
	if err := r.users.SetPermissions("guest", name, auth.AllPermissions()); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// openIn opens a connection to a virtual host and channel 1.
func (r *rig) openIn(name string) *client {
	r.t.Helper()
	c := r.dial()
	if err := c.opening(opening{vhost: name}); err != nil {
		r.t.Fatal(err)
	}
	return c
}

func vhostNames(r *rig) (names []string) {
	for _, v := range r.VHosts() {
		names = append(names, v.Name())
	}
	return names
}

func refusedFor(t *testing.T, err, kind error, text string) {
	t.Helper()
	if !errors.Is(err, kind) || err.Error() != text {
		t.Errorf("got %v, want %q", err, text)
	}
}

func TestVHostsAreMadeAndKept(t *testing.T) {
	s := store.NewMemory()
	r := newRig(t, testOptions(), s)
	odd := "a/b %2F\nü 🐇"
	r.mustCreate(odd)
	protected := true
	want := vhost.Metadata{Description: "orders", Tags: []string{"a", "b"}, DefaultQueueType: "quorum", Protected: &protected, Tracing: true}
	if created, err := r.CreateVHost("orders", want); !created || err != nil {
		t.Fatal(created, err)
	}
	if err := r.SetVHostLimit("orders", vhost.MaxQueues, 7); err != nil {
		t.Fatal(err)
	}
	if created, err := r.CreateVHost("orders", want); created || err != nil {
		t.Errorf("made again: %v, %v", created, err)
	}
	r.stop()
	r = newRig(t, testOptions(), s)
	if got := vhostNames(r); !slices.Equal(got, []string{"/", odd, "orders"}) {
		t.Errorf("after a restart there are %q", got)
	}
	v := r.VHost("orders")
	if got := v.Metadata(); fmt.Sprintln(got.Description, got.Tags, got.DefaultQueueType, *got.Protected, got.Tracing) != "orders [a b] quorum true true\n" {
		t.Errorf("metadata %+v", got)
	}
	if got := v.Limits(); got[vhost.MaxQueues] != 7 || len(got) != 1 {
		t.Errorf("limits %v", got)
	}
	if r.VHost("/").Limits() != nil {
		t.Error("limits that nobody set")
	}
	r.stop()
}

func TestVHostRefusals(t *testing.T) {
	o := testOptions()
	o.VHostMax = 2
	r := newRig(t, o, store.NewMemory())
	defer r.stop()
	_, err := r.CreateVHost("", vhost.Metadata{})
	refusedFor(t, err, server.ErrVHostName, "virtual host name must be a text in UTF-8 of 1 to 255 bytes")
	_, err = r.CreateVHost("v", vhost.Metadata{DefaultQueueType: "fast"})
	refusedFor(t, err, server.ErrVHostQueueType, "fast is not a valid queue type")
	r.mustCreate("v")
	_, err = r.CreateVHost("w", vhost.Metadata{})
	refusedFor(t, err, server.ErrVHostLimit, "cannot create vhost 'w': vhost limit of 2 is reached")
	refusedFor(t, r.DeleteVHost("w"), server.ErrNoVHost, "vhost_not_found")
	refusedFor(t, r.SetVHostLimit("w", vhost.MaxQueues, 1), server.ErrNoVHost, "vhost_not_found")
	refusedFor(t, r.SetVHostLimit("v", "n", 1), server.ErrVHostUnknownLimit, `Unrecognised terms [{<<"n">>,1}] in limits`)
	refusedFor(t, r.ProtectVHost("w", true), server.ErrNoVHost, "Cannot enable deletion protection of virtual host 'w' because it does not exist")
	refusedFor(t, r.ProtectVHost("w", false), server.ErrNoVHost, "Cannot disable deletion protection of virtual host 'w' because it does not exist")
	if err := r.ProtectVHost("v", true); err != nil {
		t.Fatal(err)
	}
	refusedFor(t, r.DeleteVHost("v"), server.ErrVHostProtected, "Refusing to delete virtual host 'v' because it is protected from deletion")
	if err := errors.Join(r.ProtectVHost("v", false), r.DeleteVHost("v")); err != nil {
		t.Error(err)
	}
}

// A deleted virtual host takes everything with it, and one of the same name begins empty.
func TestDeletedVHostLeavesNothing(t *testing.T) {
	s := store.NewMemory()
	r := startOn(t, testOptions(), s)
	r.mustCreate("v")
	inside, outside := r.openIn("v"), r.open()
	inside.call(1, &amqp.ExchangeDeclare{Exchange: "x", Type: "topic", Durable: true}, amqp.MethodExchangeDeclareOk)
	inside.call(1, &amqp.QueueDeclare{Queue: "q", Durable: true}, amqp.MethodQueueDeclareOk)
	inside.call(1, &amqp.QueueDeclare{Queue: "mine", Exclusive: true}, amqp.MethodQueueDeclareOk)
	inside.call(1, &amqp.QueueBind{Queue: "q", Exchange: "x", RoutingKey: "#"}, amqp.MethodQueueBindOk)
	fill(inside, "q", 10, 1)
	if err := r.users.SetTopicPermissions("limited", "v", "x", auth.TopicPermissions{}); err != nil {
		t.Fatal(err)
	}
	deleted := make(chan error, 1)
	go func() { deleted <- r.DeleteVHost("v") }()
	m := inside.expect(amqp.MethodConnectionClose).(*amqp.ConnectionClose)
	if m.ReplyCode != 320 || m.ReplyText != "CONNECTION_FORCED - vhost 'v' is deleted" {
		t.Errorf("closed with %d %q", m.ReplyCode, m.ReplyText)
	}
	if err := <-deleted; err != nil {
		t.Fatal(err)
	}
	for _, bucket := range []string{"exchanges of v", "queues of v", "bindings of v", "virtual hosts"} {
		s.Load(bucket, func(key string, _ []byte) error {
			if key != "/" {
				t.Errorf("%s: %q is left", bucket, key)
			}
			return nil
		})
	}
	r.refusedOpening(opening{vhost: "v"}, "NOT_ALLOWED - vhost v not found")
	for _, a := range r.users.Users() {
		if _, ok := a.Permissions["v"]; ok || a.TopicPermissions["v"] != nil {
			t.Errorf("%s has rights in what is gone", a.Name)
		}
	}
	r.mustCreate("v")
	again := r.openIn("v")
	again.send(1, &amqp.QueueDeclare{Queue: "q", Passive: true})
	again.expect(amqp.MethodChannelClose)
	outside.goodbye()
}

// refusedOpening opens a connection that connection.open must refuse with a 530.
func (r *rig) refusedOpening(o opening, text string) {
	r.t.Helper()
	c := r.dial()
	c.out = append(c.out, protocolHeader...)
	c.add(0, o.startOk(), &amqp.ConnectionTuneOk{FrameMax: 131072, ChannelMax: 8}, &amqp.ConnectionOpen{VirtualHost: cmp.Or(o.vhost, "/")})
	c.mustFlush()
	c.expect(amqp.MethodConnectionStart)
	c.expect(amqp.MethodConnectionTune)
	m := c.expect(amqp.MethodConnectionClose).(*amqp.ConnectionClose)
	if m.ReplyCode != 530 || m.ReplyText != text || m.ClassID != 10 || m.MethodID != 40 {
		r.t.Errorf("got %d %q at %d,%d, want %q", m.ReplyCode, m.ReplyText, m.ClassID, m.MethodID, text)
	}
	c.conn.Close()
}
