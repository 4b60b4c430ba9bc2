// Package run executes a plan: it opens the environments, carries out the
// trials block by block in random order, writes each one down before the next
// starts, and takes everything away again. How a trial is carried out is the
// protocol of its workload (protocol.go): each has a file of its own, and stands
// on the site, which is what all of them have in common.
//
// It is opinionated: a trial that fails is a result and the run goes on; a
// number without proof that the payload ran is no number; whatever is made is
// written into a ledger first, so that a kill at any moment leaves nothing
// that the next run or `plimsoll clean` would not find.
//
// Why it is so: docs/decisions/density-and-load.md,
// docs/decisions/mpi.md,
// docs/decisions/ownership.md,
// docs/decisions/running.md.
package run
