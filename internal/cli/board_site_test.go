package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
)

// The program for small boards plans, runs a study and reads under QEMU's user
// emulation, and what it plans and reads it says like this one, to the last digit. It
// measures the simulated engine alone: a real one starts what is for our processor.
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
	const study = "plimsoll: 1\nname: board\nprotocol: {blocks: 6, warmup: 1, seed: 5}\nworkloads: [hello]\nenvironments: [{engine: fake, runtime: [fast, slow]}]\n"
	require.NoError(t, os.WriteFile(filepath.Join(work, "board.yaml"), []byte(study), 0o600))
	folder, dirs := recordtest.WriteAll(t, recordtest.Fleet(6, 10))
	board := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(qemu, append([]string{program}, args...)...)
		cmd.Dir = work
		cmd.Env = []string{"PLIMSOLL_STATE=" + work + "/state", "XDG_RUNTIME_DIR=" + work, "HOME=" + work, "PATH=" + os.Getenv("PATH")}
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%v: %v: %s", args, err, said.String())
		}
		return string(out)
	}
	for _, args := range [][]string{
		{"plan", filepath.Join(work, "board.yaml")},
		{"report", dirs[0], "--format", "markdown"},
		{"report", folder, "--format", "markdown"},
		{"factors", folder},
		{"compare", dirs[0], "--env", "crun", "--env", "runc"},
	} {
		there := board(args...)
		if status, here, errs := drive(args...); status != 0 || there != here || here == "" {
			t.Errorf("%v: status %d: the board says something else than we do:\n%s\n%s\n%s", args, status, there, here, errs)
		}
	}
	// Whether a run knew its own folder again was for the threads to decide.
	for n := range 4 {
		out := filepath.Join(work, fmt.Sprint("out", n))
		board("run", "board.yaml", "-o", out)
		run, err := record.Open(out)
		require.NoError(t, err)
		worked := 0
		for trial, err := range run.Trials() {
			require.NoError(t, err)
			if trial.OK() {
				worked++
			}
		}
		if worked != 14 || run.Run().Status != "done" {
			t.Errorf("run %d is %s, with %d trials that worked of 14", n, run.Run().Status, worked)
		}
	}
	if left, err := filepath.Glob(filepath.Join(work, "state", "runs", "*")); err != nil || len(left) != 0 {
		t.Errorf("the runs left %v %v", left, err)
	}
}
