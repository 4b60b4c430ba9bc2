package cli

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
)

// poor is a condition: a shell command in which "$@" is Plimsoll.
type poor struct {
	around string
	out    string // the record
	status []int  // of a run
	says   string // what a run prints
}

// In poor conditions every command comes to a result or to an error that says what is
// wrong, and the machine is as it was.
func TestPoorConditions(t *testing.T) {
	if testing.Short() {
		t.Skip("measures in each condition: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("a full file system is mounted, and another user is taken on: both need root")
	}
	p := &subject{t: t, dir: t.TempDir()}
	require.Reachable(t, p.dir) // for nobody
	mount := func(name string, flags uintptr, options string) string {
		dir := filepath.Join(p.dir, name)
		require.NoError(t, os.Mkdir(dir, 0o755))
		require.NoError(t, unix.Mount("tmpfs", dir, "tmpfs", flags, options))
		t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
		return dir
	}
	readOnly := mount("read-only", unix.MS_RDONLY, "")
	private := filepath.Join(p.dir, "nobody")
	require.NoError(t, os.Mkdir(private, 0o700))
	require.NoError(t, os.Chown(private, 65534, 65534))
	const study = "plimsoll: 1\nname: poor\nprotocol: {blocks: 2, warmup: 0}\nworkloads: [hello]\nenvironments: [host, {engine: oci, runtime: crun, network: none}]\n"
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "poor.yaml"), []byte(study), 0o644)) //nolint:gosec // nobody reads it
	// TestMain goes by the name, and a shell can't choose one.
	require.NoError(t, os.Symlink(p.command().Path, filepath.Join(p.dir, "plimsoll")))
	const asNobody = "setpriv --reuid 65534 --regid 65534 --clear-groups"
	for name, c := range map[string]poor{
		"no room for a page":  {`exec "$@"`, mount("full", 0, "size=40k") + "/out", []int{0, 6}, "no space left"},
		"no room for trials":  {`exec "$@"`, mount("fuller", 0, "size=16k") + "/out", []int{1}, "plimsoll run --resume continues"},
		"full disk for state": {`PLIMSOLL_STATE=` + mount("full-state", 0, "size=64k") + `/state exec "$@"`, "stateless", []int{1, 5}, "no space left"},
		"read-only output":    {`exec "$@"`, readOnly + "/out", []int{1}, "read-only file system"},
		"read-only state":     {`PLIMSOLL_STATE=` + readOnly + `/state exec "$@"`, "ro-state", []int{1}, "read-only file system"},
		"64 open files":       {`ulimit -n 64; exec "$@"`, "files", []int{0, 6}, ""},
		"20 open files":       {`ulimit -n 20; exec "$@"`, "few", []int{1}, "too many open files"},
		"closed output":       {`exec "$@" >&-`, "closed", []int{0}, ""},
		"nothing open":        {`exec "$@" <&- >&- 2>&-`, "nothing", []int{0}, ""},
		"full output":         {fullOutput, "full-output", []int{1}, "no space left"},
		"a user namespace":    {`PLIMSOLL_STATE=` + p.dir + `/userns exec unshare -Ur "$@"`, "userns", []int{0, 1, 5}, ""},
		"nobody": {`HOME=` + private + ` XDG_RUNTIME_DIR=` + private + ` PLIMSOLL_STATE=` + private + `/state exec ` + asNobody + ` "$@"`,
			private + "/out", []int{0}, ""},
		"nobody, without a home":  {`HOME=/nonexistent PLIMSOLL_STATE= XDG_RUNTIME_DIR= exec ` + asNobody + ` "$@"`, private + "/homeless", []int{1}, "permission denied"},
		"a container":             p.inPodman("plain", ""),
		"a container with rights": p.inPodman("privileged", "--privileged"),
	} {
		t.Run(name, func(t *testing.T) { p.endure(t, c) })
	}
}

// fullOutput is the one condition in which no command can succeed.
const fullOutput = `exec "$@" >/dev/full`

// inPodman is a container that has nothing but Plimsoll and the study.
func (p *subject) inPodman(name, option string) poor {
	p.t.Helper()
	root := filepath.Join(p.dir, name)
	for _, dir := range []string{"dev", "etc", "proc", "run", "sys", "tmp", "var"} {
		require.NoError(p.t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	for to, from := range map[string]string{"plimsoll": "/proc/self/exe", "poor.yaml": filepath.Join(p.dir, "poor.yaml")} {
		require.NoError(p.t, copyFile(filepath.Join(root, to), from))
	}
	// Not every machine lets Podman raise its limits.
	return poor{`shift; exec podman run --rm --network none --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 --env PLIMSOLL_STATE=/state ` + option +
		` --rootfs ` + root + ` /plimsoll "$@"`, "/out", []int{0, 5}, ""}
}

// endure drives the commands in a condition.
func (p *subject) endure(t *testing.T, c poor) {
	t.Helper()
	if strings.Contains(c.around, "podman") {
		if _, err := exec.LookPath("podman"); err != nil {
			t.Skip("there is no container without podman: ", err)
		}
		if dynamic(t) {
			t.Skip("the test's program needs the C library, which a container of one program lacks: build it with CGO_ENABLED=0")
		}
	}
	before := machineText(t)
	for _, command := range []string{"plan poor.yaml", "run --wait --force --progress none poor.yaml -o " + c.out, "report " + c.out, "doctor", "engines", "clean --wait"} {
		args := strings.Fields(command)
		cmd := exec.Command("sh", append([]string{"-c", c.around, "sh", filepath.Join(p.dir, "plimsoll")}, args...)...)
		cmd.Env, cmd.Dir = p.env(), p.dir
		var out, said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &said
		_ = cmd.Run() // the status says it
		status, want, says := cmd.ProcessState.ExitCode(), []int{0, 1, 5}, ""
		switch {
		case c.around == fullOutput:
			want, says = []int{1}, "no space left"
		case args[0] == "run":
			want, says = c.status, c.says
		}
		text := out.String() + said.String()
		if !slices.Contains(want, status) || !strings.Contains(text, says) || strings.Contains(text, "goroutine ") {
			t.Errorf("%s: status %d, want one of %v, the words %q and no trace:\n%s", command, status, want, says, text)
		}
		if status != 0 && !strings.HasPrefix(said.String(), statusPrefix) && !strings.Contains(said.String(), "\n"+statusPrefix) {
			t.Errorf("%s: status %d, and no line says why:\n%s", command, status, text)
		}
	}
	if code, said := p.run("clean", "--wait"); code != 0 || !strings.Contains(said, "Nothing was left behind") {
		t.Errorf("clean afterwards: status %d\n%s", code, said)
	}
	if changed := stillChanged(t, before); len(changed) > 0 {
		t.Errorf("the machine is not as it was:\n%s", strings.Join(changed, "\n"))
	}
}

// dynamic returns whether the test's program needs a loader.
func dynamic(t *testing.T) bool {
	t.Helper()
	f, err := elf.Open("/proc/self/exe")
	require.NoError(t, err)
	defer f.Close()
	return slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
}
