// Package sharp measures how small a change of an engine's start is found, and
// how soon: by a gate of ours, and beside it in the same minutes by hyperfine with
// benchstat's test.
//
// A change is real and known: a small program before the engine's, which computes
// for as long as was compiled into it and then becomes the engine. Both sides have
// it, so that they differ by the time alone; a change of nothing is the same file
// twice.
//
// All changes are environments of one long run, in the same blocks. What is cut out
// of it is as much as a gate on two environments would have had in its time, and is
// put to the gate's own code.
package sharp
