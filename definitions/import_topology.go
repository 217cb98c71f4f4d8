package definitions

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"leveret/amqp"
	"leveret/exchange"
	"leveret/vhost"
)

// maxName is how long names and keys may be in bytes: the protocol has them in short strings.
const maxName = 255

func checkName(what, name string) error {
	if len(name) > maxName || !utf8.ValidString(name) {
		return refusedf("the %s %.40q... is longer than %d bytes", what, name, maxName)
	}
	return nil
}

// checkQueueLimits refuses the whole file if its queues would be more than a virtual host may have, before any of them is made.
func (b *Broker) checkQueueLimits(f *File) error {
	adding := map[string]int{}
	for i := range f.Queues {
		v, err := b.vhost(f.Queues[i].VHost)
		if err != nil {
			return err
		}
		if !v.HasQueue(f.Queues[i].Name) {
			adding[v.Name()]++
		}
	}
	for name, n := range adding {
		v, err := b.vhost(name)
		if err != nil {
			return err
		}
		have := v.Counts().Queues
		if limit, ok := v.Limits().Of(vhost.MaxQueues); ok && int64(have+n) > limit {
			return refusedf("Adding %d queue(s) to virtual host \"%s\" would exceed the limit of %d queue(s).\n\n"+
				"This virtual host currently has %d queue(s) defined.\n\nImport aborted!", n, name, limit, have)
		}
	}
	return nil
}

// importExchanges makes the exchanges that are not there.
func (b *Broker) importExchanges(f *File) error {
	return each(f.Exchanges, func(e *Exchange) error {
		v, err := b.vhost(e.VHost)
		if err != nil {
			return err
		}
		if e.Name == "" || strings.HasPrefix(e.Name, reservedPrefix) {
			if e.Name != logExchange {
				b.Log.Warn("definitions: an exchange with a reserved name is skipped", "vhost", e.VHost, "exchange", e.Name)
			}
			return nil
		}
		if err := checkName("exchange name", e.Name); err != nil {
			return err
		}
		if exchange.KnownType(e.Type) != nil {
			return amqp.InvalidExchangeType(e.Type)
		}
		if v.Exchange([]byte(e.Name)) != nil {
			return nil
		}
		return v.DeclareExchange(vhost.ExchangeDeclare{
			Name: e.Name, Type: e.Type, Durable: orTrue(e.Durable), AutoDelete: e.AutoDelete, Internal: e.Internal, Arguments: e.Arguments,
		}, vhost.Unrestricted{})
	})
}

// importQueues makes the queues that are not there.
func (b *Broker) importQueues(f *File) error {
	return each(f.Queues, func(e *Queue) error {
		v, err := b.vhost(e.VHost)
		if err != nil {
			return err
		}
		if strings.HasPrefix(e.Name, reservedPrefix) {
			b.Log.Warn("definitions: a queue with a reserved name is skipped", "vhost", e.VHost, "queue", e.Name)
			return nil
		}
		if err := checkName("queue name", e.Name); err != nil {
			return err
		}
		if v.HasQueue(e.Name) {
			return nil
		}
		_, err = v.DeclareQueue(vhost.QueueDeclare{
			Name: e.Name, Durable: orTrue(e.Durable), AutoDelete: e.AutoDelete, Arguments: e.typed(),
		}, 0, vhost.Unrestricted{})
		return err
	})
}

// typed are the arguments of a queue with its type among them. Older files have the type beside the arguments, or "undefined" for none.
func (e *Queue) typed() amqp.Table {
	said, ok := e.Arguments.Get(argQueueType)
	if ok && said != "undefined" {
		return e.Arguments
	}
	arguments := slices.DeleteFunc(slices.Clone(e.Arguments), func(f amqp.Field) bool { return f.Name == argQueueType })
	if e.Type != "" && e.Type != "undefined" {
		arguments = append(arguments, amqp.Field{Name: argQueueType, Value: e.Type})
	}
	return arguments
}

// importBindings adds the bindings. Both ends have to be there.
func (b *Broker) importBindings(f *File) error {
	return each(f.Bindings, func(e *Binding) error {
		v, err := b.vhost(e.VHost)
		if err != nil {
			return err
		}
		if err := checkName("binding key", e.RoutingKey); err != nil {
			return err
		}
		if err := e.checkEnds(v); err != nil {
			return err
		}
		if e.DestinationType == "exchange" {
			return v.BindExchange(e.Destination, e.Source, e.RoutingKey, e.Arguments, vhost.Unrestricted{})
		}
		return v.BindQueue(e.Destination, e.Source, e.RoutingKey, e.Arguments, 0, vhost.Unrestricted{})
	})
}

// checkEnds looks for the two ends of a binding, and names all that lack in RabbitMQ's notation.
func (e *Binding) checkEnds(v *vhost.VHost) error {
	var missing []string
	lacks := func(kind, name string) {
		missing = append(missing, fmt.Sprintf("{not_found,{resource,<<\"%s\">>,%s,<<\"%s\">>}}", v.Name(), kind, name))
	}
	if v.Exchange([]byte(e.Source)) == nil {
		lacks("exchange", e.Source)
	}
	switch e.DestinationType {
	case "queue":
		if !v.HasQueue(e.Destination) {
			lacks("queue", e.Destination)
		}
	case "exchange":
		if v.Exchange([]byte(e.Destination)) == nil {
			lacks("exchange", e.Destination)
		}
	default:
		return refusedf("destination_type of a binding must be queue or exchange, not %q", e.DestinationType)
	}
	if missing != nil {
		return refusedf("{resources_missing,[%s]}", strings.Join(missing, ","))
	}
	return nil
}
