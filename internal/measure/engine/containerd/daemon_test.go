package containerd

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// testDaemon is a containerd of a test's own, which may be killed. The kit's
// environment names it, as a user would.
type testDaemon struct {
	t      *testing.T
	argv   []string
	socket string
	cmd    *exec.Cmd
}

func startTestDaemon(t *testing.T, kit *engine.Kit) *testDaemon {
	t.Helper()
	program, err := exec.LookPath("containerd")
	if err != nil {
		t.Skip("containerd is not installed")
	}
	if !kit.Root {
		t.Skip("a containerd of one's own needs root")
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "config.toml")
	require.NoError(t, os.WriteFile(config, []byte(configuration(t.Context(), program, dir, "", "", nil)), 0o600))
	d := &testDaemon{t: t, argv: []string{program, "--config", config}, socket: filepath.Join(dir, "c.sock")}
	kit.Getenv = func(name string) string {
		if name == "CONTAINERD_ADDRESS" {
			return d.socket
		}
		return os.Getenv(name)
	}
	t.Cleanup(d.kill)
	d.start(kit)
	return d
}

func (d *testDaemon) start(kit *engine.Kit) {
	d.t.Helper()
	d.cmd = exec.Command(d.argv[0], d.argv[1:]...)
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := d.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		c, _, err := dial(d.t.Context(), kit, d.socket)
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(end) {
			d.t.Fatalf("the test's daemon does not answer: %v", err)
		}
	}
}

func (d *testDaemon) kill() {
	if d.cmd != nil && d.cmd.ProcessState == nil {
		_ = d.cmd.Process.Kill()
		_ = d.cmd.Wait()
	}
}

// TestDaemonDies: a daemon that is killed in the middle of a trial fails this
// trial and those that follow, with a clear class, and no more once it is back.
func TestDaemonDies(t *testing.T) {
	kit := enginetest.Kit(t)
	d := startTestDaemon(t, kit)
	env := open(t, kit, map[string]string{engine.Storage: "native"}, engine.Limits{})
	args := probe.PayloadArgs{Stay: true}
	task := newTask(kit.RunID, &args)
	done := make(chan engine.Result, 1)
	go func() {
		res, err := env.Run(context.Background(), task)
		if err != nil {
			t.Errorf("Run: %v", err)
		}
		done <- res
	}()
	for running := false; !running; {
		select {
		case res := <-done:
			t.Fatalf("the trial ended too early: %+v", res.Failure)
		case <-time.After(20 * time.Millisecond):
		}
		running = len(pidsWith(args.Word)) > 0
	}
	d.kill()
	res := <-done
	if res.Failure == nil || res.Failure.Class != record.Unavailable {
		t.Fatalf("in the middle: failure %+v, want class %s", res.Failure, record.Unavailable)
	}
	t.Logf("in the middle: %s", res.Failure.Text)

	var plain probe.PayloadArgs
	res, err := env.Run(t.Context(), newTask(kit.RunID, &plain))
	require.NoError(t, err)
	if res.Failure == nil || res.Failure.Class != record.Unavailable {
		t.Fatalf("without a daemon: failure %+v, want class %s", res.Failure, record.Unavailable)
	}
	t.Logf("without a daemon: %s", res.Failure.Text)

	d.start(kit)
	res, err = env.Run(t.Context(), newTask(kit.RunID, &plain))
	if err != nil || res.Failure != nil {
		t.Fatalf("after its return: %v, %+v", err, res.Failure)
	}
	if _, err := probe.ParsePayload(res.Stdout, plain.Word); err != nil {
		t.Error(err)
	}
	wantNothingLeft(t, kit)
	if pids := pidsWith(args.Word); len(pids) > 0 {
		t.Errorf("the payload of the broken trial still runs: %v", pids)
	}
	if err := env.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestNobodyAnswers: without a daemon it says what would help.
func TestNobodyAnswers(t *testing.T) {
	kit := enginetest.Kit(t)
	kit.Getenv = func(name string) string {
		if name == "CONTAINERD_ADDRESS" {
			return "unix://" + filepath.Join(t.TempDir(), "none.sock")
		}
		return os.Getenv(name)
	}
	det := New().Detect(t.Context(), kit)
	if det.Usable || det.Reason == "" || det.Fix == "" {
		t.Errorf("%+v", det)
	}
	t.Log(det.Reason, det.Fix)
	// Nobody is asked who is in no ledger; who does not answer is told of.
	if removed, kept := engine.Sweep(t.Context(), kit, New()); len(removed)+len(kept) > 0 {
		t.Errorf("an empty ledger: removed %v, kept %v", removed, kept)
	}
	thing := engine.Thing{Kind: engine.KindNamespace, Name: Namespace(kit.RunID), Engine: Name, At: filepath.Join(t.TempDir(), "none.sock")}
	require.NoError(t, kit.Ledger.Made(thing))
	removed, kept := engine.Sweep(t.Context(), kit, New())
	if len(removed) > 0 || len(kept) != 1 || kept[0].Why == "" || kept[0].Fix == "" || len(kit.Ledger.Left()) != 1 {
		t.Errorf("removed %v, kept %+v", removed, kept)
	}
	if err := kit.Ledger.Gone(thing); err != nil {
		t.Error(err)
	}
}

// pidsWith finds processes by a word on their command line.
func pidsWith(word string) []string {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var pids []string
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && contains(b, word) {
			pids = append(pids, filepath.Base(filepath.Dir(f)))
		}
	}
	return pids
}
