package archtest

import (
	"reflect"
	"strings"
	"testing"
)

func TestList(t *testing.T) {
	for _, p := range badPackages(t) {
		if p.ImportPath != "leveret/queue" {
			continue
		}
		if p.Name != "queue" || p.path() != "queue" || !reflect.DeepEqual(p.GoFiles, []string{"queue.go"}) || p.Module == nil || !p.Module.Main {
			t.Errorf("got %+v", p)
		}
		want := []string{"github.com/rabbitmq/amqp091-go", "leveret/util"} // what queue.go has too is not the test's alone
		if got := p.testOnly(); !reflect.DeepEqual(got, want) {
			t.Errorf("imports of its tests: %q, want %q", got, want)
		}
		return
	}
	t.Error("leveret/queue is not listed")
}

func TestListTellsWhatTheGoCommandSays(t *testing.T) {
	_, err := List("testdata/bad", "-nonsense")
	if err == nil || !strings.Contains(err.Error(), "flag provided but not defined") {
		t.Errorf("error %v", err)
	}
}

func TestDecodeList(t *testing.T) {
	pkgs, err := decodeList([]byte(`{"ImportPath":"leveret"}` + "\n" + `{"ImportPath":"leveret/a/b"}`))
	if err != nil || len(pkgs) != 2 || pkgs[0].path() != "." || pkgs[1].path() != "a/b" {
		t.Errorf("got %+v, %v", pkgs, err)
	}
	if _, err := decodeList([]byte(`{"ImportPath":"leveret"} {`)); err == nil {
		t.Error("half an object is read without an error")
	}
}
