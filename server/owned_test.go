package server_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"leveret/amqp"
	"leveret/queue"
	"leveret/store"
)

// largeBody is a body that nobody else sends, for messages in chunks of their own and somewhat smaller and larger ones.
func largeBody(random *rand.Rand, client, number int) []byte {
	size := queue.MostInChunk/2 + random.IntN(queue.MostOwned)
	unit := fmt.Appendf(nil, "%d/%d.", client, number)
	return bytes.Repeat(unit, size/len(unit))
}

// The memory of a large message is another's as soon as its last queue has let go of it. Clients that get theirs through two queues, returned,
// or by basic.get, in turn, always find in it what they sent.
func TestLargeBodiesInUsedMemory(t *testing.T) {
	disk, err := store.Open(t.TempDir(), store.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := disk.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for name, s := range map[string]store.Store{"disk": disk, "memory": store.NewMemory()} {
		t.Run(name, func(t *testing.T) {
			r := startOn(t, testOptions(), s)
			var clients sync.WaitGroup
			for i := range 4 {
				c := r.open()
				clients.Go(func() {
					if err := c.sendsLarge(i, 40); err != nil {
						t.Errorf("client %d: %v", i, err)
					}
				})
			}
			clients.Wait()
		})
	}
}

// sendsLarge has a client publish large messages to two queues of its own, consume them from one and get them from the other.
func (c *client) sendsLarge(client, rounds int) error {
	consumed, got, x := fmt.Sprint("consumed", client), fmt.Sprint("got", client), fmt.Sprint("x", client)
	c.add(1, &amqp.ExchangeDeclare{Exchange: x, Type: "fanout", NoWait: true})
	for _, q := range []string{consumed, got} {
		c.add(1, &amqp.QueueDeclare{Queue: q, Durable: true, NoWait: true}, &amqp.QueueBind{Queue: q, Exchange: x, NoWait: true})
	}
	c.add(1, &amqp.BasicConsume{Queue: consumed, ConsumerTag: "t", NoAck: client%2 == 0, NoWait: true})
	random := rand.New(rand.NewPCG(1, uint64(client)))
	for round := range rounds {
		var sent [][]byte
		for i := range 3 {
			body := largeBody(random, client, round*3+i)
			sent = append(sent, body)
			properties := &amqp.Properties{Flags: amqp.FlagDeliveryMode, DeliveryMode: uint8(1 + round%2)}
			c.addPublish(1, &amqp.BasicPublish{Exchange: []byte(x)}, properties, body)
		}
		if err := c.flush(); err != nil {
			return err
		}
		if err := c.takesLarge(got, sent, client%2 == 0); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
	}
	return nil
}

// takesLarge reads what was delivered, gets it too, and has it returned.
func (c *client) takesLarge(queue string, sent [][]byte, noAck bool) error {
	for i, body := range sent {
		m, err := c.method(amqp.MethodBasicDeliver)
		if err != nil {
			return err
		}
		if !noAck {
			c.add(1, &amqp.BasicAck{DeliveryTag: m.(*amqp.BasicDeliver).DeliveryTag})
		}
		if err := c.gotLarge(body); err != nil {
			return fmt.Errorf("delivery %d: %w", i, err)
		}
	}
	for i, body := range sent {
		c.add(1, &amqp.BasicGet{Queue: queue, NoAck: true})
		c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("nobody's"), Mandatory: true}, nil, body)
		if err := c.flush(); err != nil {
			return err
		}
		for _, id := range []amqp.MethodID{amqp.MethodBasicGetOk, amqp.MethodBasicReturn} {
			if _, err := c.method(id); err != nil {
				return err
			}
			if err := c.gotLarge(body); err != nil {
				return fmt.Errorf("get %d: %w", i, err)
			}
		}
	}
	return nil
}

// gotLarge reads a body that has to be this one.
func (c *client) gotLarge(want []byte) error {
	body, err := c.content()
	if err != nil {
		return err
	}
	if !bytes.Equal(body, want) {
		return fmt.Errorf("a body of %d bytes that begins with %.10q, want %d bytes of %.10q", len(body), body, len(want), want)
	}
	return nil
}
