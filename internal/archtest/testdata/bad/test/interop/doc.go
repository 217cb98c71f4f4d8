// Package interop may use a client.
package interop

import _ "github.com/rabbitmq/amqp091-go"
