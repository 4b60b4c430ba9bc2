package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/hosts"
)

// What a user asks of runs from several hosts.
func TestHosts(t *testing.T) {
	folder, dirs := recordtest.WriteAll(t, recordtest.Fleet(6, 10))
	few, fewDirs := recordtest.WriteAll(t, recordtest.Fleet(3, 6))
	other := recordtest.Fleet(1, 6)[0]
	other.Name, other.ID, other.Host.Name, other.Host.Boot = "another", "other", "elsewhere", "z"
	_, others := recordtest.WriteAll(t, []recordtest.Spec{other})
	for _, c := range []struct {
		args   []string
		status int
		want   string // several, with | between them; ! is not to be there
	}{
		{[]string{"report", folder}, 0, "fleet on 6 hosts|crun is slower than native on all 6 hosts|all machines|node3|├"},
		{[]string{"report", folder, "--ascii"}, 0, "fleet on 6 hosts"},
		{append([]string{"report"}, dirs...), 0, "fleet on 6 hosts"},
		{[]string{"report", few}, 0, "fleet on 3 hosts|it takes 5|node2|!all machines"},
		{[]string{"report", folder, "--format", "markdown"}, 0, "# fleet on 6 hosts|I²"},
		{[]string{"report", folder, "--format", "csv", "--metric", "startup"}, 0, "workload,metric,unit|hello,startup,ns,crun,native,node1|everywhere"},
		{[]string{"report", folder, "--against", "crun", "--metric", "startup"}, 0, "runc / crun"},
		{[]string{"report", folder, "--against", "crum"}, 2, `did you mean "crun"?`},
		{[]string{"report", dirs[0], "--against", "crun"}, 2, "--against is for runs of several hosts|plimsoll compare "},
		{[]string{"report", folder, "--metric", "nothing"}, 2, `metric "nothing"`},
		{[]string{"report", fewDirs[0], fewDirs[1], "--each"}, 0, "!on 2 hosts|crun"},
		{[]string{"report", dirs[0], others[0]}, 1, "is of fleet and|only runs of one study|--each"},
		{[]string{"report", folder, "--format", "svg"}, 0, "<svg|on 6 hosts|all machines: ×|runc / native: hosts differ by"},
		{[]string{"report", folder, "--format", "svg", "--against", "crun"}, 0, "<svg|runc / crun|!crun / crun"},
		{[]string{"report", folder, "--format", "svg", "--chart", "phases"}, 2, "--chart is for a picture of one run|--against"},
		{[]string{"report", folder, "--dark"}, 2, "--dark is for pictures"},
		{[]string{"report", folder, "--format", "html"}, 0, "<!doctype html>|crun is slower than native on all 6 hosts|Machines in general|What depends on the host: runtime ("},
		{[]string{"report", few, "--format", "html"}, 0, "it takes 5|!Machines in general"},
		{[]string{"report", "--published", "khan2026", "--format", "svg"}, 0, "azure-standard-hdd|has no interval"},
		{[]string{"report", folder, "--format", "latex"}, 2, "several hosts are not written as latex"},
		{[]string{"report", folder, "--engine", "oci", "--env", "crun"}, 0, "crun / native|!runc / native"},
		{[]string{"report", "--published", "khan2026"}, 0, "khan2026, as published on 3 hosts|it takes 5|azure-standard-hdd|no blocks|!all machines|!["},
		{[]string{"report", "--published", "khan2026", "--format", "csv"}, 0, "create-500-files,create-500-files,ms,alpine volume,alpine overlayfs,azure-premium-ssd"},
		{[]string{"report", folder, "--published", "khan2026"}, 2, "are given too|plimsoll report --published khan2026"},
	} {
		says(t, c.args, c.status, c.want)
	}
	status, out, errs := drive("report", folder, "--format", "json")
	var h hosts.Hosts
	if err := json.Unmarshal([]byte(out), &h); status != 0 || err != nil || len(h.Hosts) != 6 || !h.Pools || h.Tables[0].Rows[0].Pooled == nil {
		t.Errorf("%d %v %s", status, err, errs)
	}
	// Two runs of one host are printed one after the other, as before.
	again := recordtest.Fleet(1, 6)[0]
	again.ID, again.Seed = "again", 5
	_, same := recordtest.WriteAll(t, []recordtest.Spec{recordtest.Fleet(1, 6)[0], again})
	if status, out, _ := drive("report", same[0], same[1]); status != 0 || strings.Contains(out, "hosts") {
		t.Errorf("%s", out)
	}
	if status, _, errs := drive("report", filepath.Dir(same[0])); status != 1 || !strings.Contains(errs, "holds 2 runs") {
		t.Errorf("%d %s", status, errs)
	}
}

// says tries a command: its status, and what it prints, parted by |, or must not after !.
func says(t *testing.T, args []string, status int, want string) {
	t.Helper()
	got, out, errs := drive(args...)
	if got != status {
		t.Errorf("%v: status %d, want %d: %s", args, got, status, errs)
	}
	for _, w := range strings.Split(want, "|") {
		if no, not := strings.CutPrefix(w, "!"); not == strings.Contains(out+errs, no) {
			t.Errorf("%v, %q:\n%s%s", args, w, out, errs)
		}
	}
}
