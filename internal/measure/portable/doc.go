// Package portable is the measuring half that needs no Linux of its own: engines
// that are reached by their API alone, or by their command, from any system. The
// daemon may run on another machine, in a virtual one, or here; nothing that only its
// kernel knows is asked for.
//
// It is opinionated. The client's clock is the only one: what the payload stamps
// inside is of a foreign clock, always, also where the daemon happens to run on this
// kernel. The round trip to the daemon is measured before each trial and stands beside
// its times; it is subtracted from none. What needs the engine's kernel is not
// estimated but left out, with the reason (LeftOut). Programs are started by Go's own
// means, so that a command's time holds what Go adds, and a fact of the environment
// says so.
//
// It runs on Linux as it runs elsewhere: plimsoll run --portable.
//
// Why it is so: docs/decisions/portable.md.
package portable
