// Package selftest proves the stopwatch on the user's own machine: that a
// delay which was injected is found, in the right phase, and nothing else
// moves; that an environment entered twice under two names is not told apart;
// and how small a difference this machine can show at all.
//
// It is opinionated: it goes through the same runner, records and estimators
// as every measurement, since a stopwatch of its own would prove nothing.
package selftest
