package definitions

import (
	"encoding/json"
	"errors"

	"leveret/amqp"
	"leveret/auth"
	"leveret/vhost"
)

// The values of File.Format.
const (
	formatCluster = "cluster"
	formatVHost   = "single_virtual_host"
)

// File is a definitions file. Of a single virtual host's, Metadata, Description and Limits are set, there are no users and permissions, and
// no entry names its virtual host. A list that is nil is left out.
type File struct {
	// Of the file's writer. An import reads rabbit_version alone, by which it tells how old files hashed passwords.
	RabbitVersion   string `json:"rabbit_version"`
	RabbitMQVersion string `json:"rabbitmq_version"`
	ProductName     string `json:"product_name"`
	ProductVersion  string `json:"product_version"`
	Format          string `json:"rabbitmq_definition_format"`      // cluster or single_virtual_host; an import goes by what it was asked for and not by this
	OriginalCluster string `json:"original_cluster_name,omitempty"` // for people, as the explanation is
	OriginalVHost   string `json:"original_vhost_name,omitempty"`
	Explanation     string `json:"explanation"`

	// Of a file of one virtual host.
	Metadata    *Metadata `json:"metadata,omitempty"`
	Description *string   `json:"description,omitempty"`
	Limits      Limits    `json:"limits,omitzero"`

	// The order is that of RabbitMQ's files; an import has one of its own.
	Users            []User            `json:"users,omitzero"`
	VHosts           []VHost           `json:"vhosts,omitzero"`
	Permissions      []Permission      `json:"permissions,omitzero"`
	TopicPermissions []TopicPermission `json:"topic_permissions,omitzero"`
	Parameters       []Parameter       `json:"parameters,omitzero"`
	GlobalParameters []GlobalParameter `json:"global_parameters,omitzero"`
	Policies         []Policy          `json:"policies,omitzero"`
	Queues           []Queue           `json:"queues,omitzero"`
	Exchanges        []Exchange        `json:"exchanges,omitzero"`
	Bindings         []Binding         `json:"bindings,omitzero"`
}

// User is an entry of the users.
type User struct {
	Name             string                      `json:"name"`
	Password         *string                     `json:"password,omitempty"`          // read and never written
	PasswordHash     *string                     `json:"password_hash,omitempty"`     // base64 of salt and digest; an empty one lets nobody in
	HashingAlgorithm auth.Hashing                `json:"hashing_algorithm,omitempty"` // empty in files before 3.6, which knew MD5 alone
	Tags             Tags                        `json:"tags"`
	Limits           Limits                      `json:"limits"`
	Permissions      map[string]auth.Permissions `json:"permissions,omitempty"` // by virtual host; for a user that is made
}

// VHost is an entry of the virtual hosts. Older files have the metadata beside the name.
type VHost struct {
	// also the key: an entry whose name is there changes it
	Name     string    `json:"name"`
	Limits   Limits    `json:"limits"`
	Metadata *Metadata `json:"metadata,omitempty"`

	Description      *string `json:"description,omitempty"`
	Tags             Tags    `json:"tags,omitzero"`
	DefaultQueueType *string `json:"default_queue_type,omitempty"`
	Protected        *bool   `json:"protected_from_deletion,omitempty"`
	Tracing          *bool   `json:"tracing,omitempty"`
}

// Metadata is what a file says of a virtual host.
type Metadata struct {
	Description      *string `json:"description,omitempty"`
	Tags             Tags    `json:"tags,omitzero"`
	DefaultQueueType *string `json:"default_queue_type,omitempty"`
	Protected        *bool   `json:"protected_from_deletion,omitempty"`
	Tracing          *bool   `json:"tracing,omitempty"`
}

// Permission is one user's rights in one virtual host.
type Permission struct {
	User  string `json:"user"`
	VHost string `json:"vhost"`
	auth.Permissions
}

// TopicPermission is one user's rights on the keys of one topic exchange.
type TopicPermission struct {
	User     string `json:"user"`
	VHost    string `json:"vhost"`
	Exchange string `json:"exchange"`
	auth.TopicPermissions
}

// Parameter is a runtime parameter of a virtual host. Operator policies and the limits of virtual hosts are among them.
type Parameter struct {
	VHost     string          `json:"vhost,omitempty"`
	Component string          `json:"component"` // what the parameter is for, such as shovel; the names of a component are its own
	Name      string          `json:"name"`
	Value     json.RawMessage `json:"value"`
}

// GlobalParameter is a runtime parameter of the whole broker.
type GlobalParameter struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// Policy is an ordinary policy. Its definition keeps the order of its keys.
type Policy struct {
	VHost      string          `json:"vhost,omitempty"`
	Name       string          `json:"name"`
	Pattern    string          `json:"pattern"`            // a regular expression, searched for anywhere in the name of a queue or exchange
	ApplyTo    string          `json:"apply-to,omitempty"` // all, if the file does not say
	Definition json.RawMessage `json:"definition"`
	Priority   int             `json:"priority"` // of the policies that fit, the highest applies
}

// Queue is an entry of the queues. What a file does not say of durability means that the queue is durable.
type Queue struct {
	Name       string     `json:"name"`
	VHost      string     `json:"vhost,omitempty"`
	Durable    *bool      `json:"durable,omitempty"`
	AutoDelete bool       `json:"auto_delete"`
	Type       string     `json:"type,omitempty"` // for people: the argument x-queue-type counts
	Arguments  amqp.Table `json:"arguments"`
}

// Exchange is an entry of the exchanges.
type Exchange struct {
	Name       string     `json:"name"`
	VHost      string     `json:"vhost,omitempty"`
	Type       string     `json:"type"`
	Durable    *bool      `json:"durable,omitempty"`
	AutoDelete bool       `json:"auto_delete"`
	Internal   bool       `json:"internal,omitempty"`
	Arguments  amqp.Table `json:"arguments"`
}

// Binding is an entry of the bindings.
type Binding struct {
	Source          string     `json:"source"`
	VHost           string     `json:"vhost,omitempty"`
	Destination     string     `json:"destination"`
	DestinationType string     `json:"destination_type"` // queue or exchange
	RoutingKey      string     `json:"routing_key"`
	Arguments       amqp.Table `json:"arguments"`
}

// Tags are a list of texts; older files have one text with commas. Nil means that the file says nothing.
type Tags []string

// UnmarshalJSON reads either form.
func (t *Tags) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		// The text of older files; an empty one means none.
		*t = auth.SplitTags(text)
		return nil
	}
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		return errors.New("tags must be a list of texts, or one with commas")
	}
	*t = list
	return nil
}

// Limits are limits by their names. An empty list stands for an empty object.
type Limits map[string]int64

// UnmarshalJSON reads either form.
func (l *Limits) UnmarshalJSON(raw []byte) error {
	var none []struct{}
	// RabbitMQ writes an empty Erlang proplist, which it can't tell from an empty list.
	if json.Unmarshal(raw, &none) == nil && len(none) == 0 {
		*l = Limits{}
		return nil
	}
	var limits map[string]int64
	if err := json.Unmarshal(raw, &limits); err != nil {
		return errors.New("limits must be an object of numbers")
	}
	*l = limits
	return nil
}

// orTrue is what a flag is that a file may leave out.
func orTrue(flag *bool) bool { return flag == nil || *flag }

// metadata gathers what an entry says of a virtual host into m, which holds what was said before.
func (e *VHost) metadata(m *vhost.Metadata) {
	// What stands in the metadata is the newer form and has the last word, where a file has both.
	for _, said := range []*Metadata{{e.Description, e.Tags, e.DefaultQueueType, e.Protected, e.Tracing}, e.Metadata} {
		if said != nil {
			said.apply(m)
		}
	}
}

func (s *Metadata) apply(m *vhost.Metadata) {
	set(&m.Description, s.Description)
	set(&m.DefaultQueueType, s.DefaultQueueType)
	set(&m.Tracing, s.Tracing)
	if m.DefaultQueueType == "undefined" { // older files wrote this for none
		m.DefaultQueueType = ""
	}
	if s.Tags != nil {
		m.Tags = s.Tags
	}
	if s.Protected != nil {
		m.Protected = s.Protected
	}
}

// set overwrites a value with what is said, if anything is.
// nil means that the file says nothing, which is not the same as an empty value.
func set[T any](to *T, said *T) {
	if said != nil {
		*to = *said
	}
}
