// Package storage reads what the clients and servers of parallel and network
// file systems count: requests, bytes, opens and waiting times, as the
// difference of two readings around a trial.
//
// It is opinionated: a file system's own counters are taken by the interface
// that its makers document, nothing is switched on or reset for it, and a
// difference that can't be known (a counter that went back, a mount that went
// away) is left out with a sentence and never guessed. The counters have the
// same names for all file systems, so that one study can ask for them anywhere;
// docs/storage.md lists them.
//
// Why it is so: docs/decisions/storage.md.
package storage
