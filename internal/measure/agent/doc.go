// Package agent lets a run ask other machines what their storage servers did
// during a trial: the agent answers over HTTPS on a storage node, the client asks.
//
// It is opinionated: the agent only reads, and only says how much counters grew
// between two moments that its client names. Whoever asks must know the token,
// and the client talks to no other certificate than the one it was told of. The
// agent's clock stays its own; how far it is from the client's is measured, with
// an uncertainty, and never set.
//
// Why it is so: docs/decisions/storage.md.
package agent
