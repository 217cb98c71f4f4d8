// Package interop drives the built broker with clients that others wrote: amqp091-go in the test process, pika and amqplib as
// programs of their own. Where no client can send what a test needs, a small client of ours sends the frames themselves.
//
// One broker process serves the whole run; every test uses names of its own on it, so that tests may run side by side. Only tests
// that measure or restart the broker start another. With LEVERET_TEST_AMQP=host:port the tests use the broker that listens there,
// which is how they are compared with another implementation; figures of the process are not looked at then.
//
// The programs stand in testdata, a folder a client and a file a program. Each takes the broker's URL as its first argument, prints
// a line for each thing that it saw, and ends with status 0 if nothing went wrong. setup.sh installs what they need.
package interop
