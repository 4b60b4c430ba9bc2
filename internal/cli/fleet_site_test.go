package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// knowsPackages gives a host the list of the packages that are installed: its /var/lib is
// its own, but for that one can't be sure that nothing would be installed anew. A socket is
// left, as in a container that was restarted.
const knowsPackages = `umount /var/lib && mkdir /run/dpkg && mount --bind /var/lib/dpkg /run/dpkg && mount -t tmpfs -o mode=755 far /var/lib &&
mkdir /var/lib/dpkg && mount --bind -o ro /run/dpkg /var/lib/dpkg &&
mkdir /run/containerd && touch /run/containerd/containerd.sock
`

// Three hosts of their own, with limits of their own, measured by one command and by the
// collection. One is slower than the others for everything, which is no matter of
// environments; on one host one environment is slower, another one each time, and all that
// reads several hosts finds that, and nothing else. One host dies in the middle: that is a
// line, its trials are there, the others are measured to the end, and once it is up again,
// its rest is.
func TestSiteFleet(t *testing.T) {
	if !*atSite {
		t.Skip("takes two minutes: make test-site runs it, and make test the short TestFleet")
	}
	packages := !slices.ContainsFunc([]string{"containerd", "python3-apt"}, func(p string) bool { // without the latter Ansible installs it
		return !exists("/var/lib/dpkg/info/" + p + ".list")
	})
	extra := ""
	if packages {
		extra = knowsPackages
	}
	f := newFleet(t, 10, extra)
	byRuntime, byKeyring := putIn{"three", "oci/runc", "runtime"}, putIn{"one", "oci/crun/without-keyring", "without"}
	bySSH := t.Run("by ssh", func(t *testing.T) { f.as(t).bySSH(byRuntime) })
	if !t.Run("by Ansible", func(t *testing.T) { f.as(t).byAnsible(byKeyring, packages) }) || !bySSH || !exists(filepath.Join(f.work, "out/three")) {
		t.Log("what changed between the two is not asked: one of them is not there")
		return
	}
	f.changed("by-ssh", byRuntime, "out", byKeyring)
}

// byAnsible measures the fleet by the collection, with a daemon too that runs nowhere on
// hosts without an init, and is started there by the manual's hook, also on the host that
// died. Without the hook a host's line says what lacks.
func (f *fleetUser) byAnsible(put putIn, daemon bool) {
	t := f.t
	t.Helper()
	a := ansibleOn(f.farUser, fleetHosts...)
	f.pace(put)
	further, engines := "", "[]"
	if daemon {
		further, engines = "containerd", `["containerd"]`
	} else {
		t.Log("containerd or python3-apt is not installed by a package of Debian's: no daemon is started by a hook, since nothing is installed on this machine")
	}
	each := f.study("by-ansible.yaml", further)
	require.NoError(t, os.WriteFile(filepath.Join(f.work, "start.yml"), []byte(hookOfManual(t)), 0o600))
	args := []string{"-e", "plimsoll_study=by-ansible.yaml", "-e", fmt.Sprintf(`{"plimsoll_engines": %s, "plimsoll_report_arguments": ["%s"]}`, engines, strings.Join(fleetReport(), `", "`))}
	if daemon {
		a.measure(append(args, "--limit", "two")...).end(2, "two: .*containerd can't be measured here")
		if pids := a.processes("two", "containerd"); len(pids) > 0 {
			t.Fatalf("containerd runs there already: %d", pids)
		}
	}
	args = append(args, "-e", "plimsoll_service_hook=start.yml", "--limit", strings.Join(fleetHosts, ","))
	all, most := fmt.Sprintf("done; %d trials", each*f.blocks), each*f.most()
	r := a.measure(args...)
	f.at(r, ansibleRecord, moment{"two", most, func() { f.hold("two") }})
	r.until(most, "out", "two")
	_ = f.stop("two")
	r.end(2, "two: the connection is lost")
	a.report("^one: "+all, `^two: lost \(.*\); \d+ trials`, "^three: "+all)
	if n := f.trials("out", "two"); n < most || n >= each*f.blocks {
		t.Errorf("%d trials of the dead host", n)
	}
	f.wrote("out", put)
	f.found("out", put)

	f.revive("out", "two")
	// What works already is left as it is; the report is counted of the first host.
	a.measure(args...).end(Done, `^one +: ok=\d+ +changed=1 `, `^two +: ok=\d+ +changed=[1-9]`, `^three +: ok=\d+ +changed=0 `)
	a.report("^two: " + all)
	f.wrote("out", put)
	f.found("out", put)
	for _, h := range fleetHosts {
		rec, err := record.Open(filepath.Join(f.work, "out", h))
		require.NoError(t, err)
		has := slices.ContainsFunc(rec.Run().Environments, func(e record.Environment) bool { return e.Engine == "containerd" })
		if pids := f.processes(h, "containerd"); has != daemon || daemon && len(pids) != 1 {
			t.Errorf("on %s containerd was measured: %t; it runs there as %d", h, has, pids)
		}
	}
}

// hookOfManual are the tasks in the manual that start a daemon.
func hookOfManual(t *testing.T) string {
	t.Helper()
	for _, f := range fences(t, "../../docs/fleet.md") {
		if strings.Contains(f.text, "{{ plimsoll_service }}") {
			return f.text
		}
	}
	t.Fatal("docs/fleet.md has no tasks that start a service")
	return ""
}
