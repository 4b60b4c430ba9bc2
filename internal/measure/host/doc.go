// Package host knows this machine: what it is (Facts), what on it would
// disturb a measurement (Doctor), what did disturb one (Sampler), when it is
// calm (Quiet), what a run left on it (Census), and who measures on it now
// (Lock).
//
// It is opinionated: everything is read from the kernel's own files below a
// root that is handed in, so that a stored machine can stand in for a live
// one; what the kernel does not say is left out and never guessed; only what
// carries a run's name is blamed on the run; and a machine is refused only
// where its numbers could not be trusted at all.
package host
