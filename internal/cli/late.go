//go:build linux

package cli

import (
	"fmt"
	"strings"
	"time"

	"plimsoll/internal/understand/words"
)

// lateHint is what helps where an engine did not answer in time.
const lateHint = "wait until the machine is less busy (plimsoll doctor says what keeps it busy); if the program still hangs, repair it or take it off the PATH"

// late turns what an engine could not say in time into a reason that does not
// read as if it were not there.
func (f found) late(limit time.Duration) found {
	f.Late = true
	if f.Usable {
		return f
	}
	said := ""
	if f.Reason != "" {
		said = " (" + f.Reason + ")"
	}
	f.Reason = fmt.Sprintf("it did not answer within %s, so it is not known whether it can be used%s", limit, said)
	f.Fix = lateHint
	return f
}

// tellLate says which engines of a study did not answer in time: a plan without
// them looks as if they were not here. Whoever named the engines wants no run
// without them, which is an error; a bundled study takes what there is, and
// warns.
func (s *setting) tellLate(all []found, named bool) error {
	var lines []string
	for _, f := range all {
		switch {
		case f.Late && f.Usable:
			lines = append(lines, fmt.Sprintf("%s did not answer everything within %s: what the plan lacks of it may be there all the same", f.Info.Title, s.limit))
		case f.Late:
			lines = append(lines, f.Info.Title+": "+words.Clean(f.Reason))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	if named {
		return withHint(fail(Failed, "%s", strings.Join(lines, "; ")), "%s", lateHint)
	}
	for _, l := range lines {
		fmt.Fprintln(s.world.Stderr, statusPrefix+"warning: "+l)
	}
	fmt.Fprintln(s.world.Stderr, statusPrefix+lateHint)
	return nil
}
