package server

import (
	"testing"

	"leveret/amqp"
	"leveret/queue"
	"leveret/vhost"
)

// Each queue gets the tag that it wants; the log gets the one that its queues agree on, if they do.
func TestTags(t *testing.T) {
	c := hotPath(t)
	targets := make(map[string]*target)
	for name, d := range map[string]vhost.QueueDeclare{
		"plain":          {Durable: true},
		"up to 5":        {Durable: true, Arguments: amqp.Table{{Name: "x-max-priority", Value: int32(5)}}},
		"up to 10":       {Durable: true, Arguments: amqp.Table{{Name: "x-max-priority", Value: int32(10)}}},
		"transient to 3": {Arguments: amqp.Table{{Name: "x-max-priority", Value: int32(3)}}},
	} {
		d.Name = name
		q, err := c.vhost.DeclareQueue(d, 0, c.rights)
		if err != nil {
			t.Fatal(err)
		}
		targets[name] = newTarget(q)
	}
	for _, tt := range []struct {
		priority uint8
		queues   []string
	}{
		{9, []string{"plain"}},
		{9, []string{"up to 5"}},
		{4, []string{"up to 5", "plain", "up to 10"}},
		{9, []string{"up to 10", "transient to 3"}},
		{9, []string{"transient to 3"}},
		{9, []string{"up to 5", "up to 10", "up to 5"}},
	} {
		p := amqp.Properties{Flags: amqp.FlagPriority, Priority: tt.priority}
		raw := p.AppendTo(nil)
		m := amqp.Message(append(amqp.AppendMessageAddress(nil, nil, []byte("k")), raw...))
		if err := amqp.ScanProperties(raw, &c.publisher.index); err != nil {
			t.Fatal(err)
		}
		m.SetProperties(len(raw), &c.publisher.index, 1)
		var to []*target
		want := uint32(0)
		for _, name := range tt.queues {
			one := targets[name]
			to = append(to, one)
			if one.tagged && one.durable {
				tag := one.queue.Tag(m, &queue.Origin{Index: &c.publisher.index})
				if want != 0 && want != tag {
					tag = queue.UnknownTag
				}
				want = tag
			}
		}
		if got := c.tag(m, &route{targets: to}); got != want {
			t.Errorf("priority %d to %q: the log's tag is %d, want %d", tt.priority, tt.queues, got, want)
		}
		for _, one := range to {
			if one.tagged && one.tag != one.queue.Tag(m, &queue.Origin{Index: &c.publisher.index}) {
				t.Errorf("priority %d to %q: %q got tag %d", tt.priority, tt.queues, one.queue.Name(), one.tag)
			}
		}
	}
}
