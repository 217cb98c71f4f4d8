package main

import "leveret/metrics"

// snapshot gathers what the packages count. It waits for nobody.
func (n *node) snapshot() metrics.Snapshot {
	s, disk, logins := n.server.Stats(), n.store.Stats(), n.users.Attempts()
	contents := s.Contents // of all queues, those that are gone included where it counts totals
	return metrics.Snapshot{
		Connections:   uint64(s.Connections),
		Channels:      uint64(s.Channels),
		Consumers:     uint64(contents.Consumers),
		Queues:        uint64(s.Queues),
		Blocked:       uint64(s.Blocked),
		Ready:         uint64(contents.Ready),
		Unacked:       uint64(contents.Unacked),
		ReadyBytes:    uint64(contents.ReadyBytes),
		MemoryAlarm:   s.MemoryAlarm,
		DiskAlarm:     n.store.Alarm(),
		MemoryLimit:   n.memoryLimit,
		StoreBytes:    uint64(disk.LogBytes + disk.RootBytes),
		UnsyncedBytes: disk.Unsynced,

		ConnectionsOpened:  s.ConnectionsOpened,
		ConnectionsClosed:  s.ConnectionsClosed,
		ChannelsOpened:     s.ChannelsOpened,
		ChannelsClosed:     s.ChannelsClosed,
		LoginsTried:        logins.Total,
		LoginsFailed:       logins.Failed,
		Published:          s.Published,
		Routed:             contents.Published,
		Confirmed:          s.Confirmed,
		Returned:           s.Returned,
		DeliveredManualAck: contents.Delivered,
		DeliveredAutoAck:   contents.DeliveredAuto,
		GotManualAck:       contents.Got,
		GotAutoAck:         contents.GotAuto,
		GotEmpty:           contents.GetEmpty,
		Redelivered:        contents.Redelivered,
		Acked:              contents.Acked,
		Requeued:           contents.Requeued,
		Rejected:           contents.Rejected,
		Purged:             contents.Purged,
		Unroutable:         s.Unroutable,
		Dropped:            map[string]uint64{"reply_lost": s.ReplyLost, "queue_gone": s.QueueGone, "rejected": contents.Rejected},
		Syncs:              disk.Syncs,
		WrittenBytes:       disk.Bytes,
		Reads:              disk.Reads,
		ReadBytes:          disk.ReadBytes,
		DamagedRecords:     disk.DamagedRecords,
	}
}
