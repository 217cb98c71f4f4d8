package rabbitmqctl

import (
	"net/http"
	"net/url"
	"strconv"

	"leveret/ctl"
)

// queueVerbs are those of rabbitmq-queues and rabbitmq-upgrade, as far as one node has a use for them.
var queueVerbs = []verb{
	{name: "quorum_status", args: "<queue>", doing: "Status of quorum queue {0} in vhost {vhost}", missing: noQueue, run: quorumStatus},
	// The broker refuses other nodes than itself, and says so.
	{name: "add_member", args: "<queue> <node>", doing: "Adding a replica for queue {0} on node {1}", missing: noQueue, run: func(s *session, args []string) error {
		return s.post(ctl.Path("queues", "quorum", s.vhost, args[0], "replicas", "add"), map[string]any{"node": args[1]})
	}},
	{name: "delete_member", args: "<queue> <node>", doing: "Removing a replica of queue {0} on node {1}", missing: noQueue, run: func(s *session, args []string) error {
		_, _, err := s.client.Call(s.ctx, http.MethodDelete, ctl.Path("queues", "quorum", s.vhost, args[0], "replicas", "delete"), map[string]any{"node": args[1]})
		return err
	}},
	{name: "grow", args: "<node> <strategy>", doing: "Growing {1} quorum queues on {0}", run: func(s *session, args []string) error {
		return s.post(ctl.Path("queues", "quorum", "replicas", "on", args[0], "grow"), map[string]any{"strategy": args[1]})
	}, options: []option{{"vhost-pattern", ".*", "taken for compatibility"}, {"queue-pattern", ".*", "taken for compatibility"}}},
	{name: "shrink", args: "<node>", doing: "Shrinking quorum queues on {0}", run: func(s *session, args []string) error {
		return s.delete(ctl.Path("queues", "quorum", "replicas", "on", args[0], "shrink"))
	}},
	{name: "peek", args: "<queue> <position>", doing: "Peeking at queue {0} at position {1}", missing: noQueue, run: peek},
	// Scripts call it after an upgrade: all leaders are where they should be.
	{name: "rebalance", args: "<type>", doing: "Rebalancing leaders of {0} queues", run: nothing,
		options: []option{{"vhost-pattern", ".*", "taken for compatibility"}, {"queue-pattern", ".*", "taken for compatibility"}}},
	{name: "list_unresponsive_queues", args: "[column] [...]", doing: "Listing unresponsive queues for vhost {vhost}", run: nothing},
	// What stop_app does: one node has no other to hand its queues to.
	{name: "drain", doing: "Will put the node into maintenance mode", run: func(s *session, _ []string) error { return s.put("/leveret/app", map[string]any{"running": false}) }},
	{name: "revive", doing: "Will put the node back into regular operating mode", run: func(s *session, _ []string) error { return s.put("/leveret/app", map[string]any{"running": true}) }},
	{name: "await_online_quorum_plus_one", doing: "Waiting for queues to have a quorum", run: nothing},
	{name: "post_upgrade", doing: "Executing post upgrade checks", run: nothing},
}

// quorumStatus lists the replicas of a queue: there is one.
// The columns keep RabbitMQ's names, of which the numbers mean nothing for one replica.
func quorumStatus(s *session, args []string) error {
	var replicas []ctl.Object
	if err := s.get(ctl.Path("queues", "quorum", s.vhost, args[0], "status"), &replicas); err != nil {
		return err
	}
	return s.print(tabled(replicas, "Node Name", "Raft State", "Membership", "Last Log Index", "Commit Index", "Term"))
}

// peek shows one ready message, by its place from the head, which is 1.
// It stays where it is, and nobody else notices.
func peek(s *session, args []string) error {
	position, err := strconv.Atoi(args[1])
	if err != nil || position < 1 {
		return &ctl.UsageError{Text: "a position is a number from 1 on, not " + args[1]}
	}
	query := url.Values{"offset": {strconv.Itoa(position - 1)}, "count": {"1"}}
	var page struct{ Messages []ctl.Object }
	if err := s.get(ctl.Path("queues", s.vhost, args[0], "messages")+"?"+query.Encode(), &page); err != nil {
		return err
	}
	if len(page.Messages) == 0 {
		return &ctl.Refusal{Reason: "there is no message at position " + args[1]}
	}
	m := page.Messages[0]
	out := columnsAndRows{columns: []string{"keys", "values"}}
	for _, field := range []string{"exchange", "routing_key", "redelivered", "properties", "payload"} {
		out.rows = append(out.rows, []any{field, m[field]})
	}
	return s.print(&out)
}

// alone refuses what needs other nodes, or would throw everything away.
func alone(*session, []string) error {
	return &failure{"Error:\nthis broker is a node by itself: it joins no cluster, and is not reset but started with another data folder", ctl.ExitSoftware}
}
