package admin

import (
	"maps"
	"net/http"

	"leveret/ctl"

	"github.com/spf13/cobra"
)

// shovelNoun: a shovel is a parameter, and what the API lists is how far it is.
var shovelNoun = noun{
	name: "shovel", plural: "shovels", short: "shovels, and how far they are", list: "/shovels/{vhost}", item: "/parameters/shovel/{vhost}/{name}",
	columns: []column{{"vhost", "vhost"}, {"name", "name"}, {"state", "state"}, {"forwarded", "forwarded"}, {"remaining", "remaining"}, {"why", "reason"},
		{"(pending)", "pending"}, {"(from)", "src_uri"}, {"(to)", "dest_uri"}},
	fields: []field{
		{name: "name", help: "the shovel's name"},
		// Both ends name this broker unless told otherwise, over a connection within the process.
		{name: "source-uri", key: "src-uri", help: "broker to take from; amqp:// is this one, amqp:///v its virtual host v", required: true, fallback: "amqp://"},
		{name: "source-queue", key: "src-queue", help: "queue to take from"},
		{name: "source-exchange", key: "src-exchange", help: "exchange to take from, instead of a queue"},
		{name: "source-routing-key", key: "src-exchange-key", help: "binding key for that exchange"},
		{name: "destination-uri", key: "dest-uri", help: "broker to send to", required: true, fallback: "amqp://"},
		{name: "destination-queue", key: "dest-queue", help: "queue to send to"},
		{name: "destination-exchange", key: "dest-exchange", help: "exchange to send to, instead of a queue"},
		{name: "destination-routing-key", key: "dest-exchange-key", help: "routing key to send with; without it, their own"},
		// The broker's default is on-confirm: nothing is lost, and after a break some may come twice.
		{name: "ack-mode", key: "ack-mode", help: "when the source may forget a message", choices: []string{"on-confirm", "on-publish", "no-ack"}},
		{name: "prefetch", key: "src-prefetch-count", help: "messages under way at once", kind: number},
		{name: "reconnect-delay", key: "reconnect-delay", help: "seconds until the next attempt; 0: there is none", kind: number},
		// queue-length counts what the source holds at the start.
		{name: "delete-after", key: "src-delete-after", help: "messages after which it ends, or queue-length", kind: value},
	},
	// The broker takes such a shovel, as RabbitMQ does.
	refuse: intoItself,
	// The API takes a parameter, whose value is all of that.
	complete: func(body map[string]any) {
		settings := maps.Clone(body)
		clear(body)
		body["value"] = settings
	},
}

// intoItself refuses a shovel whose messages would come back to where they were taken, for ever: on the broker that it takes from, without a
// destination or with the same queue.
func intoItself(v values) string {
	queue := *v["destination-queue"]
	switch {
	case *v["destination-exchange"] != "" || *v["source-uri"] != *v["destination-uri"]:
		return ""
	case queue == "":
		return "--destination-queue or --destination-exchange is required, as the shovel would feed itself without one"
	case queue == *v["source-queue"]:
		return "--destination-queue is the source queue, so the shovel would feed itself"
	}
	return ""
}

// restartCommand makes a shovel forget what it waits for: a broker that is back again, say.
func (s *session) restartCommand() *cobra.Command {
	return group("restart", "Restart shovels", &cobra.Command{
		Use: "shovel NAME", Aliases: []string{"shovels"}, Short: "Connect a shovel anew on both sides", Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.remove(cmd.Context(), ctl.Path("shovels", "vhost", s.vhost, args[0], "restart"), false); err != nil {
				if ctl.IsMissing(err) {
					err = &ctl.Refusal{Status: http.StatusNotFound, Reason: "there is no shovel '" + args[0] + "' in virtual host '" + s.vhost + "'"}
				}
				return err
			}
			return s.say(cmd, "shovel '%s' connects anew", args[0])
		},
		ValidArgsFunction: s.completeFirst(func(cmd *cobra.Command) []string { return s.fieldOfAll(cmd, ctl.Path("shovels", s.vhost), "name") }),
	})
}
