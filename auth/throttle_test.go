package auth_test

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"leveret/auth"
)

// tryFrom logs in by PLAIN from an address; it says whether the password was looked at, and how it ended.
func tryFrom(a *auth.Authenticator, address, user, password string) (looked bool, err error) {
	_, err = a.Authenticate("PLAIN", []byte("\x00"+user+"\x00"+password), auth.Client{Address: netip.MustParseAddr(address)})
	return err == nil || !strings.Contains(err.Error(), "too often"), err
}

func TestFailuresAreHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAuthWith(t, func(o *auth.Options) { o.FailureLimit, o.FailureInterval = 3, 10*time.Second },
			auth.Account{Name: "u", PasswordHash: test12Hash}, auth.Account{Name: "v", PasswordHash: test12Hash})
		for i := range 3 {
			if looked, err := tryFrom(a, "10.0.0.1", "u", "wrong"); !looked || code(err) != 403 {
				t.Fatalf("failure %d: %v", i, err)
			}
		}
		for i, repeated := range []bool{false, true, true} {
			looked, err := tryFrom(a, "10.0.0.1", "u", "test12")
			var refusal *auth.Refusal
			if looked || code(err) != 403 || !errors.As(err, &refusal) || refusal.Repeated != repeated {
				t.Errorf("try %d after the last: %v, repeated %v", i, err, refusal.Repeated)
			}
		}
		for what, from := range map[string][2]string{"another user": {"10.0.0.1", "v"}, "another address": {"10.0.0.2", "u"}} {
			if _, err := tryFrom(a, from[0], from[1], "test12"); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		time.Sleep(10 * time.Second) // synctest's clock: one failure is forgiven
		if _, err := tryFrom(a, "10.0.0.1", "u", "test12"); err != nil {
			t.Errorf("after a while: %v", err)
		}
		if looked, _ := tryFrom(a, "10.0.0.1", "u", "wrong"); !looked {
			t.Error("a success took the forgiven failure")
		}
		if looked, _ := tryFrom(a, "10.0.0.1", "u", "wrong"); looked {
			t.Error("more was forgiven than one")
		}
	})
}

// One that tries many names is held back as a whole, and so is a network of version 6 that has an address for each try.
func TestAddressesAreHeldBack(t *testing.T) {
	for name, address := range map[string]func(int) string{
		"names": func(int) string { return "10.0.0.1" },
		"IPv6":  func(i int) string { return fmt.Sprintf("2001:db8::%x", i+1) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAuthWith(t, func(o *auth.Options) { o.FailureLimit, o.FailureInterval = 2, time.Minute },
					auth.Account{Name: "u", PasswordHash: test12Hash})
				for i := range 20 {
					if looked, err := tryFrom(a, address(i), fmt.Sprint("nobody", i), "x"); !looked {
						t.Fatalf("failure %d: %v", i, err)
					}
				}
				if looked, _ := tryFrom(a, address(20), "u", "test12"); looked {
					t.Error("the twenty-first is looked at")
				}
				if _, err := tryFrom(a, "2001:db8:1::1", "u", "test12"); err != nil {
					t.Errorf("another network: %v", err)
				}
			})
		})
	}
}

func TestNoFailureLimit(t *testing.T) {
	a := newAuthWith(t, func(o *auth.Options) { o.FailureLimit = 0 }, auth.Account{Name: "u", PasswordHash: test12Hash})
	for range 1000 {
		if looked, _ := tryFrom(a, "10.0.0.1", "u", "wrong"); !looked {
			t.Fatal("held back")
		}
	}
}

// However many addresses fail, what is remembered of them stays bounded.
func TestSuspectsAreBounded(t *testing.T) {
	a := newAuthWith(t, func(o *auth.Options) { o.FailureInterval = time.Hour })
	for i := range 3 * auth.MaxSuspects {
		tryFrom(a, netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}).String(), "u", "x")
		if n := a.Suspects(); n > auth.MaxSuspects+1 {
			t.Fatalf("%d budgets after %d failures", n, i+1)
		}
	}
}

func TestAttemptsAreCounted(t *testing.T) {
	a := newAuthWith(t, func(o *auth.Options) { o.TrackSources = true }, auth.Account{Name: "u", PasswordHash: test12Hash})
	tryFrom(a, "10.0.0.1", "u", "test12")
	tryFrom(a, "10.0.0.1", "u", "wrong")
	tryFrom(a, "::ffff:10.0.0.1", "u", "wrong")
	a.Login("u", "test12", auth.Client{Protocol: auth.HTTP, Address: netip.MustParseAddr("10.0.0.2")})
	a.Authenticate("PLAIN", []byte("nonsense"), auth.Client{})
	if got, want := a.Attempts(), (auth.Attempts{Total: 5, Failed: 3}); got != want {
		t.Errorf("all %+v, want %+v", got, want)
	}
	want := "[{amqp091 {4 3}} {http {1 0}}]"
	if got := fmt.Sprint(a.AttemptsByProtocol()); got != want {
		t.Errorf("by protocol %s, want %s", got, want)
	}
	want = "[{amqp091 10.0.0.1 u {3 2}} {amqp091 invalid IP  {1 1}} {http 10.0.0.2 u {1 0}}]"
	if got := fmt.Sprint(a.AttemptsBySource()); got != want {
		t.Errorf("by source %s, want %s", got, want)
	}
	a.ResetAttempts()
	if a.AttemptsByProtocol() != nil || a.AttemptsBySource() != nil || a.Attempts().Total != 5 {
		t.Error("after a reset there are counts, or the total is gone")
	}
}

// Sources are remembered only when asked for, and never without bound.
func TestSourcesAreBounded(t *testing.T) {
	for track, most := range map[bool]int{false: 0, true: auth.MaxSources} {
		a := newAuthWith(t, func(o *auth.Options) { o.TrackSources, o.FailureLimit = track, 0 })
		for i := range auth.MaxSources + 100 {
			a.Login(fmt.Sprint(i), "x", loopback)
		}
		if n := len(a.AttemptsBySource()); n != most {
			t.Errorf("tracking %v: %d sources, want %d", track, n, most)
		}
	}
}
