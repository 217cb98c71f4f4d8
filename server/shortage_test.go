package server_test

import (
	"testing"
	"testing/synctest"

	"leveret/amqp"
	"leveret/server"
	"leveret/store"
)

// An alarm that is set by hand holds publishers as a real one does, and ends when it is taken back; a real one that is on goes on.
func TestForcedAlarms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, testOptions(), store.NewMemory())
		defer r.stop()
		c := r.pipe()
		defer c.conn.Close()
		c.mustOpen()
		blocked := func(reason string) {
			t.Helper()
			synctest.Wait()
			publish(c, "none", nil, false)
			if m := c.expect(amqp.MethodConnectionBlocked).(*amqp.ConnectionBlocked); m.Reason != reason || r.AlarmReason() != reason {
				t.Errorf("told %q, the server says %q, want %q", m.Reason, r.AlarmReason(), reason)
			}
		}
		r.ForceAlarm(server.Disk, true)
		blocked("low on disk")
		if memory, disk := r.Alarms(); memory || !disk || !r.Stats().DiskAlarm || r.Stats().MemoryAlarm {
			t.Errorf("memory %v, disk %v", memory, disk)
		}
		r.HoldAlarm(true)
		r.ForceAlarm(server.Disk, false)
		if got := r.AlarmReason(); got != "low on memory" {
			t.Errorf("low on memory too, the server says %q", got)
		}
		r.ForceAlarm(server.Memory, false) // nothing to take back
		c.silent("while memory is low")
		r.HoldAlarm(false)
		c.expect(amqp.MethodConnectionUnblocked)
		if r.AlarmReason() != "" {
			t.Errorf("over, the server says %q", r.AlarmReason())
		}
		r.ForceAlarm(server.Memory, true)
		r.ForceAlarm(server.Disk, true)
		blocked("low on memory & disk")
		r.ForceAlarm(server.Memory, false)
		r.ForceAlarm(server.Disk, false)
		c.expect(amqp.MethodConnectionUnblocked)
	})
}

// A limit of one byte holds publishers for good, and taking it away lets them go on.
func TestMemoryLimitChanges(t *testing.T) {
	o := testOptions()
	var told []uint64
	o.OnMemoryLimit = func(bytes uint64) { told = append(told, bytes) }
	r := start(t, o)
	c := r.open()
	r.SetMemoryLimit(1)
	eventually(t, "alarm", func() bool { memory, _ := r.Alarms(); return memory })
	c.addPublish(1, &amqp.BasicPublish{RoutingKey: []byte("none")}, nil, nil)
	c.mustFlush()
	c.expect(amqp.MethodConnectionBlocked)
	if r.MemoryLimit() != 1 {
		t.Errorf("limit %d", r.MemoryLimit())
	}
	r.SetMemoryLimit(0)
	c.expect(amqp.MethodConnectionUnblocked)
	if len(told) != 2 || told[0] != 1 || told[1] != 0 {
		t.Errorf("told of %d", told)
	}
	c.goodbye()
}
