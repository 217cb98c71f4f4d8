package auth

import (
	"sync/atomic"

	"leveret/amqp"
)

// rememberedDecisions bounds the memory of one [Rights]. When it is full it is emptied: a client that touches more names than this pays
// for the matching, and nothing else.
const rememberedDecisions = 256

// Rights answers what one user may do in one virtual host. Every answer reflects the permissions of this moment. A Rights belongs to one
// goroutine (a connection's reader), as it remembers its decisions without a lock; [Rights.Version] alone may be read by all.
type Rights struct {
	auth        *Authenticator
	user, vhost string
	fixed       bool // grant is all there is to it: it does not come from an account

	version uint64 // of the directory that grant and decided are from
	grant   *grant // nil when the user or its row is gone: everything is refused
	decided map[question]bool
}

// question is a check whose answer depends on nothing else.
type question struct {
	right    amqp.Right
	kind     amqp.ResourceKind
	name     string
	topicKey string // of topic checks
	topic    bool
}

// Version changes after every change of anybody's rights. Whoever remembers the outcome of a check remembers the version from before the
// check too, and checks anew when it has changed.
func (r *Rights) Version() *atomic.Uint64 { return &r.auth.version }

// User is the name of the user whose rights these are.
func (r *Rights) User() string { return r.user }

// Configure returns nil if the user may declare and delete the exchange or queue, else an [*amqp.Error] 403.
func (r *Rights) Configure(kind amqp.ResourceKind, name string) error {
	return r.check(amqp.Configure, kind, name)
}

// Write returns nil if the user may publish to the exchange, bind the queue or exchange as a destination, else an [*amqp.Error] 403.
func (r *Rights) Write(kind amqp.ResourceKind, name string) error {
	return r.check(amqp.Write, kind, name)
}

// Read returns nil if the user may consume from or purge the queue, bind to the exchange as a source, else an [*amqp.Error] 403.
func (r *Rights) Read(kind amqp.ResourceKind, name string) error {
	return r.check(amqp.Read, kind, name)
}

// WriteTopic returns nil if the user may publish with this routing key, else an [*amqp.Error] 403. It is asked for topic exchanges only,
// beside Write.
func (r *Rights) WriteTopic(exchange, key string) error {
	return r.checkTopic(amqp.Write, exchange, key)
}

// ReadTopic returns nil if the user may bind a queue to a topic exchange with this binding key, else an [*amqp.Error] 403.
func (r *Rights) ReadTopic(exchange, key string) error { return r.checkTopic(amqp.Read, exchange, key) }

func (r *Rights) check(right amqp.Right, kind amqp.ResourceKind, name string) error {
	if name == "" && kind == amqp.ExchangeResource {
		name = "amq.default" // under this name the default exchange stands in permissions and in errors
	}
	r.refresh()
	if r.grant != nil && r.decide(*r.grant.at(right), question{right: right, kind: kind, name: name}, name) {
		return nil
	}
	return amqp.AccessRefused(right, kind, name, r.vhost, r.user)
}

func (r *Rights) checkTopic(right amqp.Right, exchange, key string) error {
	r.refresh()
	if r.grant != nil {
		p, restricted := r.grant.topic(right, exchange)
		if !restricted {
			return nil
		}
		if r.decide(p, question{right: right, name: exchange, topicKey: key, topic: true}, key) {
			return nil
		}
	}
	return amqp.TopicRefused(right, key, exchange, r.vhost, r.user)
}

// at is where the pattern for a right is.
func (g *grant) at(right amqp.Right) *pattern {
	switch right {
	case amqp.Configure:
		return &g.configure
	case amqp.Write:
		return &g.write
	}
	return &g.read
}

// topic is what routing keys of a topic exchange have to match, or false if they may be any.
func (g *grant) topic(right amqp.Right, exchange string) (p pattern, restricted bool) {
	if g.scopes != nil {
		return g.keys(right, exchange), true
	}
	topic, restricted := g.topics[exchange]
	if right == amqp.Write {
		return topic.write, restricted
	}
	return topic.read, restricted
}

// decide asks the pattern about text, or remembers what it said.
func (r *Rights) decide(p pattern, q question, text string) bool {
	if p.constant() {
		return p.everything
	}
	if allowed, known := r.decided[q]; known {
		return allowed
	}
	allowed := p.allows(text)
	if len(r.decided) >= rememberedDecisions {
		clear(r.decided)
	}
	if r.decided == nil {
		r.decided = make(map[question]bool)
	}
	r.decided[q] = allowed
	return allowed
}

// refresh drops what was remembered if anybody's rights have changed since. The version is read first: if the directory is newer than
// that, the next call looks once more.
func (r *Rights) refresh() {
	version := r.auth.version.Load()
	if r.fixed || version == r.version && r.grant != nil {
		return
	}
	r.version = version
	r.grant = nil
	if e := r.auth.directory.Load().entries[r.user]; e != nil {
		r.grant = e.grants[r.vhost]
	}
	clear(r.decided)
}
