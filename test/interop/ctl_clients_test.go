package interop

import (
	"fmt"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// What a client holds is seen, taken back and bounded from the command line, and messages that wait for their time are cancelled there.
func TestCtlClients(t *testing.T) {
	if brokerBinary == "" {
		return
	}
	b := ownBroker(t)
	s := dialBroker(t, b)
	if _, err := s.ch.QueueDeclare("jobs", true, false, false, false, amqp091.Table{"x-queue-type": "quorum"}); err != nil {
		t.Fatal(err)
	}
	if err := s.ch.ExchangeDeclare("later", "x-delayed-message", true, false, false, false, amqp091.Table{"x-delayed-type": "direct"}); err != nil {
		t.Fatal(err)
	}
	if err := s.ch.Publish("later", "jobs", false, false, amqp091.Publishing{Headers: amqp091.Table{"x-delay": 3_600_000}, Body: []byte("remind")}); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		s.publish("jobs", fmt.Sprint("m", i))
	}
	if err := s.ch.Qos(2, 0, false); err != nil {
		t.Fatal(err)
	}
	deliveries, err := s.ch.Consume("jobs", "worker", false, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	cancelled := s.ch.NotifyCancel(make(chan string, 1))
	first, second := <-deliveries, <-deliveries
	b.walk(t, brokerBinary, []string{"ctl"}, []step{
		{"list consumers --where queue.name=jobs", "worker", 0},
		{"unacked jobs -q", "1  worker", 0},
		{"peek jobs", "m2", 0},
		{"set consumer_prefetch worker 3", "consumer 'worker' has a prefetch of 3", 0},
		{"peek jobs", "m3", 0},
		{"requeue message jobs 1", "message 1 is back in queue 'jobs'", 0},
		{"requeue message jobs 77", "there is no message 77 unacked in queue 'jobs'", 65},
		{"requeue consumer worker", "messages of consumer 'worker' are back in the queue", 0},
		{"delayed later --exchange", "remind", 0},
		{"delete message amq.delayed.later 1", "message 1 of queue 'amq.delayed.later' is deleted", 0},
		{"delayed later --exchange --json", "\"messages\": []", 0},
		{"cancel consumer worker", "consumer 'worker' is cancelled", 0},
		{"cancel consumer worker", "there is no consumer 'worker'", 65},
	})
	want(t, "delivered at first", string(first.Body)+string(second.Body), "m0m1")
	want(t, "the client is told", <-cancelled, "worker")
}
