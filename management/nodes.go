package management

import (
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"leveret/auth"
)

var nodeRoutes = []route{
	{path: "/nodes", group: "Broker", operations: []operation{
		{http.MethodGet, monitor, (*call).listNodes, "the nodes of the cluster: this one", "", false},
	}},
	{path: "/nodes/{node}", group: "Broker", operations: []operation{
		{http.MethodGet, monitor, (*call).getNode, "the node: resources in use and their limits; memory=true: and what takes the memory", "", false},
	}},
	{path: "/nodes/{node}/memory", group: "Broker", operations: []operation{
		{http.MethodGet, monitor, (*call).nodeMemory, "what takes the memory, in bytes", "", false},
	}},
	{path: "/nodes/{node}/memory/{form}", group: "Broker", operations: []operation{
		{http.MethodGet, monitor, (*call).nodeMemoryForm, "what takes the memory: relative, in percent; ets, by table, of which there are none", "", false},
	}},
}

// listNodes lists the node. The API keeps the form of a cluster, in which tools look for their node by its name.
func (c *call) listNodes() (reply, error) {
	o, err := c.node()
	if err != nil {
		return reply{}, err
	}
	return ok(columnsOf(c).of([]object{o}))
}

// ownNode refuses the names of other nodes.
func (c *call) ownNode() error {
	if c.path("node") != c.api.options.Node {
		return notFound()
	}
	return nil
}

// getNode shows the node with its resources; what takes the memory is added when asked for, since it has to be measured.
func (c *call) getNode() (reply, error) {
	if err := c.ownNode(); err != nil {
		return reply{}, err
	}
	o, err := c.node()
	if err != nil {
		return reply{}, err
	}
	if c.asked("memory") {
		o.add("memory", memoryParts())
	}
	return ok(columnsOf(c).one(o))
}

// resourceCounters are a node's gauges and counters beside those of stats.go, as nodeResources gives them.
var resourceCounters = counters{
	"mem_used", "fd_used", "sockets_used", "proc_used", "disk_free", "gc_num", "gc_bytes_reclaimed", "context_switches", "io_read_count",
	// Of the log and of the files of transient messages.
	"io_read_bytes", "io_write_count", "io_write_bytes", "io_sync_count", "msg_store_read_count", "msg_store_write_count",
}

// silentCounters are of a storage that this broker does not have.
var silentCounters = counters{
	"io_seek_count", "io_reopen_count", "mnesia_ram_tx_count", "mnesia_disk_tx_count", "queue_index_write_count", "queue_index_read_count",
}

// averages would be times of operations, which are not measured one by one.
var averages = []string{"io_read_avg_time", "io_write_avg_time", "io_sync_avg_time", "io_seek_avg_time"}

// nodeResources are the values of resourceCounters.
func (a *API) nodeResources() []uint64 {
	disk := a.store.Stats()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)    // stops the world, for some microseconds an interval
	used, _ := residentMemory() // what the system counts is what it kills by, so it is that and not the heap's size; 0 where it does not tell
	free, _ := diskFree(a.options.DataDir)
	return []uint64{
		used, openFiles(), 0, uint64(runtime.NumGoroutine()), free, uint64(m.NumGC), m.TotalAlloc - m.HeapAlloc, 0, disk.Reads, disk.ReadBytes,
		disk.Batches, disk.Bytes, disk.Syncs, disk.Reads, disk.Records,
	}
}

// resourcesKey is the key of the samples of nodeResources.
type resourcesKey struct{}

// diskFreeLimit is below how much free disk publishers are held, in bytes; 0 if the store is on no disk.
func (a *API) diskFreeLimit() uint64 {
	if s, onDisk := a.store.(interface{ MinFree() uint64 }); onDisk {
		return s.MinFree()
	}
	return 0
}

// collected are RabbitMQ's queues of statistics to be thrown away, for agents that read them. There are none here.
func collected() object {
	var o object
	for _, name := range []string{
		"connection_closed", "channel_closed", "consumer_deleted", "exchange_deleted", "queue_deleted", "vhost_deleted", "node_node_deleted", "channel_consumer_deleted",
	} {
		o.add(name, 0)
	}
	return o
}

// node shows this node.
func (c *call) node() (object, error) {
	w, err := windowsOf(c)
	if err != nil {
		return nil, err
	}
	a := c.api
	st := a.server.Stats()
	// There are no log files: logs go to the output.
	db, files := a.options.DataDir, []string{}
	o := object{
		{"name", a.options.Node}, {"type", "disc"}, {"running", true}, {"being_drained", a.server.Suspended()}, {"os_pid", strconv.Itoa(os.Getpid())},
		{"uptime", time.Since(a.started).Milliseconds()}, {"rabbitmq_version", a.options.ProductVersion},
		{"erlang_version", runtime.Version()}, {"erlang_full_version", runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH},
		{"crypto_lib_version", "Go crypto/tls"}, {"rates_mode", "basic"}, {"net_ticktime", 60}, {"processors", runtime.GOMAXPROCS(0)}, {"run_queue", 0},
		{"fd_total", fileLimit()}, {"sockets_total", 0}, {"proc_total", processLimit}, {"mem_limit", a.server.MemoryLimit()},
		{"mem_alarm", st.MemoryAlarm}, {"mem_calculation_strategy", "rss"}, {"disk_free_limit", a.diskFreeLimit()},
		{"disk_free_alarm", st.DiskAlarm}, {"partitions", []any{}}, {"cluster_links", []any{}}, {"contexts", a.contexts()},
		{"enabled_plugins", []string{"rabbitmq_management", "rabbitmq_prometheus"}},
		{"applications", []object{{{"name", "leveret"}, {"description", "AMQP 0-9-1 broker"}, {"version", a.options.Version}}}},
		{"auth_mechanisms", a.mechanisms()}, {"exchange_types", exchangeTypes()}, {"config_files", files}, {"log_files", files}, {"db_dir", db},
		{"ra_open_file_metrics", object{{"ra_log_wal", 0}, {"ra_log_segment_writer", 0}}}, {"metrics_gc_queue_length", collected()},
	}
	o = resourceCounters.addTo(o, a.nodeResources(), a.rates.past(resourcesKey{}, w.node), 0, w.node)
	o = silentCounters.addTo(o, make([]uint64, len(silentCounters)), history{}, 0, w.node)
	for _, name := range averages {
		o = append(o, field{name, 0.0}, field{name + "_details", object{{"rate", 0.0}}})
	}
	values, h := a.nodeSample(&st), a.rates.past(nodeKey{}, w.node)
	return churnCounters.addTo(o, values[nodeChurnAt:], h, nodeChurnAt, w.node), nil
}

// processLimit is how many goroutines there may be: as many as fit into memory.
// A number that alarms of tools, which watch for four fifths of it, do not reach.
const processLimit = 1 << 20

// mechanisms are the ways to log in.
func (a *API) mechanisms() []object {
	var list []object
	for name := range strings.FieldsSeq(a.users.Mechanisms(auth.Client{})) {
		list = append(list, object{{"name", name}, {"description", "SASL " + name}, {"enabled", true}})
	}
	return list
}

// nodeMemory tells what takes the memory, in bytes.
func (c *call) nodeMemory() (reply, error) {
	if err := c.ownNode(); err != nil {
		return reply{}, err
	}
	return ok(object{{"memory", memoryParts()}})
}

// nodeMemoryForm tells it in another form. RabbitMQ's ets tables have no counterpart here.
func (c *call) nodeMemoryForm() (reply, error) {
	if err := c.ownNode(); err != nil {
		return reply{}, err
	}
	switch c.path("form") {
	case "relative":
		return ok(object{{"memory", memoryShares()}})
	case "ets":
		return ok(object{{"ets_tables", []any{}}})
	}
	return reply{}, notFound()
}

// untold are the parts of RabbitMQ's memory that a Go program can't tell apart. Typed clients refuse an answer without them, so they are 0.
var untold = strings.Fields(`connection_readers connection_writers connection_channels connection_other queue_procs quorum_queue_procs quorum_queue_dlx_procs
	stream_queue_procs stream_queue_replica_reader_procs stream_queue_coordinator_procs plugins metadata_store other_proc metrics mgmt_db mnesia quorum_ets
	metadata_store_ets other_ets binary msg_index code atom reserved_unallocated`)

// memoryParts tells what takes the memory, as far as Go knows: the heap, stacks, and what the collector keeps for itself.
func memoryParts() object {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	used, _ := residentMemory()
	parts := object{
		// RabbitMQ's names where a part has one, and our own for the rest.
		{"heap", m.HeapInuse}, {"stacks", m.StackInuse}, {"collector", m.GCSys}, {"other_system", m.OtherSys},
		{"allocated_unused", m.HeapIdle - m.HeapReleased},
	}
	for _, name := range untold {
		parts.add(name, uint64(0))
	}
	return append(parts, field{"strategy", "rss"},
		field{"total", object{{"erlang", m.HeapAlloc}, {"rss", used}, {"allocated", m.Sys - m.HeapReleased}}})
}

// memoryShares is memoryParts in percent of all.
func memoryShares() object {
	shares := object{}
	parts := memoryParts()
	// At least 1, as it is what is divided by.
	total := uint64(1)
	if all, ok := parts.at("total.rss"); ok {
		total = max(all.(uint64), 1)
	}
	for _, f := range parts {
		if n, ok := f.value.(uint64); ok {
			shares.add(f.name, 100*n/total)
		}
	}
	return append(shares, field{"total", total})
}

// residentMemory is what the process takes of the machine's memory, in bytes.
func residentMemory() (uint64, error) {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(raw))
	if len(fields) < 2 {
		return 0, syscall.EINVAL
	}
	// The second field is the resident set, in pages: see proc(5).
	pages, err := strconv.ParseUint(fields[1], 10, 64)
	return pages * uint64(os.Getpagesize()), err
}

// openFiles counts the process's file descriptors, 0 where that can't be told.
func openFiles() uint64 {
	// The folder that is being read is among them.
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return uint64(len(entries))
}

// fileLimit is how many file descriptors the process may have, and so how many connections at most.
func fileLimit() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return limit.Cur
}

// diskFree is how many bytes are free where the data is; a broker without data has the working directory's.
func diskFree(dir string) (uint64, error) {
	if dir == "" {
		dir = "."
	}
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	// Bavail and not Bfree: what is reserved for root is not ours.
	return s.Bavail * uint64(s.Bsize), nil
}
