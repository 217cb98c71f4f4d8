package interop

import (
	"fmt"
	"strconv"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

func lease(p *goProgram, args []string) {
	conn, ch := p.open()
	timeout := time.Duration(must(strconv.Atoi(args[1]))) * time.Millisecond
	must(ch.QueueDeclare(args[0], false, false, false, false, amqp091.Table{"x-consumer-timeout": timeout.Milliseconds()}))
	cancelled := ch.NotifyCancel(make(chan string, 1))
	jobs := must(ch.Consume(args[0], "worker", false, false, false, false, nil))
	extend := func(job amqp091.Delivery, headers amqp091.Table) {
		check(ch.Publish("", fmt.Sprint("leveret.lease.", job.DeliveryTag), false, false, amqp091.Publishing{Headers: headers}))
	}

	send(ch, "", args[0], "extended")
	job := <-jobs
	for range 6 {
		<-time.After(timeout / 4) // the work
		extend(job, nil)
	}
	extend(job, amqp091.Table{"x-lease": 2 * timeout.Milliseconds()})
	<-time.After(timeout * 3 / 2)
	check(job.Ack(false))
	fmt.Println("done", bit(job.Redelivered))

	send(ch, "", args[0], "forgotten")
	job = <-jobs
	fmt.Println("cancelled", <-cancelled)
	check(job.Ack(false)) // too late, and no error
	got, _, err := ch.Get(args[0], true)
	check(err)
	fmt.Println(string(got.Body), bit(got.Redelivered))
	check(conn.Close())
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
