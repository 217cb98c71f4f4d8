package server_test

import (
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"leveret/amqp"
	"leveret/auth"
	"leveret/server"
	"leveret/store"
)

// tokens are access tokens by their texts, which have a token's form and nothing more.
type tokens map[string]auth.Token

func (known tokens) Verify(token string) (auth.Token, error) {
	t, found := known[token]
	if !found {
		return t, errors.New("forged")
	}
	return t, nil
}

const (
	firstToken  = "e30.e30.1"
	secondToken = "e30.e30.2"
)

// withTokens plays with a server that takes these tokens, on a clock of its own, over a connection that is opened with the first.
func withTokens(t *testing.T, make func() tokens, play func(c *client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		options := auth.DefaultOptions()
		options.Tokens = make()
		users, err := auth.New(options)
		if err != nil {
			t.Fatal(err)
		}
		srv, err := server.New(testOptions(), server.Dependencies{Store: store.NewMemory(), Users: users, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{srv, t, users}
		r.Serve()
		defer r.stop()
		c := r.pipe()
		defer c.conn.Close()
		if err := c.opening(opening{user: "whoever", password: firstToken}); err != nil {
			t.Fatal(err)
		}
		play(c)
	})
}

// everything are a token's scopes of somebody who may do all.
var everything = []string{"configure:*/*", "write:*/*", "read:*/*"}

// inAMinute is a token that ends in a minute, and one that ends ten minutes later.
func inAMinute() tokens {
	end := time.Now().Add(time.Minute)
	return tokens{
		firstToken:  {User: "worker", Scopes: everything, Expires: end},
		secondToken: {User: "worker", Scopes: everything, Expires: end.Add(10 * time.Minute)},
	}
}

// ends reads the connection.close that must come next.
func (c *client) ends(code uint16, text string) {
	c.t.Helper()
	if m := c.expect(amqp.MethodConnectionClose).(*amqp.ConnectionClose); m.ReplyCode != code || m.ReplyText != text {
		c.t.Errorf("got %d %s, want %d %s", m.ReplyCode, m.ReplyText, code, text)
	}
	c.send(0, &amqp.ConnectionCloseOk{})
}

func TestTokenEnds(t *testing.T) {
	withTokens(t, inAMinute, func(c *client) {
		c.declare("q")
		from := time.Now()
		c.ends(320, "CONNECTION_FORCED - credential expired")
		if after := time.Since(from); after != time.Minute {
			t.Errorf("the connection ends after %s", after)
		}
	})
}

func TestTokenIsRenewed(t *testing.T) {
	withTokens(t, inAMinute, func(c *client) {
		from := time.Now()
		time.Sleep(30 * time.Second)
		c.call(0, &amqp.ConnectionUpdateSecret{NewSecret: []byte(secondToken), Reason: "renewed"}, amqp.MethodConnectionUpdateSecretOk)
		c.ends(320, "CONNECTION_FORCED - credential expired")
		if after := time.Since(from); after != 11*time.Minute {
			t.Errorf("the connection ends after %s", after)
		}
	})
}

func TestSecretsThatRenewNothing(t *testing.T) {
	for name, secret := range map[string]string{"forged": "e30.e30.x", "of somebody else": secondToken, "password": "guest"} {
		withTokens(t, func() tokens {
			known := inAMinute()
			known[secondToken] = auth.Token{User: "guest", Scopes: everything, Expires: time.Now().Add(time.Hour)}
			return known
		}, func(c *client) {
			c.send(0, &amqp.ConnectionUpdateSecret{NewSecret: []byte(secret)})
			m := c.expect(amqp.MethodConnectionClose).(*amqp.ConnectionClose)
			if m.ReplyText != "NOT_ALLOWED - New secret was refused by one of the backends" || amqp.MethodID(uint32(m.ClassID)<<16|uint32(m.MethodID)) != amqp.MethodConnectionUpdateSecret {
				t.Errorf("%s: got %s for %s", name, m.ReplyText, amqp.MethodConnectionUpdateSecret)
			}
			c.send(0, &amqp.ConnectionCloseOk{})
		})
	}
}

// A token with fewer rights counts at once, for routes that are remembered and for consumers too.
func TestRenewedTokenTakesRightsAway(t *testing.T) {
	withTokens(t, func() tokens {
		known := inAMinute()
		lesser := known[secondToken]
		lesser.Scopes = []string{"read:%2F/mine", "write:%2F/mine"}
		known[secondToken] = lesser
		return known
	}, func(c *client) {
		c.declare("q")
		c.call(1, &amqp.BasicConsume{Queue: "q", ConsumerTag: "c", NoAck: true}, amqp.MethodBasicConsumeOk)
		for range 2 {
			c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, nil, []byte("m"))
			c.mustFlush()
			c.expect(amqp.MethodBasicDeliver)
			if _, err := c.content(); err != nil {
				t.Fatal(err)
			}
		}
		c.call(0, &amqp.ConnectionUpdateSecret{NewSecret: []byte(secondToken)}, amqp.MethodConnectionUpdateSecretOk)
		if m := c.expect(amqp.MethodBasicCancel).(*amqp.BasicCancel); m.ConsumerTag != "c" {
			t.Errorf("cancelled %q", m.ConsumerTag)
		}
		c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("q")}, nil, []byte("m"))
		c.mustFlush()
		const want = "ACCESS_REFUSED - write access to exchange 'amq.default' in vhost '/' refused for user 'worker'"
		if m := c.expect(amqp.MethodChannelClose).(*amqp.ChannelClose); m.ReplyText != want {
			t.Errorf("got %q, want %q", m.ReplyText, want)
		}
	})
}

// A token without a word for the virtual host ends the connection.
func TestRenewedTokenLosesVirtualHost(t *testing.T) {
	withTokens(t, func() tokens {
		known := inAMinute()
		lesser := known[secondToken]
		lesser.Scopes = []string{"read:other/*"}
		known[secondToken] = lesser
		return known
	}, func(c *client) {
		c.send(0, &amqp.ConnectionUpdateSecret{NewSecret: []byte(secondToken)})
		c.ends(530, "NOT_ALLOWED - access to vhost '/' refused for user 'worker'")
	})
}
