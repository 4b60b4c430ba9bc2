package cli

import (
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
mkdir /run/containerd && touch /run/containerd/containerd.sock`

// A daemon that runs nowhere on a host without an init is started there by the manual's
// hook, and measured; without the hook the host's line says what lacks.
func TestSiteAnsibleServiceHook(t *testing.T) {
	for _, p := range []string{"containerd", "python3-apt"} { // without the latter Ansible installs it
		if _, err := os.Stat("/var/lib/dpkg/info/" + p + ".list"); err != nil {
			t.Skip(p + " is not installed by a package of Debian's: the test installs nothing on this machine")
		}
	}
	a := farAnsible(t, map[string]string{"one": knowsPackages}, "one")
	study := "plimsoll: 1\nname: far\nprotocol: {blocks: 2, warmup: 0, pause: 1ms}\ncommon: {network: none}\nworkloads: [hello]\nenvironments: [containerd]\n"
	for name, text := range map[string]string{"hooked.yaml": study, "start.yml": hookOfManual(t)} {
		require.NoError(t, os.WriteFile(filepath.Join(a.work, name), []byte(text), 0o600))
	}
	args := []string{"--limit", "one", "-e", `{"plimsoll_engines": ["containerd"], "plimsoll_study": "hooked.yaml", "plimsoll_report_arguments": []}`}
	a.measure(args...).end(2, "one: .*containerd can't be measured here")
	if pids := a.processes("one", "containerd"); len(pids) > 0 {
		t.Fatalf("containerd runs there already: %d", pids)
	}
	args = append(args, "-e", "plimsoll_service_hook=start.yml")
	a.measure(args...).end(Done, `one +: ok=\d+ +changed=[1-9]`)
	a.report(`^one: done; \d+ trials`)
	rec, err := record.Open(filepath.Join(a.work, "out/one"))
	require.NoError(t, err)
	if !slices.ContainsFunc(rec.Run().Environments, func(e record.Environment) bool { return e.Engine == "containerd" }) {
		t.Errorf("containerd was not measured: %+v", rec.Run().Environments)
	}
	if pids := a.processes("one", "containerd"); len(pids) != 1 {
		t.Errorf("containerd runs there %d times, want once", len(pids))
	}
	// What works already is left as it is.
	a.measure(args...).end(Done, `one +: ok=\d+ +changed=0 `)
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
