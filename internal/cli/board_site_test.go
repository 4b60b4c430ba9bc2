package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record/recordtest"
)

// The program for small boards plans and reads under QEMU's user emulation, and says
// the same as this one to the last digit. It does not measure there: the emulation gives
// each thread of a process another start time in /proc, by which a run proves its own.
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
	for _, args := range [][]string{
		{"plan", filepath.Join(work, "board.yaml")},
		{"report", dirs[0], "--format", "markdown"},
		{"report", folder, "--format", "markdown"},
		{"factors", folder},
		{"compare", dirs[0], "--env", "crun", "--env", "runc"},
	} {
		cmd := exec.Command(qemu, append([]string{program}, args...)...)
		cmd.Dir = work
		cmd.Env = []string{"PLIMSOLL_STATE=" + work + "/state", "XDG_RUNTIME_DIR=" + work, "HOME=" + work, "PATH=" + os.Getenv("PATH")}
		var said strings.Builder
		cmd.Stderr = &said
		there, err := cmd.Output()
		if err != nil {
			t.Errorf("%v: %v: %s", args, err, said.String())
		}
		if status, here, errs := drive(args...); status != 0 || string(there) != here || here == "" {
			t.Errorf("%v: status %d: the board says something else than we do:\n%s\n%s\n%s", args, status, there, here, errs)
		}
	}
}
