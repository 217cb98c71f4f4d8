package store

import (
	"os"
	"slices"
	"sync/atomic"
)

// counters are what Stats tells and nobody else keeps.
type counters struct {
	batches, syncs, checkpoints, relocated, reads, readBytes, damaged, checkpointFailed atomic.Uint64
	syncNanos, readNanos, writeNanos                                                    atomic.Int64
	lastSync                                                                            atomic.Int64
}

// Stats implements Store.
func (s *Disk) Stats() Stats {
	st := Stats{
		Batches: s.counters.batches.Load(), Syncs: s.counters.syncs.Load(), LastSyncNanos: s.counters.lastSync.Load(),
		SyncNanos: s.counters.syncNanos.Load(), ReadNanos: s.counters.readNanos.Load(), WriteNanos: s.counters.writeNanos.Load(),
		Records: s.log.records.Load(), Bytes: s.log.bytes.Load(), Unsynced: uint64(max(0, s.log.unsynced.Load())),
		Commits: s.root.commits.Load(), Checkpoints: s.counters.checkpoints.Load(), CheckpointFailed: s.counters.checkpointFailed.Load(),
		Relocated: s.counters.relocated.Load(), Reads: s.counters.reads.Load(), ReadBytes: s.counters.readBytes.Load(),
		DamagedRecords: s.counters.damaged.Load(), SpillSegments: len(s.spill.all()),
	}
	for _, seg := range slices.Concat(s.logSegments(), s.spill.all()) {
		seg.mu.RLock()
		if seg.file != nil {
			st.LogBytes += seg.size
			st.Segments++
		}
		seg.mu.RUnlock()
	}
	st.Segments -= st.SpillSegments
	st.Free, st.PreparationFailed = s.pool.stats()
	st.LogBytes += int64(st.Free) * s.pool.size
	s.index.mu.Lock()
	st.Chunks, st.IndexBytes = s.index.chunks, s.index.bytes
	s.index.mu.Unlock()
	if info, err := os.Stat(s.root.path); err == nil {
		st.RootBytes = info.Size()
	}
	return st
}
