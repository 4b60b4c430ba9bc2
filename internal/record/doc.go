// Package record is the door between measuring and understanding: the format
// of a run's directory, its writer and its reader.
//
// It is opinionated about three things. A run's directory is the whole truth
// about the run: nothing that a report says may come from elsewhere. Events
// are stored and metrics are derived when read, so that a metric can be
// defined anew without measuring anew. A failed trial is a result and is kept
// like any other.
//
// Both wings import record; record imports neither.
//
// Why it is so: docs/decisions/records.md.
package record
