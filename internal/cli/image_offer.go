//go:build linux

package cli

import (
	"context"
	"fmt"
	"strings"

	"plimsoll/internal/measure/run"
)

// offerImages says which images the last plan lacks and what that costs, and builds
// those that can be built where the user says so: by a key, or by yes beforehand. Then
// the plan is to be made again.
func (s *setting) offerImages(ctx context.Context, o *run.Options, yes bool) (built bool, err error) {
	var names, fixes []string
	for _, l := range s.lacking {
		o.Progress.Remark(l.remark().Text)
		switch {
		case l.build != "":
			names = append(names, l.build)
		case l.fix != "":
			fixes = append(fixes, l.fix)
		}
	}
	if len(fixes) > 0 {
		o.Progress.Remark("what would help: " + strings.Join(fixes, ", "))
	}
	if len(names) == 0 {
		return false, nil
	}
	commands := "plimsoll image build " + strings.Join(names, " && plimsoll image build ")
	if !yes {
		terminal, ok := askingHere(s.world)
		if !ok {
			o.Progress.Remark("build first to have all of it: " + commands)
			return false, nil
		}
		fmt.Fprintf(s.world.Stderr, "  Build now? y: build, n: go on without, q: quit ")
		key, err := terminal.key(ctx, "ynq")
		fmt.Fprintf(s.world.Stderr, "%s\n", string(key))
		switch {
		case err != nil:
			return false, fail(Interrupted, "interrupted before the first trial")
		case key == 'q':
			return false, withHint(fail(Interrupted, "nothing was built and nothing measured"), "%s", commands)
		case key == 'n':
			return false, nil
		}
	}
	// Whoever measures on this machine now is not to be disturbed by a build.
	unlock, err := o.Turn(ctx)
	if err != nil {
		return false, runError(err, o.Dir, false)
	}
	defer unlock()
	for _, n := range names {
		if _, err := s.store().Build(ctx, n, s.world.Stderr); err != nil {
			return false, withHint(fail(Failed, "%w", err), "without --yes, and with n where it asks, what needs this image is left out")
		}
	}
	return true, nil
}
