package amqp_test

import (
	"reflect"
	"strings"
	"testing"

	"leveret/amqp"
)

func TestMethodsAsText(t *testing.T) {
	cases := []struct {
		method amqp.Method
		text   string
	}{
		{&amqp.QueueDeclare{Queue: "jobs", Durable: true}, `queue.declare queue="jobs" durable=1`},
		{&amqp.QueueDeclareOk{Queue: "jobs"}, `queue.declare-ok queue="jobs" message-count=0 consumer-count=0`},
		{&amqp.TxSelect{}, `tx.select`},
		{&amqp.BasicPublish{RoutingKey: []byte("a\xff\"b\n")}, `basic.publish exchange="" routing-key="a\xff\"b\n"`},
		{&amqp.QueueDeclare{Arguments: amqp.Table{
			{Name: "x-max-length", Value: int32(-5)}, {Name: "odd name", Value: amqp.Array{true, nil, "s"}}, {Name: "F", Value: amqp.Table{}},
			{Name: "D", Value: amqp.Decimal{Scale: 2, Value: 314}}, {Name: "d", Value: 0.5}, {Name: "T", Value: amqp.Timestamp(7)},
		}}, `queue.declare queue="" arguments={x-max-length=I:-5 "odd name"=A:[t:1 V S:"s"] F=F:{} D=D:314/2 d=d:0.5 T=T:7}`},
	}
	for _, c := range cases {
		if got := string(amqp.AppendText(nil, c.method)); got != c.text {
			t.Errorf("got  %s\nwant %s", got, c.text)
		}
		back, err := amqp.ParseText(c.text)
		if err != nil || string(back.AppendTo(nil)) != string(c.method.AppendTo(nil)) {
			t.Errorf("%s: read as %+v, error %v", c.text, back, err)
		}
	}
}

func TestFieldsMayBeLeftOut(t *testing.T) {
	m, err := amqp.ParseText("basic.consume   no-ack=1")
	if want := (&amqp.BasicConsume{NoAck: true}); err != nil || !reflect.DeepEqual(m, want) {
		t.Errorf("got %+v, error %v", m, err)
	}
}

func TestTextsThatAreNoMethod(t *testing.T) {
	cases := []struct{ text, want string }{
		{"", "unknown method"}, {"queue.declaim", "unknown method"},
		{`queue.declare color="red"`, "unknown field"}, {`queue.declare durable=1 queue="late"`, "out of order"},
		{`queue.declare queue=jobs`, "text in quotes"}, {`queue.declare queue="jobs`, "text in quotes"},
		{`queue.declare durable=2`, "number expected"}, {`basic.qos prefetch-count=65536`, "number expected"},
		{`basic.ack delivery-tag=-1`, "number expected"}, {`tx.select now`, "unexpected"},
		{`queue.declare queue="` + strings.Repeat("x", 256) + `"`, "255 octets"},
		{`queue.declare arguments=[]`, `"{" expected`}, {`queue.declare arguments={a}`, `"=" expected`}, {`queue.declare arguments={a=}`, "expected"},
		{`queue.declare arguments={a=I:1`, "expected"}, {`queue.declare arguments={a=S:"x"b=I:2}`, `" " expected`},
		{`queue.declare arguments={a=Z:1}`, "unknown tag"}, {`queue.declare arguments={a=b:128}`, "number expected"},
		{`queue.declare arguments={a=f:x}`, "float expected"}, {`queue.declare arguments={a=f:0x1ffffffff}`, "bits of a float"},
		{`queue.declare arguments={a=D:3}`, `"/" expected`}, {`queue.declare arguments={a=A:t:1}`, `"[" expected`},
		{`queue.declare arguments={a=` + strings.Repeat("A:[", 100) + strings.Repeat("]", 100) + `}`, "too deep"},
	}
	for _, c := range cases {
		if m, err := amqp.ParseText(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s: got %+v, error %v, want %q", c.text, m, err, c.want)
		}
	}
}
