package admin_test

import (
	"testing"

	"leveret/cmd/broker/admin"
	"leveret/ctl/ctltest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ctlAt runs `broker ctl` against the fake and returns what it printed and the exit code.
func ctlAt(a *ctltest.API, input string, args ...string) (output string, code int) {
	return ctltest.Run(admin.New(), input, append(args, "--url", a.URL)...)
}
