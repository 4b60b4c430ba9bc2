//go:build linux

package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/common/require"
)

// What stands behind -- is executed as it stands, from the record too, and the
// command that a record has plans the same again.
func TestOwnCommand(t *testing.T) {
	dir := t.TempDir()
	names := map[string]bool{}
	for _, argv := range [][]string{
		{"/plimsoll-probe", "echo", "a  b"},
		{"/plimsoll-probe", "echo", "a", "b"},
		{"/plimsoll-probe", "", "--seed", "3", "--", "-x"},
		{"/plimsoll-probe", "${HOME}", "$${x}", "$", "${", "a'b\"c\\d", "#: [é, 😀]", "\x1b[1m\x7f\u0085\n\ttab", "12", "null"},
		{"../plimsoll-probe"},
	} {
		args := append([]string{"--engine=docker", "--blocks=3", "--image", "payload", "--"}, argv...)
		_, o, _ := begun(t, dir, args)
		line := harmless.ShellLine(o.Run.Arguments)
		if got := o.Run.Arguments; !slices.Equal(got[len(got)-len(argv)-1:], append([]string{"--"}, argv...)) {
			t.Errorf("%q is repeated by %s", argv, line)
		}
		_, again, _ := begun(t, dir, o.Run.Arguments[1:])
		if planOf(t, o) != planOf(t, again) {
			t.Errorf("%q: plimsoll %s plans another run", argv, line)
		}
		own, err := ownWorkloads(o.Plan)
		if err != nil || len(own) != 1 {
			t.Fatalf("%q: %d workloads in the record, %v", argv, len(own), err)
		}
		names[own[0].Name] = true
		inst, err := own[0].Instance(nil)
		require.NoError(t, err)
		role, err := inst.Plan.Roles[0].Resolve(nil)
		require.NoError(t, err)
		if steps := role.Task.Steps; len(steps) != 1 || !slices.Equal(steps[0].Argv, argv) {
			t.Errorf("%q is carried out as %+v", argv, steps)
		}
		if own[0].Image != "payload" {
			t.Errorf("%q runs in the image %s", argv, own[0].Image)
		}
	}
	if len(names) != 5 {
		t.Errorf("five commands have the names %v: runs of two would be compared", names)
	}
}

// What can't be a command is refused before anything is planned.
func TestOwnCommandRefused(t *testing.T) {
	for want, argv := range map[string][]string{
		"not UTF-8":                     {"--image", "payload", "--", "/plimsoll-probe", "\xff"},
		"no program ./plimsoll-probe":   {"--image", "payload", "--", "./plimsoll-probe"},
		"no program -c":                 {"--image", "payload", "--", "-c"},
		"there is no busybox":           {"--", "ls"},
		"has no scale":                  {"--scale", "quick", "--image", "payload", "--", "/plimsoll-probe"},
		"--on slurm takes a study":      {"--on", "slurm", "--", "ls"},
		"there is no command behind --": {"--", ""},
	} {
		var out, errs bytes.Buffer
		w := offline(t.TempDir(), machine(), &out, &errs, append([]string{"run"}, argv...)...)
		if status := Main(w); status != int(Usage) && status != int(NothingHere) || !strings.Contains(errs.String(), want) {
			t.Errorf("%q: status %d, %s, and not: %s", argv, status, errs.String(), want)
		}
	}
}
