package metrics_test

import (
	"reflect"
	"slices"
	"testing"

	"leveret/metrics"
)

// notSummed are fields of which a sum has the greatest, or none at all since they can't be added up.
var notSummed = map[string]string{
	"OldestAge": "greatest", "OldestUnackedAge": "greatest", "MostUnacked": "greatest",
	"HeadTimestamp": "none", "Wait": "none", "Processing": "none", "VHost": "none", "Name": "none", "Type": "none", "ID": "none",
}

// eachNumber visits the numbers in a struct with their names, those of structs within it too.
func eachNumber(v reflect.Value, visit func(name string, n reflect.Value)) {
	for i := range v.NumField() {
		name, field := v.Type().Field(i).Name, v.Field(i)
		switch {
		case notSummed[name] == "none":
		case field.Kind() == reflect.Struct:
			eachNumber(field, func(inner string, n reflect.Value) { visit(name+"."+inner, n) })
		default:
			visit(name, field)
		}
	}
}

// fill gives each number of a struct one of its own, from a number on.
func fill(v reflect.Value, from uint64) {
	eachNumber(v, func(_ string, n reflect.Value) {
		if from++; n.CanUint() {
			n.SetUint(from)
		} else {
			n.SetFloat(float64(from))
		}
	})
}

// numbersOf are the numbers of a struct by name.
func numbersOf(v reflect.Value) map[string]float64 {
	all := map[string]float64{}
	eachNumber(v, func(name string, n reflect.Value) {
		if n.CanUint() {
			all[name] = float64(n.Uint())
		} else {
			all[name] = n.Float()
		}
	})
	return all
}

// A sum has all fields: one that is added to a struct and forgotten in Add would show 0 on every dashboard.
func TestSums(t *testing.T) {
	var channel, otherChannel metrics.Channel
	var connection, otherConnection metrics.Connection
	var queue, otherQueue metrics.Queue
	for name, sum := range map[string]struct {
		to, other any
		add       func()
	}{
		"channel":    {&channel, &otherChannel, func() { channel.Add(&otherChannel) }},
		"connection": {&connection, &otherConnection, func() { connection.Add(&otherConnection) }},
		"queue":      {&queue, &otherQueue, func() { queue.Add(&otherQueue) }},
	} {
		to, other := reflect.ValueOf(sum.to).Elem(), reflect.ValueOf(sum.other).Elem()
		fill(to, 1000)
		fill(other, 5000)
		a, b := numbersOf(to), numbersOf(other)
		sum.add()
		got := numbersOf(to)
		if len(got) < 6 {
			t.Fatalf("%s: %d numbers", name, len(got))
		}
		for field, n := range got {
			want := a[field] + b[field]
			if notSummed[field] == "greatest" {
				want = max(a[field], b[field])
			}
			if n != want {
				t.Errorf("%s: %s of a sum of %.0f and %.0f is %.0f, want %.0f", name, field, a[field], b[field], n, want)
			}
		}
		for field, n := range numbersOf(other) {
			if n != b[field] {
				t.Errorf("%s: %s of what is added changes from %.0f to %.0f", name, field, b[field], n)
			}
		}
	}
}

// The greatest of two counts on whichever side it stands, and nothing added changes nothing.
func TestGreatestOfTwo(t *testing.T) {
	for _, ages := range [][]float64{{1, 2}, {2, 1}, {2, 2}, {0, 2}, {2, 0}} {
		q := metrics.Queue{OldestAge: ages[0], OldestUnackedAge: ages[0], MostUnacked: uint64(ages[0])}
		q.Add(&metrics.Queue{OldestAge: ages[1], OldestUnackedAge: ages[1], MostUnacked: uint64(ages[1])})
		if want := slices.Max(ages); q.OldestAge != want || q.OldestUnackedAge != want || float64(q.MostUnacked) != want {
			t.Errorf("of %v: %+v", ages, q)
		}
	}
	q := metrics.Queue{Ready: 5, OldestAge: 3}
	before := q
	q.Add(new(metrics.Queue))
	if q != before {
		t.Errorf("nothing changes %+v to %+v", before, q)
	}
}
