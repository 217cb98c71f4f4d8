package definitions

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"leveret/amqp"
	"leveret/auth"
	"leveret/exchange"
	"leveret/queue"
	"leveret/vhost"
)

// defaultQueueType is what RabbitMQ writes for a virtual host that has none of its own.
const defaultQueueType = "classic"

// Export writes down the whole broker, users with their password hashes among it. The lists are sorted, so that equal brokers give
// equal files. It is no snapshot: what changes meanwhile may be in it or not.
func (b *Broker) Export() *File {
	f := b.head(formatCluster)
	f.OriginalCluster = b.clusterName()
	f.Explanation = fmt.Sprintf("Definitions of cluster '%s'", f.OriginalCluster)
	// Empty and not nil: tools read null as a mistake.
	f.Users, f.Permissions, f.TopicPermissions, f.VHosts = []User{}, []Permission{}, []TopicPermission{}, []VHost{}
	for _, account := range b.Users.Users() {
		f.addUser(&account)
	}
	f.GlobalParameters = b.globalParameters()
	for _, v := range b.Server.VHosts() {
		m := metadataOf(v)
		f.VHosts = append(f.VHosts, VHost{Name: v.Name(), Limits: limitsOf(v), Metadata: &m})
		f.addVHost(v, v.Name())
	}
	f.sort()
	return f
}

// ExportVHost writes down what is in one virtual host, in the form that does not name it.
func (b *Broker) ExportVHost(name string) (*File, error) {
	v := b.Server.VHost(name)
	if v == nil {
		return nil, refusedf("vhost_not_found")
	}
	f := b.head(formatVHost)
	f.OriginalVHost = name
	f.Explanation = fmt.Sprintf("Definitions of virtual host '%s'", name)
	m := metadataOf(v)
	f.Metadata, f.Description, f.Limits = &m, m.Description, limitsOf(v)
	// Without names of the virtual host, so that the file can be imported into any other.
	f.addVHost(v, "")
	f.sort()
	return f, nil
}

// head is what stands before the lists. The product is RabbitMQ, since what reads such files, RabbitMQ itself included, goes by its versions.
func (b *Broker) head(format string) *File {
	return &File{
		RabbitVersion: b.Version, RabbitMQVersion: b.Version, ProductName: "RabbitMQ", ProductVersion: b.Version, Format: format,
		Parameters: []Parameter{}, Policies: []Policy{}, Queues: []Queue{}, Exchanges: []Exchange{}, Bindings: []Binding{},
	}
}

// addUser adds a user with the rows that belong to it. The hash goes along: an import elsewhere lets the same password in.
func (f *File) addUser(account *auth.Account) {
	hash := account.PasswordHash
	f.Users = append(f.Users, User{
		Name: account.Name, PasswordHash: &hash, HashingAlgorithm: account.HashingAlgorithm,
		Tags: append(Tags{}, account.Tags...), Limits: orEmpty(account.Limits),
	})
	for vhost, row := range account.Permissions {
		f.Permissions = append(f.Permissions, Permission{account.Name, vhost, row})
	}
	for vhost, rows := range account.TopicPermissions {
		for exchange, row := range rows {
			f.TopicPermissions = append(f.TopicPermissions, TopicPermission{account.Name, vhost, exchange, row})
		}
	}
}

// orEmpty copies limits; none are an empty object in the file.
func orEmpty[M ~map[string]int64](m M) Limits {
	limits := Limits{}
	maps.Copy(limits, m)
	return limits
}

// metadataOf is what is said of a virtual host. The type of queues is always written, as RabbitMQ does.
func metadataOf(v *vhost.VHost) Metadata {
	m := v.Metadata()
	kind := cmp.Or(m.DefaultQueueType, defaultQueueType)
	said := Metadata{Description: &m.Description, Tags: append(Tags{}, m.Tags...), DefaultQueueType: &kind, Protected: m.Protected}
	if m.Tracing { // RabbitMQ does not write it down; whoever switched it on means it to stay on
		said.Tracing = &m.Tracing
	}
	return said
}

func limitsOf(v *vhost.VHost) Limits { return orEmpty(v.Limits()) }

// addVHost adds what is in a virtual host, under the name that its entries are to have.
func (f *File) addVHost(v *vhost.VHost, name string) {
	f.addPolicies(v, name)
	v.Queues(func(q *queue.Queue) bool {
		// Exclusive queues end with their connection, which no file can bring back.
		if o := q.Options(); !o.Exclusive && !o.Delayed { // a queue of delayed messages comes with its exchange
			f.Queues = append(f.Queues, Queue{o.Name, name, &o.Durable, o.AutoDelete, queueType(o.Arguments), o.Arguments})
		}
		return true
	})
	v.Exchanges(func(x *exchange.Exchange) bool {
		o := x.Options()
		// Internal exchanges belong to features, which make them again.
		if o.Internal {
			return true
		}
		if !predeclared(o.Name) {
			f.Exchanges = append(f.Exchanges, Exchange{o.Name, name, o.Type, &o.Durable, o.AutoDelete, false, o.Arguments})
		}
		f.addBindings(x, name)
		return true
	})
}

// predeclared tells the exchanges that are there anyway. The one for log lines has to be switched on, so it is not.
func predeclared(name string) bool {
	return name == "" || strings.HasPrefix(name, reservedPrefix) && name != logExchange
}

const (
	reservedPrefix = "amq."
	logExchange    = "amq.rabbitmq.log"
)

// addBindings adds the bindings of an exchange whose other end is in the file too.
func (f *File) addBindings(x *exchange.Exchange, name string) {
	if x.Name() == "" {
		return // bindings of the default exchange follow from the queues
	}
	for _, b := range x.Bindings() {
		kind := "queue"
		switch d := b.Destination.(type) {
		case *queue.Queue:
			if d.Options().Exclusive {
				continue
			}
		case *exchange.Exchange:
			if d.Options().Internal {
				continue
			}
			kind = "exchange"
		}
		f.Bindings = append(f.Bindings, Binding{x.Name(), name, b.Destination.Name(), kind, b.Key, b.Arguments})
	}
}

// queueType is what a queue was declared as.
func queueType(arguments amqp.Table) string {
	kind, _ := arguments.Get(argQueueType)
	name, _ := kind.(string)
	return cmp.Or(name, defaultQueueType)
}

const argQueueType = "x-queue-type"

// sort puts the lists that come out of maps in order.
func (f *File) sort() {
	// A zero octet sorts before all others, so that a name stands before those that it begins.
	by := func(keys ...string) string { return strings.Join(keys, "\x00") }
	sortBy(f.Permissions, func(p *Permission) string { return by(p.VHost, p.User) })
	sortBy(f.TopicPermissions, func(p *TopicPermission) string { return by(p.VHost, p.User, p.Exchange) })
	sortBy(f.Parameters, func(p *Parameter) string { return by(p.VHost, p.Component, p.Name) })
	sortBy(f.Policies, func(p *Policy) string { return by(p.VHost, p.Name) })
	sortBy(f.Queues, func(q *Queue) string { return by(q.VHost, q.Name) })
	sortBy(f.Exchanges, func(x *Exchange) string { return by(x.VHost, x.Name) })
	sortBy(f.Bindings, func(b *Binding) string {
		return by(b.VHost, b.Source, b.DestinationType, b.Destination, b.RoutingKey, string(amqp.AppendTable(nil, b.Arguments)))
	})
}

// sortBy sorts by keys that are made anew for each comparison: an export is rare, and its lists are short beside its I/O.
func sortBy[T any](list []T, key func(*T) string) {
	slices.SortFunc(list, func(a, b T) int { return strings.Compare(key(&a), key(&b)) })
}
