package main

import (
	"bytes"
	"io/fs"
	"strconv"

	"leveret/config"
)

// memoryTotal is how much memory this process may use: the machine's, or less if it runs in a container with a limit. root is the root of
// the file system. It is 0 when nothing tells.
func memoryTotal(root fs.FS) int64 {
	total := memInfoTotal(root)
	// Version 2 of control groups has its own root inside a container; version 1 has a folder for each kind of limit.
	for _, file := range []string{"sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := fs.ReadFile(root, file)
		if err != nil {
			continue
		}
		limit, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
		if err == nil && limit > 0 && (total == 0 || limit < total) {
			total = limit // an absent limit is the word max, or a number larger than any memory
		}
	}
	return total
}

// memInfoTotal reads the line "MemTotal:  16314188 kB".
func memInfoTotal(root fs.FS) int64 {
	text, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return 0
	}
	_, after, _ := bytes.Cut(text, []byte("MemTotal:"))
	fields := bytes.Fields(after)
	if len(fields) == 0 {
		return 0
	}
	kilobytes, _ := strconv.ParseInt(string(fields[0]), 10, 64)
	return kilobytes << 10
}

// diskLimit is the free disk in bytes below which publishers are held. A share is one of the memory, as in RabbitMQ: what is in memory must fit
// on the disk.
func diskLimit(w config.Watermark, total int64) int64 {
	if w.Absolute > 0 {
		return w.Absolute
	}
	return int64(w.Relative * float64(total))
}

// watermark is the memory in bytes from which publishers are held, 0 when there is nothing to take a share of. A share of 0 holds them
// always, as operators of RabbitMQ know it, so it is one byte.
func watermark(w config.Watermark, total int64) int64 {
	if w.Absolute > 0 {
		return w.Absolute
	}
	if total == 0 {
		return 0
	}
	return max(1, int64(w.Relative*float64(total)))
}
