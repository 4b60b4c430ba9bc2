package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// The program for small boards runs a study under QEMU's user emulation, and this one
// reads its record to the same words. The engine is the simulated one: what an engine
// starts is for the board's processor, which this kernel does not execute.
func TestSiteBoard(t *testing.T) {
	if !*atSite {
		t.Skip("compiles everything for another processor: make test-site runs it")
	}
	qemu, err := exec.LookPath("qemu-aarch64-static")
	if err != nil {
		t.Skip("qemu-aarch64-static is not installed: apt-get install qemu-user-static")
	}
	work := t.TempDir()
	program := filepath.Join(work, "plimsoll-arm64")
	build := exec.Command("go", "build", "-trimpath", "-o", program, "plimsoll/cmd/plimsoll")
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const study = "plimsoll: 1\nname: board\nprotocol: {blocks: 6, warmup: 1, pause: 1ms}\nworkloads: [hello]\nenvironments: [{engine: fake, runtime: [fast, slow]}]\n"
	require.NoError(t, os.WriteFile(filepath.Join(work, "board.yaml"), []byte(study), 0o600))
	board := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(qemu, append([]string{program}, args...)...)
		cmd.Dir = work
		cmd.Env = append(os.Environ(), "PLIMSOLL_STATE="+work+"/state", "XDG_RUNTIME_DIR="+work, "CI=1")
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v: %s%s", args, err, out, said.String())
		}
		return string(out)
	}
	if out := board("run", "board.yaml", "--wait", "-o", "out"); !strings.Contains(out, "fake/fast is fastest by start-up") {
		t.Errorf("the board says:\n%s", out)
	}
	out := filepath.Join(work, "out")
	_, sum, err := recorded(out)
	if err != nil || sum.Trials != 14 || sum.Failed != 0 {
		t.Errorf("%+v: %v", sum, err)
	}
	rec, err := record.Open(out)
	require.NoError(t, err)
	if got := rec.Run().Status; got != "done" {
		t.Errorf("its run is %s", got)
	}
	status, here, errs := drive("report", out, "--format", "markdown")
	if there := board("report", out, "--format", "markdown"); status != 0 || there != here {
		t.Errorf("status %d: the board's report is another one than ours:\n%s\n%s\n%s", status, there, here, errs)
	}
}
