// Package features fills the feature table by trying: for each engine that is
// here and each feature an attempt is carried out with the engine's own
// commands, and every cell keeps what was run and what came back.
//
// It is opinionated. "No" stands only where the engine refused, or lacks the
// command by its own help; whatever this machine can't tell is "untried", with
// the reason. Every attempt has a time limit and takes away what it made; what
// it makes bears the run's id, so that `plimsoll clean` finds the rest. The
// user's daemons are never reconfigured.
//
// Why it is so: docs/decisions/features.md.
package features
