package auth_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"leveret/amqp"
	"leveret/auth"
	"leveret/events"
)

// journal notes events, each as its key and its properties.
type journal struct{ lines []string }

func (j *journal) Wants(string) bool { return true }

func (j *journal) Take(e events.Event) {
	var line strings.Builder
	line.WriteString(e.Key)
	for _, f := range e.Properties {
		line.WriteString(fmt.Sprintf(" %s=%s", f.Name, amqp.FormatValue(f.Value)))
	}
	j.lines = append(j.lines, line.String())
}

func TestUserEvents(t *testing.T) {
	bus, j := events.New(), new(journal)
	bus.Listen(j)
	options := auth.DefaultOptions()
	options.DefaultUser, options.Events = "", bus
	a, err := auth.New(options)
	if err != nil {
		t.Fatal(err)
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(a.PutUser(auth.Account{Name: "u", PasswordHash: test12Hash, Tags: []string{"monitoring"}}))
	do(a.SetPassword("u", "other"))
	do(a.SetPassword("u", ""))
	do(a.SetPermissions("u", "/", auth.Permissions{Configure: "a", Write: "b", Read: "c"}))
	do(a.SetPermissions("u", "/", auth.Permissions{Configure: "a", Write: "b", Read: "c"})) // no change
	do(a.SetPermissions("u", "/", auth.AllPermissions()))
	do(a.SetTopicPermissions("u", "/", "x", auth.TopicPermissions{Write: "w", Read: "r"}))
	do(a.ClearTopicPermissions("u", "/", "x"))
	do(a.ClearPermissions("u", "/"))
	do(a.DeleteUser("u"))
	if err := a.DeleteUser("u"); err == nil {
		t.Error("deleted twice")
	}
	bus.Close()
	want := []string{
		"user.created name=u",
		"user.tags.set name=u tags=A:[S:\"monitoring\"]",
		"user.password.changed name=u",
		"user.password.cleared name=u",
		"permission.created user=u vhost=/ configure=a write=b read=c",
		"permission.created user=u vhost=/ configure=.* write=.* read=.*",
		"topic.permission.created user=u vhost=/ exchange=x write=w read=r",
		"topic.permission.deleted user=u vhost=/ exchange=x",
		"permission.deleted user=u vhost=/",
		"user.deleted name=u",
	}
	if !slices.Equal(j.lines, want) {
		t.Errorf("events\n got %q\nwant %q", j.lines, want)
	}
}
