package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

// ansibleSecret is a value that no output of Ansible may have.
const ansibleSecret = "xyzzy-of-the-far-hosts" //nolint:gosec // it opens nothing

// ansible is somebody who measures hosts by the collection, installed as users do it.
type ansible struct {
	*farUser
	bin string
}

func ansibleOn(u *farUser, names ...string) *ansible {
	t := u.t
	t.Helper()
	bin := os.Getenv("PLIMSOLL_PYTHON")
	if _, err := os.Stat(filepath.Join(bin, "ansible-playbook")); err != nil {
		t.Skip("there is no ansible-playbook: make test-site installs it and names its folder in PLIMSOLL_PYTHON")
	}
	a := &ansible{farUser: u, bin: bin}
	collection, err := filepath.Abs("../../ansible")
	require.NoError(t, err)
	program, err := exec.LookPath("plimsoll")
	require.NoError(t, err)
	inventory := strings.Join(names, "\n") + `
gone.invalid

[all:vars]
ansible_python_interpreter=/usr/bin/python3
ansible_ssh_transfer_method=piped
ansible_ssh_retries=0
ansible_become=false
`
	// Hosts of this machine have its identifier, and are told apart by their names.
	vars := fmt.Sprintf(`plimsoll_program: %s
plimsoll_control: plimsoll
plimsoll_path: /root/plimsoll
plimsoll_study: fleet.yaml
plimsoll_output: out
plimsoll_engines: []
plimsoll_every: 0.5
plimsoll_lost_after: 3
plimsoll_environment: {TOKEN: %s}
plimsoll_report_arguments: [--host-by, name]
`, program, ansibleSecret)
	study := "plimsoll: 1\nname: far\nprotocol: {blocks: 30, warmup: 0, pause: 120ms}\nworkloads: [hello]\nenvironments: [host, floor]\n"
	for name, text := range map[string]string{"inventory": inventory, "vars.yaml": vars, "fleet.yaml": study, "measure.yml": playbook(t)} {
		require.NoError(t, os.WriteFile(filepath.Join(u.work, name), []byte(text), 0o600))
	}
	a.tool("ansible-galaxy", "collection", "install", "--offline", "-p", filepath.Join(u.work, "collections"), collection).end(Done)
	return a
}

// tool begins a program of Ansible, whose home is the test's.
func (a *ansible) tool(name string, args ...string) *farRun {
	a.t.Helper()
	cmd := exec.Command(filepath.Join(a.bin, name), args...)
	cmd.Stdout = io.Discard // what it prints there is kept too
	cmd.Env = []string{
		"ANSIBLE_HOME=" + a.work + "/home", "ANSIBLE_COLLECTIONS_PATH=" + a.work + "/collections", "ANSIBLE_SSH_CONTROL_PATH_DIR=" + a.work + "/cp",
		"ANSIBLE_SSH_PIPELINING=1", "ANSIBLE_NOCOLOR=1", "ANSIBLE_LOCALHOST_WARNING=0", "ANSIBLE_INVENTORY_UNPARSED_WARNING=0",
	}
	r := a.launch(cmd)
	r.limit = 8 * time.Minute // half a minute where nobody else works
	return r
}

// measure runs the playbook of the manual, with what is the test's own.
func (a *ansible) measure(args ...string) *farRun {
	a.t.Helper()
	return a.tool("ansible-playbook", append([]string{"-i", "inventory", "-e", "@vars.yaml", "measure.yml"}, args...)...)
}

// playbook is that of the manual.
func playbook(t *testing.T) string {
	t.Helper()
	for _, f := range fences(t, "../../docs/fleet.md") {
		if strings.Contains(f.text, "plimsoll.plimsoll.measure") {
			return f.text
		}
	}
	t.Fatal("docs/fleet.md has no playbook")
	return ""
}

// ansibleRecord is where the record of a run lies on a host.
const ansibleRecord = "/var/lib/plimsoll-ansible/*/record"

// A fleet by the collection: one host can't be reached, one dies in the middle, one
// loses its connection; that is a line each, and the others are measured to the end.
// Again, only what is missing is measured, and then nothing.
func TestSiteAnsible(t *testing.T) {
	a := ansibleOn(farSite(t, nil, fleetHosts...), fleetHosts...)
	a.measure("--check", "--limit", "one").end(Done, `one +: ok=\d+ +changed=[1-9]`)
	if _, err := os.Stat(filepath.Join(a.dir, "one/home/plimsoll")); err == nil {
		t.Error("--check has installed the program")
	}
	if _, err := os.Stat(filepath.Join(a.work, "out")); err == nil {
		t.Error("--check has made a directory")
	}

	r := a.measure()
	var one []int
	a.at(r, ansibleRecord, moment{"one", 3, func() { one = a.hold("one") }}, moment{"two", 3, func() { a.hold("two") }})
	r.until(3, "out", "two")
	r.until(3, "out", "one")
	a.cut("one")
	for _, p := range one {
		_ = syscall.Kill(p, syscall.SIGCONT) // one that has ended is as good
	}
	_ = a.stop("two")
	r.end(2, "two: the connection is lost")
	a.report(`^one: done; 90 trials`, `^two: lost \(.*\); \d+ trials`, `^three: done; 90 trials`, `^gone.invalid: unreachable \(.+\); 0 trials`, "^far on 3 hosts")
	n := a.trials("out", "two")
	if n < 3 || n >= 90 {
		t.Errorf("%d trials of the dead host", n)
	}
	a.forget("out", "two")

	require.NoError(t, a.start("two"))
	r = a.measure("--limit", "one,two,three", "-vvv")
	r.end(Done, `^two +: ok=\d+ +changed=[1-9]`, `^three +: ok=\d+ +changed=0 `)
	if strings.Contains(r.said.String(), ansibleSecret) {
		t.Error("a secret was printed")
	}
	a.report(`^two: done; 90 trials`)
	a.measure("--limit", "one,two,three").end(Done, `^one +: ok=\d+ +changed=0 `, `^two +: ok=\d+ +changed=0 `, `^three +: ok=\d+ +changed=0 `)
	for _, h := range []string{"one", "two", "three"} {
		if pids := a.processes(h, "plimsoll"); len(pids) > 0 {
			t.Errorf("%s has processes of ours: %d", h, pids)
		}
		if _, err := os.Stat(fmt.Sprintf("/proc/%d/root/var/lib/plimsoll-ansible", a.inner[h])); err == nil {
			t.Errorf("%s still has the folder of its run", h)
		}
	}
}

// report demands of the report these patterns, each in lines.
func (a *ansible) report(patterns ...string) {
	a.t.Helper()
	text, err := os.ReadFile(filepath.Join(a.work, "out/report.txt"))
	if err != nil {
		a.t.Fatal(err)
	}
	for _, p := range patterns {
		if !regexp.MustCompile("(?m)" + p).Match(text) {
			a.t.Errorf("the report does not say %q:\n%s", p, text)
		}
	}
}

// The linter of Ansible has nothing against the collection, by its strictest profile.
func TestSiteAnsibleLint(t *testing.T) {
	if !*atSite {
		t.Skip("takes ten seconds: make test-site runs it")
	}
	bin := os.Getenv("PLIMSOLL_PYTHON")
	lint := filepath.Join(bin, "ansible-lint")
	if _, err := os.Stat(lint); err != nil {
		t.Skip("there is no ansible-lint: make test-site installs it, with Python 3.11 or newer")
	}
	// It looks for a collection where collections lie.
	home := t.TempDir()
	dir := filepath.Join(home, "ansible_collections/plimsoll/plimsoll")
	require.NoError(t, os.CopyFS(dir, os.DirFS("../../ansible")))
	cmd := exec.Command(lint, "--offline", "--nocolor", "--strict")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+home, "ANSIBLE_HOME="+home, "ANSIBLE_COLLECTIONS_PATH="+home)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}
