package interop

import (
	"fmt"
	"os"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// goPrograms are the amqp091-go programs by name. Their counterparts for the other clients stand in testdata and tell what each does.
var goPrograms = map[string]func(p *goProgram, args []string){
	"send":        sendHello,
	"receive":     receiveHello,
	"workqueue":   workQueue,
	"pubsub":      publishSubscribe,
	"routing":     routing,
	"topics":      topics,
	"rpc_server":  rpcServer,
	"rpc_client":  rpcClient,
	"confirms":    confirms,
	"lease":       lease,
	"returns":     returns,
	"reject":      rejectMessages,
	"hold":        hold,
	"lifetime":    lifetime,
	"large":       large,
	"unknown_tag": unknownTag,
}

// runGoProgram runs one of them with the URL and arguments of a command line and returns the exit status. Any error is a panic, so
// that the test that reads our standard error sees where it came from.
func runGoProgram(name string, args []string) int {
	if name == hostileProgram {
		runHostile(args)
		return 0
	}
	program, ok := goPrograms[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "no program %q\n", name)
		return 1
	}
	program(&goProgram{url: args[0]}, args[1:])
	return 0
}

// A goProgram gives the programs their connections; it has no state but the URL.
type goProgram struct{ url string }

func (p *goProgram) connect() *amqp091.Connection { return must(amqp091.Dial(p.url)) }

// open returns a connection and a channel on it.
func (p *goProgram) open() (*amqp091.Connection, *amqp091.Channel) {
	conn := p.connect()
	return conn, must(conn.Channel())
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// send publishes a plain message.
func send(ch *amqp091.Channel, exchange, key, body string) {
	check(ch.Publish(exchange, key, false, false, amqp091.Publishing{Body: []byte(body)}))
}

// declare makes a queue that is neither durable nor deleted by itself.
func declare(ch *amqp091.Channel, queue string) {
	must(ch.QueueDeclare(queue, false, false, false, false, nil))
}

// exclusiveQueue makes a queue with a name of the server's for this connection alone.
func exclusiveQueue(ch *amqp091.Channel) string {
	return must(ch.QueueDeclare("", false, false, true, false, nil)).Name
}

// take consumes that many messages, acknowledged as they come, and stops.
func take(ch *amqp091.Channel, queue string, count int) []amqp091.Delivery {
	deliveries := must(ch.Consume(queue, "taker", true, false, false, false, nil))
	got := make([]amqp091.Delivery, count)
	for i := range got {
		d, ok := <-deliveries
		if !ok {
			panic("the channel closed while messages were awaited")
		}
		got[i] = d
	}
	check(ch.Cancel("taker", false))
	return got
}
