// Package require holds the one demand that nearly every test has: that a step on
// the way to what is tested succeeds. It is for tests alone.
//
// It is opinionated: there is no Equal, no True and no Contains. What a test finds
// is said by the test itself, in a sentence that tells what was expected.
package require

import "testing"

// NoError ends the test where err is not nil, and says err at the caller's line.
// As with Fatal, only the goroutine that runs the test may call it. A variable of a
// concrete type, as *engine.Error, is not for it: its nil would count as an error.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
