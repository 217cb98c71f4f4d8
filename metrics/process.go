package metrics

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// process is what the operating system knows of this process, under RabbitMQ's names. The collectors of the Prometheus library give the same
// under the names that Go programs use. started is when the broker was.
func process(started time.Time) []group[Node] {
	read := func(name, help string, value func() float64) column[Node] {
		return column[Node]{name, help, gauge, func(*Node) float64 { return value() }}
	}
	return []group[Node]{
		{"node_coarse_metrics", []column[Node]{
			read("rabbitmq_process_open_fds", "Open file descriptors", openFiles),
			read("rabbitmq_process_resident_memory_bytes", "Resident memory", residentMemory),
		}},
		{"node_metrics", []column[Node]{
			read("rabbitmq_process_max_fds", "Most file descriptors that may be open", maxFiles),
			read("rabbitmq_erlang_uptime_seconds", "Time since the broker started", func() float64 { return time.Since(started).Seconds() }),
		}},
	}
}

// The readers below return 0 where there is no /proc.

func openFiles() float64 {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return float64(len(entries) - 1) // less the one that lists them
}

// maxFiles reads the soft limit off the line "Max open files  1024  524288  files".
func maxFiles() float64 {
	limits, _ := os.ReadFile("/proc/self/limits")
	_, after, _ := bytes.Cut(limits, []byte("Max open files"))
	return leadingNumber(after)
}

// residentMemory reads the second number of /proc/self/statm, which counts pages.
func residentMemory() float64 {
	statm, _ := os.ReadFile("/proc/self/statm")
	_, after, _ := bytes.Cut(statm, []byte(" "))
	return leadingNumber(after) * float64(os.Getpagesize())
}

func leadingNumber(text []byte) float64 {
	fields := bytes.Fields(text)
	if len(fields) == 0 {
		return 0
	}
	n, err := strconv.ParseUint(string(fields[0]), 10, 63)
	if err != nil {
		return 0
	}
	return float64(n)
}
