package server_test

import (
	"errors"
	"reflect"
	"testing"

	"leveret/amqp"
	"leveret/store"
	"leveret/vhost"
)

func TestGlobalParameters(t *testing.T) {
	s := store.NewMemory()
	r := newRig(t, testOptions(), s)
	for name, value := range map[string]any{
		"a": map[string]any{"list": []any{1.0, "b", nil, true}}, "b": "text", "c": 5, "d": nil,
	} {
		for i, want := range []bool{true, false} {
			if created, err := r.SetGlobalParameter(name, value); created != want || err != nil {
				t.Errorf("setting %s the %d. time: created %t, %v", name, i+1, created, err)
			}
		}
	}
	check := func(r *rig) {
		t.Helper()
		want := []vhost.Parameter{
			{Name: "a", Value: map[string]any{"list": []any{int64(1), "b", nil, true}}}, {Name: "b", Value: "text"}, {Name: "c", Value: int64(5)}, {Name: "d"},
		}
		if got := r.GlobalParameters(); !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	check(r)
	r.stop()
	r = newRig(t, testOptions(), s)
	defer r.stop()
	check(r)
	for _, want := range []bool{true, false} {
		if found, err := r.ClearGlobalParameter("d"); found != want || err != nil {
			t.Errorf("found %t, %v", found, err)
		}
		if _, found := r.GlobalParameter("d"); found {
			t.Error("it is still there")
		}
	}
	var invalid *amqp.ValidationError
	if _, err := r.SetGlobalParameter("", 1); !errors.As(err, &invalid) {
		t.Errorf("no name: %v", err)
	}
	if _, err := r.SetGlobalParameter("f", func() {}); err == nil {
		t.Error("a value that JSON does not have was taken")
	}
}
