package interop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

func sendHello(p *goProgram, args []string) {
	conn, ch := p.open()
	declare(ch, args[0])
	check(ch.Publish("", args[0], false, false, amqp091.Publishing{
		ContentType: "text/plain", DeliveryMode: 2, Priority: 3, CorrelationId: "c-1", MessageId: "m-1", Timestamp: time.Unix(1700000000, 0), Type: "greeting",
		Headers: amqp091.Table{"count": int32(3), "big": int64(5000000000), "flag": true, "none": nil, "text": "grüß",
			"nested": amqp091.Table{"list": []any{int8(1), "two", false}}},
		Body: []byte("Hello World!"),
	}))
	check(conn.Close())
}

func receiveHello(p *goProgram, args []string) {
	conn, ch := p.open()
	declare(ch, args[0])
	m := take(ch, args[0], 1)[0]
	fmt.Println(string(m.Body))
	fmt.Println(m.ContentType, m.DeliveryMode, m.Priority, m.CorrelationId, m.MessageId, m.Timestamp.Unix(), m.Type)
	fmt.Println(string(must(json.Marshal(m.Headers))))
	check(conn.Close())
}

func workQueue(p *goProgram, args []string) {
	conn, ch := p.open()
	must(ch.QueueDeclare(args[0], true, false, false, false, nil))
	done := make(chan string)
	for _, name := range []string{"busy", "idle"} {
		worker := must(conn.Channel())
		check(worker.Qos(1, 0, false))
		tasks := must(worker.Consume(args[0], "", false, false, false, false, nil))
		go func() {
			for task := range tasks {
				done <- name + " " + string(task.Body)
				if name == "idle" {
					check(task.Ack(false))
				}
			}
		}()
	}
	for task := range 5 {
		check(ch.Publish("", args[0], false, false, amqp091.Publishing{DeliveryMode: 2, Body: fmt.Appendf(nil, "task %d", task+1)}))
	}
	lines := make([]string, 5)
	for i := range lines {
		lines[i] = <-done
	}
	slices.Sort(lines)
	fmt.Println(strings.Join(lines, "\n"))
	check(conn.Close())
}

func publishSubscribe(p *goProgram, args []string) {
	conn, ch := p.open()
	check(ch.ExchangeDeclare(args[0], "fanout", false, true, false, false, nil))
	queues := []string{exclusiveQueue(ch), exclusiveQueue(ch)}
	for _, queue := range queues {
		check(ch.QueueBind(queue, "", args[0], false, nil))
	}
	send(ch, args[0], "ignored", "first")
	send(ch, args[0], "ignored", "second")
	for i, queue := range queues {
		for _, m := range take(ch, queue, 2) {
			fmt.Printf("subscriber %d: %s\n", i+1, m.Body)
		}
	}
	check(conn.Close())
}

func routing(p *goProgram, args []string) {
	conn, ch := p.open()
	check(ch.ExchangeDeclare(args[0], "direct", false, true, false, false, nil))
	disk, screen := exclusiveQueue(ch), exclusiveQueue(ch)
	check(ch.QueueBind(disk, "error", args[0], false, nil))
	for _, severity := range []string{"info", "warning", "error"} {
		check(ch.QueueBind(screen, severity, args[0], false, nil))
	}
	for _, severity := range []string{"info", "error", "debug", "warning"} {
		send(ch, args[0], severity, severity+" message")
	}
	for _, m := range take(ch, disk, 1) {
		fmt.Printf("disk: %s: %s\n", m.RoutingKey, m.Body)
	}
	for _, m := range take(ch, screen, 3) {
		fmt.Printf("screen: %s: %s\n", m.RoutingKey, m.Body)
	}
	check(conn.Close())
}

func topics(p *goProgram, args []string) {
	conn, ch := p.open()
	check(ch.ExchangeDeclare(args[0], "topic", false, true, false, false, nil))
	subscribers := []struct {
		name     string
		patterns []string
		count    int
		queue    string
	}{
		{name: "all", patterns: []string{"#"}, count: 5},
		{name: "kern", patterns: []string{"kern.*"}, count: 2},
		{name: "critical", patterns: []string{"*.critical"}, count: 2},
		{name: "both", patterns: []string{"kern.*", "*.critical"}, count: 3},
	}
	for i := range subscribers {
		subscribers[i].queue = exclusiveQueue(ch)
		for _, pattern := range subscribers[i].patterns {
			check(ch.QueueBind(subscribers[i].queue, pattern, args[0], false, nil))
		}
	}
	for _, key := range []string{"kern.critical", "kern.info", "cron.critical", "cron.info", "kern.critical.more"} {
		send(ch, args[0], key, key)
	}
	for _, s := range subscribers {
		var line strings.Builder
		line.WriteString(s.name + ":")
		for _, m := range take(ch, s.queue, s.count) {
			line.WriteString(" " + string(m.Body))
		}
		fmt.Println(line.String())
	}
	check(conn.Close())
}

func fibonacci(n int) int {
	if n < 2 {
		return n
	}
	return fibonacci(n-1) + fibonacci(n-2)
}

func rpcServer(p *goProgram, args []string) {
	_, ch := p.open()
	declare(ch, args[0])
	check(ch.Qos(1, 0, false))
	requests := must(ch.Consume(args[0], "", false, false, false, false, nil))
	fmt.Println("ready")
	for m := range requests {
		answer := strconv.Itoa(fibonacci(must(strconv.Atoi(string(m.Body)))))
		check(ch.Publish("", m.ReplyTo, false, false, amqp091.Publishing{CorrelationId: m.CorrelationId, Body: []byte(answer)}))
		check(m.Ack(false))
	}
}

func rpcClient(p *goProgram, args []string) {
	conn, ch := p.open()
	replies := "amq.rabbitmq.reply-to"
	if args[1] != "direct" {
		replies = exclusiveQueue(ch)
	}
	answers := must(ch.Consume(replies, "", true, false, false, false, nil))
	for _, n := range []int{10, 15, 20} {
		check(ch.Publish("", args[0], false, false, amqp091.Publishing{ReplyTo: replies, CorrelationId: fmt.Sprintf("fib(%d)", n),
			Body: []byte(strconv.Itoa(n))}))
	}
	for range 3 {
		m := <-answers
		fmt.Printf("%s = %s\n", m.CorrelationId, m.Body)
	}
	check(conn.Close())
}
