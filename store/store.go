// Package store keeps what has to outlive the broker: definitions, and the messages of durable queues.
//
// What it owns. One append-only log is the durability point of every queue of the broker, and one bbolt file is the root of all
// that lasts (definitions, the index of the log, what was settled). Queues are numbers and messages are bytes here: the package
// knows no AMQP. A queue of several lanes takes one number for each lane.
//
// Who may call what. All methods of a Store may be called from any goroutine at any time between opening and Close. A Batch
// belongs to one goroutine, as a rule a connection's reader.
//
// What blocks. Commit, Load, Read, ReadInto, Fetch, Scan, Spill and Close wait for the disk. Append, Settle, Annotate, Discard, DropQueue and all that only
// looks (Durable, Pressure, Stats ...) never do: they take a short lock at most. Append calls its callback under that lock, so
// the order of records in the log is the order in which the callbacks ran; the callback must not call the store.
//
// How long slices live. Bytes given to Publish are copied, unless there are more than 64 KiB of them: those are kept until they
// are written, so they must never change. Bytes that Read returns are the caller's. Bytes that Load passes are valid during the
// call only.
//
// What survives a crash. After Commit returns: the changes, all or none of one call. Once Durable reaches the number that Append
// returned: every record of that batch. A batch that is Atomic survives as a whole or not at all, any other record by record.
// What Settle and Annotate were told is written within 20 ms and synced within a second; a crash before that brings the messages
// back, and their older notes. Spilled messages never survive.
package store

import (
	"context"
	"errors"
)

// LSN numbers the batches of a log in the order of Append, from 1. It compares with Durable and means nothing after a restart.
// Zero is for what waits for no log: it is always durable.
type LSN uint64

// Change is one step of Commit: it puts Value under Key in Bucket, or deletes the key when Value is nil. A key has at least a byte.
type Change struct {
	Bucket, Key string
	Value       []byte
}

// Range is an inclusive range of sequence numbers.
type Range struct{ First, Last uint64 }

// Note is a few bytes about a live message, MaxNote at most.
type Note struct {
	Seq  uint64
	Data []byte
}

// Pair is a message's place in one queue. A sequence of zero says that the queue did not take the message.
type Pair struct{ Queue, Seq uint64 }

// Message is one message of one queue, read back from the store or handed to Spill.
type Message struct {
	Seq       uint64
	Tag       uint32 // what Publish was given
	Body      []byte
	Transient bool // it was spilled, and is to be settled with Discard
}

// Info is what the index knows of a message without reading it.
type Info struct {
	Seq       uint64
	Tag       uint32
	Size      int // bytes of its body
	Transient bool
	Place     Place
}

// Place is where a message stands: Fetch reads it there without a look into the index. It is good as long as the message is live.
type Place struct{ location }

// Seq is the message's sequence.
func (p Place) Seq() uint64 { return p.seq }

// Size is how many bytes its body has.
func (p Place) Size() int { return p.body }

// Window is a piece of a queue, read back.
type Window struct {
	Messages []Message // in order of their sequence
	Lost     []Range   // sequences that are live but damaged on disk
	Parts    []int     // how many of the messages stand in each of the buffers that ReadInto asked for, in turn
	Next     uint64    // the first sequence that was not looked at: go on there
}

// QueueState is what recovery knows of a queue: enough to run it, without having read a message.
type QueueState struct {
	ID        uint64
	Next      uint64  // the next sequence to give; never one that was given before
	Delivered uint64  // messages below this may have been delivered before the broker stopped; zero after a clean stop
	Live      []Range // what is not settled
	Messages  uint64  // how many that are
	Bytes     uint64  // and the size of their bodies
	Notes     []Note  // the last one of each live message that has any, in order
}

// Stats are plain numbers of one moment, for metrics. Counts run from the opening of the store.
type Stats struct {
	// Work of the log.
	Batches, Syncs uint64 // groups written, and syncs
	Records, Bytes uint64 // appended records, and their bytes
	Unsynced       uint64 // bytes appended and not yet durable
	LastSyncNanos  int64  // how long the last sync took
	SyncNanos      int64  // and all of them
	WriteNanos     int64  // how long the groups took to write

	// Work beside it.
	Commits          uint64 // transactions of the root file
	Checkpoints      uint64 // that succeeded
	CheckpointFailed uint64 // that did not
	Relocated        uint64 // bytes of survivors moved out of sparse segments
	Reads, ReadBytes uint64 // paging reads, and the bytes read for them
	ReadNanos        int64  // how long they took

	// What is held.
	Segments, Free int   // segment files in use, and ready for use
	SpillSegments  int   // files of spilled messages
	Chunks         int   // pieces of the index in memory
	IndexBytes     int64 // index entries in memory
	LogBytes       int64 // disk held by segments, spill and free files
	RootBytes      int64 // size of the root file

	// What went wrong.
	DamagedRecords    uint64 // found at recovery and by reads
	PreparationFailed uint64 // attempts to get a new segment
}

// Store is the durable side of the broker, or of one of its parts: a replicated log satisfies it as well as a local one. The
// package comment says who may call what, and what blocks.
type Store interface {
	// Commit makes the changes durable, all or none. Concurrent calls share one transaction.
	Commit(changes ...Change) error
	// Load calls each for every key of a bucket, in the order of the keys, and stops at the first error.
	Load(bucket string, each func(key string, value []byte) error) error
	// NextQueueID returns a number that no queue had before, ever. It lasts with the next Commit.
	NextQueueID() uint64

	// Append gives the batch its place in the log and empties it. It calls number once under the append lock; number pushes the
	// messages to their queues and sets the sequences in b.Pairs(). Of each queue they rise from call to call; holes are for
	// messages that the store does not see. The result is durable once Durable reaches it. An empty batch yields the number of
	// the last one that was not empty: a barrier.
	Append(b *Batch, number func()) LSN
	// Lead commits what is pending on the caller's goroutine, unless that is being done already: for a small batch whose publisher
	// sends nothing else before it is confirmed that is quicker than to wake another. It returns when this one sync is over, and
	// never waits for space on a full disk.
	Lead()
	// Settle records that messages are done with: acked, rejected, expired, purged. Ranges may cover sequences that the store
	// never saw, but only such as were given: a queue goes on above them after a restart. Spilled messages stay.
	Settle(queue uint64, ranges []Range)
	// Annotate keeps notes about live messages, to be found again after a restart: of a message the last one counts. They go with
	// the message, whoever settles it. Like Settle it is written lazily, and what is annotated may be settled or unknown already.
	Annotate(queue uint64, notes []Note)
	// DropQueue forgets a queue and all its messages, spilled ones too.
	DropQueue(queue uint64)
	// Durable is the last batch that is safe on disk, and with it all before.
	Durable() LSN
	// OnDurable registers a function that runs after each advance of Durable, in the goroutine that syncs: it must be quick.
	OnDurable(kick func())

	// Read returns live messages of the ranges (ascending) in order, up to about limit bytes of bodies and at least one message
	// if there is any. It sees all that was appended before the call; what was settled within the last moments may still be there.
	Read(queue uint64, ranges []Range, limit int) (Window, error)
	// ReadInto is Read with memory of the caller's: it fills w, whose slices it uses again, and the bodies stand in what buffer
	// returns, size bytes for so many messages. It calls buffer on the caller's goroutine.
	ReadInto(w *Window, queue uint64, ranges []Range, limit int, buffer func(size, messages int) []byte) error
	// Fetch is ReadInto for messages whose places Scan has told, in the order of the places. Of those that were settled since, some may still be
	// there; the others are left out.
	Fetch(w *Window, queue uint64, places []Place, buffer func(size, messages int) []byte) error
	// Scan tells what the index knows of the live messages in the ranges, in order, until each returns false.
	Scan(queue uint64, ranges []Range, each func(Info) bool) error
	// Spill puts transient messages aside on disk, without syncing: Read and Scan find them, a restart does not. The sequences
	// of a queue's spilled messages rise from call to call.
	Spill(queue uint64, messages []Message) error
	// Discard settles spilled messages; those of the log stay.
	Discard(queue uint64, ranges []Range)

	// Queues tells what recovery found: every queue number that the log or its index named when the store was opened. Notes are
	// told once: the store does not keep them.
	Queues(each func(QueueState))

	// Pressure says that over 8 MiB wait for the disk: publishers should pause. It ends by itself, with a kick of OnDurable.
	Pressure() bool
	// Alarm says that the disk is nearly full: publishers should stop until it ends. What was appended is still taken.
	Alarm() bool
	// OnAlarm registers a function that is told of each change of Alarm, by a goroutine of the store: it must be quick.
	OnAlarm(change func(on bool))
	// Failed is closed when the disk refused to sync: nothing becomes durable any more, and Err says why.
	Failed() <-chan struct{}
	// Err is why the store failed, or nil.
	Err() error
	// Stats returns the store's numbers.
	Stats() Stats
	// Close syncs what was appended, writes a checkpoint and ends the store. When ctx ends first, the next start has to replay.
	Close(ctx context.Context) error
}

// Errors that a caller may tell apart with errors.Is.
var (
	ErrClosed  = errors.New("store is closed")
	ErrCorrupt = errors.New("store is damaged")
	ErrFull    = errors.New("disk is full")
	ErrLocked  = errors.New("folder is in use by another process")
	ErrVersion = errors.New("store has an unknown format version")
)
