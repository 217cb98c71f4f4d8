package management

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"runtime/debug"
	"time"

	"leveret/server"
)

// Control is what the API asks of the process around the broker. Its methods may be called from any goroutine; errors of theirs that are bad values
// wrap [ErrBadValue].
type Control interface {
	// SetMemoryWatermark sets from how much memory publishers are held: bytes, or a fraction of what there is if bytes is 0.
	SetMemoryWatermark(bytes uint64, fraction float64) error
	// SetDiskLimit sets below how much free disk they are held, likewise.
	SetDiskLimit(bytes uint64, fraction float64) error
	// SetLogLevel takes debug, info, warn or error.
	SetLogLevel(level string) error
	// Setting returns a setting by RabbitMQ's name for it, as JSON would be decoded; false: there is none.
	Setting(application, key string) (value any, ok bool)
	// SetSetting changes one; numbers are [json.Number].
	SetSetting(application, key string, value any) error
	// Stop ends the process, cleanly, as a signal does. It does not wait.
	Stop()
}

// ErrBadValue is what a control can't be set to.
var ErrBadValue = errors.New("bad value")

// controlRoutes change the running broker. RabbitMQ has no paths for it, but commands.
var controlRoutes = []route{
	{path: "/leveret/alarms/{resource}", group: "Control", operations: []operation{
		{http.MethodPut, administrator, func(c *call) (reply, error) { return c.forceAlarm(true) }, "hold publishers as if memory or disk were short", "", false},
		{http.MethodDelete, administrator, func(c *call) (reply, error) { return c.forceAlarm(false) }, "no longer do so", "", false},
	}},
	{path: "/leveret/app", group: "Control", operations: []operation{
		{http.MethodPut, administrator, (*call).setRunning, "end all connections and let nobody in, or let them in again", "running*", false},
	}},
	{path: "/leveret/stop", group: "Control", operations: []operation{
		{http.MethodPost, administrator, controlled((*call).stop), "end the process cleanly", "", false},
	}},
	{path: "/leveret/collect-garbage", group: "Control", operations: []operation{
		{http.MethodPost, administrator, collectGarbage, "collect garbage and give memory back to the system", "", false},
	}},
	{path: "/leveret/memory-watermark", group: "Control", operations: []operation{
		{http.MethodPut, administrator, controlled((*call).setMemoryWatermark), "from how much memory publishers are held", "absolute relative", false},
	}},
	{path: "/leveret/disk-free-limit", group: "Control", operations: []operation{
		{http.MethodPut, administrator, controlled((*call).setDiskLimit), "below how much free disk publishers are held", "bytes mem_relative", false},
	}},
	{path: "/leveret/log-level", group: "Control", operations: []operation{
		{http.MethodPut, administrator, controlled((*call).setLogLevel), "how much is logged", "level*", false},
	}},
	{path: "/leveret/environment/{application}/{key}", group: "Control", operations: []operation{
		{http.MethodGet, administrator, controlled((*call).setting), "a setting, by RabbitMQ's name for it", "", false},
		{http.MethodPut, administrator, controlled((*call).setSetting), "change a setting of the running broker", "value*", false},
	}},
}

// controlled refuses what nobody is there to do.
func controlled(run func(c *call) (reply, error)) func(c *call) (reply, error) {
	return func(c *call) (reply, error) {
		if c.api.options.Control == nil {
			return reply{}, notFound()
		}
		return run(c)
	}
}

// changed is the answer to a change.
func (c *call) changed(err error) (reply, error) {
	if errors.Is(err, ErrBadValue) {
		return reply{}, badRequest(err.Error())
	}
	if err == nil {
		// The path says what was changed; bodies stay out of the log, as settings may hold secrets.
		c.audit("broker.changed", "method", c.request.Method, "path", c.request.URL.Path)
	}
	return done(err)
}

// forceAlarm raises an alarm that no shortage has raised, to try out what publishers do then, or ends that. A real shortage is not ended by it.
func (c *call) forceAlarm(on bool) (reply, error) {
	switch c.path("resource") {
	case "memory":
		c.api.server.ForceAlarm(server.Memory, on)
	case "disk":
		c.api.server.ForceAlarm(server.Disk, on)
	default:
		return reply{}, notFound()
	}
	return c.changed(nil)
}

// suspendTime is how long clients may take to leave.
const suspendTime = 10 * time.Second

// setRunning is stop_app and start_app: the process goes on, and so does this API.
func (c *call) setRunning() (reply, error) {
	body, err := c.body()
	if err != nil {
		return reply{}, err
	}
	v, _ := body.get("running")
	running, ok := v.(bool)
	if !ok {
		return reply{}, invalid("not_boolean", v)
	}
	if running {
		return c.changed(c.api.server.Resume())
	}
	// What is not closed by then is closed hard; the broker is suspended in any case.
	ctx, cancel := context.WithTimeout(c.request.Context(), suspendTime)
	defer cancel()
	return c.changed(c.api.server.Suspend(ctx))
}

// stop asks for the end; the answer goes out before the API is closed.
func (c *call) stop() (reply, error) {
	c.api.options.Control.Stop()
	return c.changed(nil)
}

// collectGarbage is force_gc. It answers when that is done, which takes a moment with a large heap.
func collectGarbage(*call) (reply, error) {
	// It collects first. Whoever asks for that wants to see the memory of the process go down.
	debug.FreeOSMemory()
	return noContent()
}

// amount reads bytes, least at least, or a fraction, whichever is there.
func (c *call) amount(bytesKey, fractionKey string, least int64) (bytes uint64, fraction float64, err error) {
	body, err := c.body()
	if err != nil {
		return 0, 0, err
	}
	// Bytes come before a fraction, if somebody sends both.
	if v, given := body.get(bytesKey); given {
		number, _ := v.(json.Number)
		n, err := number.Int64()
		if err != nil || n < least {
			return 0, 0, invalid("not_integer", v)
		}
		return uint64(n), 0, nil
	}
	v, _ := body.get(fractionKey)
	number, _ := v.(json.Number)
	fraction, err = number.Float64()
	if err != nil || fraction < 0 {
		return 0, 0, invalid("not_number", v)
	}
	return 0, fraction, nil
}

// setMemoryWatermark takes bytes or a fraction of what the machine or container has. 0 bytes are
// refused, as that would switch the alarm off.
func (c *call) setMemoryWatermark() (reply, error) {
	bytes, fraction, err := c.amount("absolute", "relative", 1)
	if err != nil {
		return reply{}, err
	}
	return c.changed(c.api.options.Control.SetMemoryWatermark(bytes, fraction))
}

// setDiskLimit takes bytes or a fraction of the memory, as RabbitMQ's mem_relative.
func (c *call) setDiskLimit() (reply, error) {
	bytes, fraction, err := c.amount("bytes", "mem_relative", 0) // 0 is no limit
	if err != nil {
		return reply{}, err
	}
	return c.changed(c.api.options.Control.SetDiskLimit(bytes, fraction))
}

// setLogLevel holds until the settings are read again.
func (c *call) setLogLevel() (reply, error) {
	body, err := c.body()
	if err != nil {
		return reply{}, err
	}
	v, _ := body.get("level")
	level, ok := v.(string)
	if !ok {
		return reply{}, invalid("not_string", v)
	}
	return c.changed(c.api.options.Control.SetLogLevel(level))
}

// setting and setSetting are what application:get_env and set_env are in RabbitMQ, for the few settings that clients' test suites change.
func (c *call) setting() (reply, error) {
	v, known := c.api.options.Control.Setting(c.path("application"), c.path("key"))
	if !known {
		return reply{}, notFound()
	}
	return ok(object{{"value", v}})
}

// setSetting hands the value on as JSON had it: what it may be, the process knows.
func (c *call) setSetting() (reply, error) {
	body, err := c.body()
	if err != nil {
		return reply{}, err
	}
	if err := body.require("value"); err != nil {
		return reply{}, err
	}
	v, _ := body.get("value")
	return c.changed(c.api.options.Control.SetSetting(c.path("application"), c.path("key"), v))
}
