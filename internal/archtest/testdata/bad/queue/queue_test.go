package queue_test

import (
	_ "leveret/queue"
	_ "leveret/store/storetest"
	_ "leveret/util"

	_ "github.com/rabbitmq/amqp091-go"
	_ "pgregory.net/rapid"
)
