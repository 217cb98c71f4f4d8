package management

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// checks is below what all health checks stand. They answer 200 or 503, so that a caller need not read the body.
const checks = "/health/checks"

var healthRoutes = []route{
	check("/alarms", managementTag, (*call).checkAlarms, "no resource is low"),
	check("/local-alarms", managementTag, (*call).checkAlarms, "no resource of this node is low"),
	check("/virtual-hosts", managementTag, (*call).healthy, "all virtual hosts run"),
	check("/node-is-quorum-critical", managementTag, (*call).checkQuorum, "no queue would stop with this node; one node alone is never asked"),
	check("/is-in-service", anybody, (*call).checkInService, "the node is not being drained"),
	check("/below-node-connection-limit", anybody, (*call).healthy, "the node takes further connections"),
	check("/ready-to-serve-clients", anybody, (*call).checkReady, "clients can connect and work"),
	check("/reached-target-cluster-size", anybody, (*call).healthy, "all nodes of the cluster are there"),
	check("/metadata-store/initialized", managementTag, (*call).healthy, "definitions are loaded"),
	check("/metadata-store/initialized/with-data", managementTag, (*call).healthy, "definitions are loaded"),
	check("/certificate-expiration/{within}/{unit}", managementTag, (*call).checkCertificates, "no certificate ends within that time"),
	check("/port-listener/{port}", managementTag, (*call).checkPort, "the broker listens on the port"),
	check("/protocol-listener/{protocols}", managementTag, (*call).checkProtocols, "the broker listens for all these protocols"),
	check("/quorum-queues-without-elected-leaders/all-vhosts", managementTag, (*call).healthy, "all queues work"),
	check("/quorum-queues-without-elected-leaders/all-vhosts/pattern/{pattern}", managementTag, (*call).healthy, "all these queues work"),
	check("/quorum-queues-without-elected-leaders/vhost/{vhost}", managementTag, (*call).healthy, "all queues of the virtual host work"),
	check("/quorum-queues-without-elected-leaders/vhost/{vhost}/pattern/{pattern}", managementTag, (*call).healthy, "all these queues work"),
	{path: "/aliveness-test/{vhost}", group: "Health", operations: []operation{
		{http.MethodGet, vhostUser, (*call).healthy, "the virtual host is there", "", false},
	}},
	{path: "/healthchecks/node", group: "Health", operations: []operation{
		{http.MethodGet, managementTag, (*call).checkAlarms, "the same as alarms", "", false},
	}},
	{path: "/healthchecks/node/{node}", group: "Health", operations: []operation{
		{http.MethodGet, managementTag, (*call).checkNode, "the same as alarms", "", false},
	}},
}

// check makes the route of a health check.
func check(path string, who level, run func(*call) (reply, error), summary string) route {
	return route{path: checks + path, group: "Health", operations: []operation{{http.MethodGet, who, run, summary, "", false}}}
}

// healthy is the answer of a check that found nothing wrong.
func (c *call) healthy() (reply, error) { return ok(object{{"status", "ok"}}) }

// unhealthy is the answer of one that did.
func unhealthy(reason string, more ...field) (reply, error) {
	return reply{status: http.StatusServiceUnavailable, body: append(object{{"status", "failed"}, {"reason", reason}}, more...)}, nil
}

// checkAlarms fails while publishers are held for lack of memory or disk. All of the cluster is this node, so the checks of both are one.
func (c *call) checkAlarms() (reply, error) {
	var alarms []object
	if memory, _ := c.api.server.Alarms(); memory {
		alarms = append(alarms, object{{"node", c.api.options.Node}, {"resource", "memory"}})
	}
	if _, disk := c.api.server.Alarms(); disk {
		alarms = append(alarms, object{{"node", c.api.options.Node}, {"resource", "disk"}})
	}
	if len(alarms) > 0 {
		return unhealthy("There are alarms in effect in the cluster", field{"alarms", alarms})
	}
	return c.healthy()
}

// checkNode is the old form of it, with the node's name in the path.
func (c *call) checkNode() (reply, error) {
	if err := c.ownNode(); err != nil {
		return reply{}, err
	}
	return c.checkAlarms()
}

// checkQuorum always passes. RabbitMQ answers so for a node by itself, with this reason.
func (c *call) checkQuorum() (reply, error) {
	return ok(object{{"status", "ok"}, {"reason", "single node cluster"}})
}

// checkInService and checkReady need no login: load balancers and orchestrators ask them.
func (c *call) checkInService() (reply, error) {
	if c.api.server.Suspended() {
		return unhealthy("the node is being drained")
	}
	return c.healthy()
}

// listening are the listeners that let clients in: those for AMQP don't while the broker is suspended.
func (c *call) listening() []Listener {
	all := c.api.options.Listeners()
	if !c.api.server.Suspended() {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(l Listener) bool { return strings.HasPrefix(l.Protocol, "amqp") })
}

// checkReady fails while no AMQP client could connect, which is also so during a stop_app.
func (c *call) checkReady() (reply, error) {
	for _, l := range c.listening() {
		if strings.HasPrefix(l.Protocol, "amqp") {
			return c.healthy()
		}
	}
	return unhealthy("no active listeners for AMQP/AMQPS")
}

// checkPort asks whether anything listens on a port, on whichever address.
func (c *call) checkPort() (reply, error) {
	port, err := strconv.Atoi(c.path("port"))
	if err != nil {
		return reply{}, badRequest("Invalid port")
	}
	// A list, and not null, if nothing listens.
	ports := []any{}
	for _, l := range c.listening() {
		_, p := splitAddress(l.Address)
		ports = append(ports, p)
	}
	if slices.Contains(ports, any(port)) {
		return ok(object{{"status", "ok"}, {"port", port}})
	}
	return unhealthy("No active listener", field{"missing", port}, field{"ports", ports})
}

// protocolNames are other names that people give the protocols.
var protocolNames = map[string]string{"amqps": "amqp/ssl", "amqp091": "amqp", "https": "https"}

// checkProtocols asks for one protocol or several with commas; all of them have to be there.
func (c *call) checkProtocols() (reply, error) {
	active := []string{}
	for _, l := range c.listening() {
		if !slices.Contains(active, l.Protocol) {
			active = append(active, l.Protocol)
		}
	}
	missing := []string{}
	for name := range strings.SplitSeq(c.path("protocols"), ",") {
		// Both names are taken, as people write them.
		if other, ok := protocolNames[name]; ok {
			name = other
		}
		if !slices.Contains(active, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return unhealthy("No active listener", field{"missing", missing}, field{"protocols", active})
	}
	return ok(object{{"status", "ok"}, {"protocols", active}})
}

// timeUnits are those in which a certificate's remaining time can be given, in seconds. As in RabbitMQ a year is of 365 days and a month the
// twelfth part of it.
var timeUnits = map[string]int64{"days": 86_400, "weeks": 7 * 86_400, "months": 365 * 86_400 / 12, "years": 365 * 86_400}

// longest is a time in any unit that no certificate's reaches, whose years have four digits, and whose seconds an int64 holds.
const longest = 10_000 * 366

// secondsWithin reads a time from the path. RabbitMQ counts with numbers of any size, negative ones too, and looks at the unit, in
// small letters or not, only if the number is one.
func (c *call) secondsWithin() (int64, error) {
	n, err := strconv.ParseInt(c.path("within"), 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // out of range n is the nearest that there is
		return 0, badRequest("Invalid expiration value.")
	}
	unit, known := timeUnits[strings.ToLower(c.path("unit"))]
	if !known {
		return 0, badRequest("Time unit not recognised. Supported units: days, weeks, months, years.")
	}
	return min(max(n, -longest), longest) * unit, nil
}

// checkCertificates fails when a listener's certificate ends within the time, or has ended.
func (c *call) checkCertificates() (reply, error) {
	within, err := c.secondsWithin()
	if err != nil {
		return reply{}, err
	}
	limit := time.Now().Unix() + within
	var expired []object
	for _, cert := range c.api.options.Certificates() {
		// Leaf is what crypto/tls parsed when the file was loaded; what could not be parsed is not in use either.
		if cert.Leaf != nil && cert.Leaf.NotAfter.Unix() < limit {
			expired = append(expired, certificate(cert))
		}
	}
	if len(expired) > 0 {
		return unhealthy("Certificates expiring", field{"expired", expired})
	}
	return c.healthy()
}

// certificate is one that ends too soon, by what an operator finds it by.
func certificate(cert *tls.Certificate) object {
	return object{
		{"subject", cert.Leaf.Subject.String()}, {"not_after", cert.Leaf.NotAfter.UTC().Format(time.RFC3339)},
		{"serial_number", fmt.Sprint(cert.Leaf.SerialNumber)},
	}
}
