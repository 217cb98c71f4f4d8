package interop

import (
	"os"
	"path/filepath"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

const bootDefinitions = `{
	"rabbit_version": "3.12.1",
	"vhosts": [{"name": "shop/eu", "metadata": {"description": "orders", "tags": ["eu"], "default_queue_type": "classic"}}],
	"users": [{"name": "app", "password_hash": "kI3GCqW5JLMJa4iX1lo7X4D6XbYqlLgxIs30+P6tENUV2POR",
		"hashing_algorithm": "rabbit_password_hashing_sha256", "tags": []}],
	"permissions": [{"user": "app", "vhost": "shop/eu", "configure": "^$", "write": "^orders$", "read": ".*"}],
	"exchanges": [{"name": "orders", "vhost": "shop/eu", "type": "topic", "durable": true, "auto_delete": false, "arguments": {}}],
	"queues": [{"name": "all", "vhost": "shop/eu", "durable": true, "auto_delete": false, "arguments": {"x-queue-type": "classic"}}],
	"bindings": [{"source": "orders", "vhost": "shop/eu", "destination": "all", "destination_type": "queue", "routing_key": "#", "arguments": {}}]
}`

// A broker that starts with definitions is what they say: the user logs in with the password behind the hash, finds the topology, and has the
// rights of the file; nobody knows guest.
func TestStartWithDefinitions(t *testing.T) {
	if brokerBinary == "" {
		return // a foreign broker is not started here
	}
	file := filepath.Join(t.TempDir(), "definitions.json")
	if err := os.WriteFile(file, []byte(bootDefinitions), 0o600); err != nil {
		t.Fatal(err)
	}
	b := ownBroker(t, "--definitions", file)
	if c, err := amqp091.Dial(b.url()); err == nil {
		c.Close()
		t.Error("guest is let in")
	}
	connection, err := amqp091.Dial("amqp://app:test12@" + b.addr + "/shop%2Feu")
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	ch, err := connection.Channel()
	if err != nil {
		t.Fatal(err)
	}
	if err := ch.Publish("orders", "new.1", false, false, amqp091.Publishing{Body: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	m, ok, err := ch.Get("all", true)
	if err != nil || !ok || string(m.Body) != "x" {
		t.Errorf("got %q, %v, %v", m.Body, ok, err)
	}
	if _, err := ch.QueueDeclare("mine", true, false, false, false, nil); err == nil {
		t.Error("the user may declare queues")
	}
}
