package server

import (
	"leveret/amqp"
	"leveret/events"
	"leveret/vhost"
)

// announce begins to publish what the buses have.
func (s *Server) announce(d Dependencies) {
	if d.Events != nil {
		d.Events.Listen(eventExchange{s})
	}
	if d.LogLines != nil {
		d.LogLines.Listen(logExchange{s})
	}
}

// announced are the exchanges that a virtual host has because the broker announces something there.
func (s *Server) announced(name string) (exchanges []string) {
	if name != s.options.AnnounceVHost {
		return nil
	}
	exchanges = append(exchanges, vhost.EventExchange)
	if s.options.LogExchange {
		exchanges = append(exchanges, vhost.LogExchange)
	}
	return exchanges
}

// eventExchange publishes the broker's events to the event exchange of the virtual host for that. While nothing is bound to that, it wants none.
type eventExchange struct{ server *Server }

// Wants is true while somebody listens at the exchange.
func (x eventExchange) Wants(string) bool {
	v := x.server.VHost(x.server.options.AnnounceVHost)
	return v != nil && v.Listened(vhost.EventExchange)
}

// Take publishes an event: its key is the routing key, its properties are headers, and the body is empty.
func (x eventExchange) Take(e events.Event) {
	v := x.server.VHost(x.server.options.AnnounceVHost)
	if v == nil {
		return
	}
	headers := append(e.Properties[:len(e.Properties):len(e.Properties)], amqp.Field{Name: "timestamp_in_ms", Value: e.Time.UnixMilli()})
	v.Announce(vhost.EventExchange, e.Key, &amqp.Properties{
		Flags:        amqp.FlagHeaders | amqp.FlagDeliveryMode | amqp.FlagTimestamp,
		Headers:      headers,
		DeliveryMode: amqp.Persistent,
		Timestamp:    amqp.Timestamp(e.Time.Unix()),
	}, nil)
}

// logExchange publishes the lines of the log to the log exchange of the virtual host for that.
type logExchange struct{ server *Server }

// Wants is true while somebody listens at the exchange.
func (x logExchange) Wants(string) bool {
	v := x.server.VHost(x.server.options.AnnounceVHost)
	return v != nil && v.Listened(vhost.LogExchange)
}

// Take publishes a line: the routing key is its severity.
func (x logExchange) Take(e events.Event) {
	v := x.server.VHost(x.server.options.AnnounceVHost)
	if v == nil {
		return
	}
	line, _ := e.Properties.Get(events.LogLine)
	text, _ := line.(string)
	kind, _ := e.Properties.Get(events.LogType)
	contentType, _ := kind.(string)
	v.Announce(vhost.LogExchange, e.Key, &amqp.Properties{
		Flags:       amqp.FlagContentType | amqp.FlagTimestamp | amqp.FlagHeaders,
		ContentType: contentType,
		Timestamp:   amqp.Timestamp(e.Time.Unix()),
		Headers:     amqp.Table{{Name: "node", Value: x.server.options.NodeName}},
	}, []byte(text))
}
