// Package adapter has what the adapters of all engines share, whether they talk
// to an API or run commands: an engine's words and what they stand for, the
// proof of an environment, processes beside and inside containers, and doing
// things as an ordinary user.
//
// It is opinionated: anybody can give a process any name and a file any content,
// so that what is looked at decides and never what it is called.
package adapter
