// Package collect watches the machine while a trial runs: what the payload,
// what the engine's monitor beside it and what its daemon use, and the host.
//
// It is opinionated: the parts are told apart, and what can't be told apart is
// missing, never 0; "absent" is another thing than "failed", and one reader
// that fails stops no other; what each reading costs is measured and recorded,
// and a dear one is done more rarely; nothing that is held open keeps a
// container, a network namespace or a control group alive.
//
// Why it is so: docs/decisions/sampling.md.
package collect
