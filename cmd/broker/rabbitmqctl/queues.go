package rabbitmqctl

import "leveret/ctl"

// queueVerbs are those of rabbitmq-queues and rabbitmq-upgrade, as far as one node has a use for them.
var queueVerbs = []verb{
	{name: "quorum_status", args: "<queue>", doing: "Status of quorum queue {0} in vhost {vhost}", missing: noQueue, run: quorumStatus},
	{name: "rebalance", args: "<type>", doing: "Rebalancing leaders of {0} queues", run: nothing,
		options: []option{{"vhost-pattern", ".*", "taken for compatibility"}, {"queue-pattern", ".*", "taken for compatibility"}}},
	{name: "list_unresponsive_queues", args: "[column] [...]", doing: "Listing unresponsive queues for vhost {vhost}", run: nothing},
	{name: "drain", doing: "Will put the node into maintenance mode", run: func(s *session, _ []string) error { return s.put("/leveret/app", map[string]any{"running": false}) }},
	{name: "revive", doing: "Will put the node back into regular operating mode", run: func(s *session, _ []string) error { return s.put("/leveret/app", map[string]any{"running": true}) }},
	{name: "await_online_quorum_plus_one", doing: "Waiting for queues to have a quorum", run: nothing},
	{name: "post_upgrade", doing: "Executing post upgrade checks", run: nothing},
}

// quorumStatus lists the replicas of a queue: there is one.
func quorumStatus(s *session, args []string) error {
	var replicas []ctl.Object
	if err := s.get(ctl.Path("queues", "quorum", s.vhost, args[0], "status"), &replicas); err != nil {
		return err
	}
	return s.print(tabled(replicas, "Node Name", "Raft State", "Membership", "Last Log Index", "Commit Index", "Term"))
}

// alone refuses what needs other nodes, or would throw everything away.
func alone(*session, []string) error {
	return &failure{"Error:\nthis broker is a node by itself: it joins no cluster, and is not reset but started with another data folder", ctl.ExitSoftware}
}
