package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/host"
)

// TestKilledWithPrivateDaemon kills a run that has a private daemon. The
// daemon outlives it; clean ends it, and the next run would.
func TestKilledWithPrivateDaemon(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute: left out with -short")
	}
	for _, by := range []string{"clean", "next run"} {
		t.Run(by, func(t *testing.T) { killedWithDaemon(t, by) })
	}
}

func killedWithDaemon(t *testing.T, by string) {
	dir := t.TempDir()
	p := &subject{t: t, dir: dir, out: filepath.Join(dir, "result")}
	s, err := newSetting(p.world())
	require.NoError(t, err)
	driver := ""
	for _, f := range s.detect(t.Context(), "docker") {
		for _, l := range f.Levels["storage"] {
			if l.Usable && l.Name != f.Facts["storage"] && (l.Name == "btrfs" || l.Name == "vfs" && driver == "") {
				driver = l.Name
			}
		}
	}
	if driver == "" {
		t.Skip("no private Docker can be had here")
	}
	study := filepath.Join(dir, "private.yaml")
	text := "plimsoll: 1\nname: private\nprotocol: {blocks: 200, warmup: 0}\nworkloads: [hello]\nenvironments:\n  - {engine: docker, storage: " + driver + ", network: none}\n"
	require.NoError(t, os.WriteFile(study, []byte(text), 0o644))
	before, err := host.Machine{}.Census(t.Context())
	require.NoError(t, err)
	cmd := p.command("run", "--wait", study, "-o", p.out, "--force", "--progress", "none")
	require.NoError(t, cmd.Start())
	pid := 0
	for begin := time.Now(); time.Since(begin) < 3*time.Minute && len(p.trials()) == 0; time.Sleep(20 * time.Millisecond) { // it may wait for its turn
		pid = daemonIn(dir)
	}
	_ = cmd.Process.Kill() // it may have ended: that is seen below
	_ = cmd.Wait()         // it was killed
	if pid == 0 || !alive(pid) {
		t.Fatalf("no private daemon has outlived its run (pid %d): nothing is tried", pid)
	}
	if by == "clean" {
		code, said := p.run("clean", "--wait")
		if code != 0 || !strings.Contains(said, "removed daemon ") {
			t.Errorf("clean: status %d\n%s", code, said)
		}
	} else {
		next := filepath.Join(dir, "next.yaml")
		require.NoError(t, os.WriteFile(next, []byte("plimsoll: 1\nname: next\nprotocol: {blocks: 1, warmup: 0}\nworkloads: [hello]\nenvironments: [host]\n"), 0o644))
		if code, said := p.run("run", "--wait", next, "-o", filepath.Join(dir, "next"), "--force", "--progress", "none"); code != 0 {
			t.Errorf("the next run: status %d\n%s", code, said)
		}
	}
	if alive(pid) {
		t.Errorf("the daemon %d still runs", pid)
	}
	p.nothingLeft(before)
}

// daemonIn finds the pid of a private daemon below the state of a run.
func daemonIn(dir string) int {
	notes, _ := filepath.Glob(filepath.Join(dir, "state/runs/*/private/*/daemon.json"))
	for _, n := range notes {
		var d struct{ PID int }
		if b, err := os.ReadFile(n); err == nil && json.Unmarshal(b, &d) == nil && d.PID != 0 {
			return d.PID
		}
	}
	return 0
}

// alive says whether a process runs; one that waits to be reaped does not.
func alive(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}
