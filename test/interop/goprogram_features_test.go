package interop

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

func confirms(p *goProgram, args []string) {
	conn, ch := p.open()
	declare(ch, args[0])
	check(ch.Confirm(false))
	outcomes := ch.NotifyPublish(make(chan amqp091.Confirmation, 101))
	for i := range 100 {
		send(ch, "", args[0], strconv.Itoa(i))
	}
	send(ch, "", args[0]+".nowhere", "unroutable")
	confirmed := 0
	for range 101 {
		if (<-outcomes).Ack {
			confirmed++
		}
	}
	fmt.Println("confirmed", confirmed)
	fmt.Println("ready", must(ch.QueueDeclarePassive(args[0], false, false, false, false, nil)).Messages)
	check(conn.Close())
}

func returns(p *goProgram, args []string) {
	conn, ch := p.open()
	check(ch.Confirm(false))
	returned := ch.NotifyReturn(make(chan amqp091.Return, 2))
	publish := func(m amqp091.Publishing) {
		if !must(ch.PublishWithDeferredConfirm("amq.direct", args[0], true, false, m)).Wait() {
			panic("not confirmed")
		}
	}
	publish(amqp091.Publishing{MessageId: "m-1", Body: []byte("come back")})
	select {
	case r := <-returned:
		fmt.Println(r.ReplyCode, r.ReplyText, r.Exchange, r.RoutingKey, r.MessageId, string(r.Body))
	default:
		fmt.Println("confirmed before it was returned")
	}
	must(ch.QueueDeclare(args[0], false, false, true, false, nil))
	check(ch.QueueBind(args[0], args[0], "amq.direct", false, nil))
	publish(amqp091.Publishing{Body: []byte("stay")})
	if len(returned) == 0 {
		fmt.Println("routed")
	}
	check(conn.Close())
}

func rejectMessages(p *goProgram, args []string) {
	conn, ch := p.open()
	declare(ch, args[0])
	for _, body := range []string{"a", "b", "c", "d"} {
		send(ch, "", args[0], body)
	}
	get := func() uint64 {
		m, ok, err := ch.Get(args[0], false)
		if check(err); !ok {
			panic("no message")
		}
		state := "new"
		if m.Redelivered {
			state = "redelivered"
		}
		fmt.Println(string(m.Body), state, m.MessageCount)
		return m.DeliveryTag
	}
	check(ch.Nack(get(), false, true))
	check(ch.Reject(get(), true))
	check(ch.Reject(get(), false))
	get()
	check(ch.Nack(get(), true, true))
	get()
	check(ch.Nack(get(), true, false))
	get()
	check(ch.Nack(0, true, true))
	get()
	check(conn.Close())
}

func hold(p *goProgram, args []string) {
	conn := p.connect()
	lines := make(chan string)
	for number := range must(strconv.Atoi(args[2])) {
		ch := must(conn.Channel())
		check(ch.Qos(must(strconv.Atoi(args[1])), 0, false))
		deliveries := must(ch.Consume(args[0], "", args[3] == "auto", false, false, false, nil))
		go func() {
			for m := range deliveries {
				redelivered := 0
				if m.Redelivered {
					redelivered = 1
				}
				lines <- fmt.Sprintf("%d %d %s", number, redelivered, m.Body)
			}
		}()
	}
	fmt.Println("ready")
	for line := range lines {
		fmt.Println(line)
	}
}

func lifetime(p *goProgram, args []string) {
	exclusive, auto := args[0], args[1]
	owner, other := p.connect(), p.connect()

	// report runs the action on a new channel of the other connection and prints what came of it.
	report := func(label string, action func(ch *amqp091.Channel) error) {
		ch := must(other.Channel())
		err := action(ch)
		var refused *amqp091.Error
		if errors.As(err, &refused) {
			fmt.Println(label, refused.Code)
			return
		}
		check(err)
		fmt.Println(label, "ok")
	}
	passive := func(queue string) func(ch *amqp091.Channel) error {
		return func(ch *amqp091.Channel) error {
			_, err := ch.QueueDeclarePassive(queue, false, false, false, false, nil)
			return err
		}
	}

	must(must(owner.Channel()).QueueDeclare(exclusive, false, false, true, false, nil))
	report("declare by another:", func(ch *amqp091.Channel) error {
		_, err := ch.QueueDeclare(exclusive, false, false, true, false, nil)
		return err
	})
	report("consume by another:", func(ch *amqp091.Channel) error {
		_, err := ch.Consume(exclusive, "", false, false, false, false, nil)
		return err
	})
	report("publish by another:", func(ch *amqp091.Channel) error {
		send(ch, "", exclusive, "")
		return ch.Close()
	})
	check(owner.Close())
	report("after its owner:", passive(exclusive))

	ch := must(other.Channel())
	must(ch.QueueDeclare(auto, false, true, false, false, nil))
	for _, tag := range []string{"one", "two"} {
		must(ch.Consume(auto, tag, false, false, false, false, nil))
	}
	check(ch.Cancel("one", false))
	report("one consumer left:", passive(auto))
	check(ch.Cancel("two", false))
	report("no consumer left:", passive(auto))
	check(other.Close())
}

func large(p *goProgram, args []string) {
	conn := must(amqp091.DialConfig(p.url, amqp091.Config{FrameSize: must(strconv.Atoi(args[1]))}))
	ch := must(conn.Channel())
	declare(ch, args[0])
	sizes := args[2:]
	for _, size := range sizes {
		check(ch.Publish("", args[0], false, false, amqp091.Publishing{Body: patterned(must(strconv.Atoi(size)))}))
	}
	for i, m := range take(ch, args[0], len(sizes)) {
		verdict := "whole"
		if !bytes.Equal(m.Body, patterned(must(strconv.Atoi(sizes[i])))) {
			verdict = fmt.Sprintf("damaged, %d octets", len(m.Body))
		}
		fmt.Println(sizes[i], verdict)
	}
	check(conn.Close())
}

// patterned returns a body of that many octets in which a lost or doubled piece shows.
func patterned(size int) []byte {
	body := make([]byte, size)
	for i := range body {
		body[i] = byte(i * 7 % 251)
	}
	return body
}

func unknownTag(p *goProgram, args []string) {
	conn, ch := p.open()
	other := must(conn.Channel())
	declare(other, args[0])
	closed := ch.NotifyClose(make(chan *amqp091.Error, 1))
	check(ch.Ack(99, false))
	refused := <-closed
	fmt.Println(refused.Code, refused.Reason)
	send(other, "", args[0], "still open")
	m, _, err := other.Get(args[0], true)
	check(err)
	fmt.Println(string(m.Body))
	check(conn.Close())
}
