package management

import "net/http"

// While the broker is low on memory or disk, publishers over AMQP are held. A request can't be held for as long as that may take, so it is refused and
// may be sent again. RabbitMQ lets it pass, which takes what is left of the memory.

// roomToPublish refuses while any alarm is on.
func (c *call) roomToPublish() error {
	if reason := c.api.server.AlarmReason(); reason != "" {
		return short(reason)
	}
	return nil
}

// roomToDeclare refuses while the disk is nearly full: what is declared has to be kept. Deleting goes on, and with low memory declaring does too.
func (c *call) roomToDeclare() error {
	if _, disk := c.api.server.Alarms(); disk {
		return short("low on disk")
	}
	return nil
}

// short is the answer to what has to wait for an alarm to end.
func short(reason string) *failure {
	return failed(http.StatusServiceUnavailable, "resource_alarm", reason)
}
