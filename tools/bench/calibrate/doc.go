// Package calibrate asks of the analysis what it asks of engines: does it do
// what it says? It simulates runs whose truth is known, hands them to package
// analyze as if they had been measured, and counts how often intervals hold
// the truth, how often equal environments are called different, and how often
// a difference is found.
//
// It is opinionated about one thing: what is counted is what a user is shown,
// not what a formula would give. The same seed gives the same counts on any
// number of processors.
//
// Why it is so: docs/decisions/statistics.md.
package calibrate
