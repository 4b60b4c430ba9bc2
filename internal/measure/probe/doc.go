// Package probe is the tiny static C program on both sides of the border, and
// Go's side of it: inside a container it is the payload, outside it is the
// launcher and the floor.
//
// It is opinionated: nothing of Go's lies on the measured path. A job is a
// small program that is handed to the launcher as a whole; the launcher
// stamps, vforks, polls and stamps by itself, and reports when all is over.
// What a command did wrong is a result; an error is for the launcher itself.
//
// The C sources are in src, the frame format is in docs/probe.md.
//
// Why it is so: docs/decisions/baselines.md.
package probe
