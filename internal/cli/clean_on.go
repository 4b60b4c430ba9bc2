//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/fleet"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/understand/words"
)

// farCleaning is plimsoll clean on other hosts.
type farCleaning struct {
	on                string
	become, unfetched bool
}

func (f *farCleaning) add(c *cobra.Command) {
	c.Flags().StringVar(&f.on, "on", "", "clean up on other hosts, which ssh reaches: ssh://[USER@]HOST[:PORT],… or file:HOSTS.yaml[#GROUP,…]")
	c.Flags().BoolVar(&f.become, "become", false, "with --on: become root there by sudo, as the run did")
	c.Flags().BoolVar(&f.unfetched, "unfetched", false, "with --on: remove records that nobody has fetched, too")
	completes(c, "on", completeOn(nil))
}

// here says whether it is this machine that is to be cleaned up.
func (f *farCleaning) here(cmd *cobra.Command) (bool, error) {
	switch {
	case f.on == "" && (f.become || f.unfetched):
		return false, fail(Usage, "--become and --unfetched are for other hosts: give --on ssh://HOST with them")
	case f.on == "":
		return true, nil
	case !strings.HasPrefix(f.on, fleet.Scheme) && !strings.HasPrefix(f.on, filePrefix):
		return false, fail(Usage, "--on is %q: expected %s… or %s…", f.on, fleet.Scheme, filePrefix)
	}
	if flag := firstGiven(cmd, []string{"images", "wait", "format", "of-host"}); flag != "" {
		return false, fail(Usage, "--%s is for this machine alone", flag)
	}
	return false, nil
}

// clean cleans up on one host after the other; one that fails stops no other.
func (f *farCleaning) clean(ctx context.Context, w World) (err error) {
	all, err := targetsOf(f.on, f.become)
	if err != nil {
		return err
	}
	ssh, err := fleet.NewSSH(w.LookPath, host.RuntimeDir(w.Getenv))
	if err != nil {
		return fail(NothingHere, "%w", err)
	}
	defer func() { err = errors.Join(err, ssh.Close()) }()
	failed := 0
	for i, t := range all {
		h := ssh.Host(t, i, "")
		lines, err := h.Clean(ctx, f.unfetched)
		h.Close(ctx)
		for _, l := range lines {
			fmt.Fprintf(w.Stdout, "%s: %s\n", t.Name, l)
		}
		switch {
		case err != nil:
			failed++
			fmt.Fprintln(w.Stderr, statusPrefix+harmless.Text(err.Error()))
		case len(lines) == 0:
			fmt.Fprintf(w.Stdout, "%s: nothing was left behind.\n", t.Name)
		}
	}
	if failed > 0 {
		return fail(Failed, "%d of %s could not be cleaned up", failed, words.Plural(len(all), "host"))
	}
	return nil
}
