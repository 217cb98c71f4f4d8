package interop

import "testing"

func TestTutorialHello(t *testing.T) {
	eachPair(t, func(t *testing.T, sender, receiver string) {
		q := freshQueue(t)
		run(t, sender, "send", []string{q})
		run(t, receiver, "receive", []string{q},
			"Hello World!",
			"text/plain 2 3 c-1 m-1 1700000000 greeting",
			`{"big":5000000000,"count":3,"flag":true,"nested":{"list":[1,"two",false]},"none":null,"text":"grüß"}`)
	})
}

func TestTutorialWorkQueue(t *testing.T) {
	eachClient(t, func(t *testing.T, client string) {
		run(t, client, "workqueue", []string{freshQueue(t)}, "busy task 1", "idle task 2", "idle task 3", "idle task 4", "idle task 5")
	})
}

func TestTutorialPublishSubscribe(t *testing.T) {
	eachClient(t, func(t *testing.T, client string) {
		run(t, client, "pubsub", []string{freshName(t)},
			"subscriber 1: first", "subscriber 1: second", "subscriber 2: first", "subscriber 2: second")
	})
}

func TestTutorialRouting(t *testing.T) {
	eachClient(t, func(t *testing.T, client string) {
		run(t, client, "routing", []string{freshName(t)},
			"disk: error: error message",
			"screen: info: info message", "screen: error: error message", "screen: warning: warning message")
	})
}

func TestTutorialTopics(t *testing.T) {
	eachClient(t, func(t *testing.T, client string) {
		run(t, client, "topics", []string{freshName(t)},
			"all: kern.critical kern.info cron.critical cron.info kern.critical.more",
			"kern: kern.critical kern.info",
			"critical: kern.critical cron.critical",
			"both: kern.critical kern.info cron.critical")
	})
}

func TestTutorialRPC(t *testing.T) {
	eachPair(t, func(t *testing.T, server, client string) {
		q := freshQueue(t)
		if line := start(t, server, "rpc_server", q).next(); line != "ready" {
			t.Fatalf("the server printed %q", line)
		}
		for _, replies := range []string{"queue", "direct"} {
			run(t, client, "rpc_client", []string{q, replies}, "fib(10) = 55", "fib(15) = 610", "fib(20) = 6765")
		}
	})
}
