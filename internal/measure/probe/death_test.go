package probe

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

func TestLauncherKilledMidJob(t *testing.T) {
	l, _ := startLauncher(t, Options{})
	file := t.TempDir() + "/pid"
	go func() {
		for range 500 {
			if b, _ := os.ReadFile(file); len(b) > 0 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if err := syscall.Kill(l.PID(), syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}()
	_, err := l.Run(context.Background(), Job{Commands: []Command{sh(t, "echo $$ > "+file+"; exec sleep 1000")}})
	if err == nil || !strings.Contains(err.Error(), "has died") || !strings.Contains(err.Error(), "killed") {
		t.Errorf("error %v", err)
	}
	b, _ := os.ReadFile(file)
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	require.NoError(t, err)
	gone(t, pid) // it has asked for the death of its parent to be its own
	if _, err := l.Run(context.Background(), Job{Commands: []Command{{Argv: []string{"/bin/true"}}}}); err == nil || !strings.Contains(err.Error(), "has died") {
		t.Errorf("a further job: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Errorf("closing a dead launcher: %v", err)
	}
}

func TestCloseMidJob(t *testing.T) {
	l, path := startLauncher(t, Options{})
	ended := make(chan error)
	go func() {
		_, err := l.Run(context.Background(), Job{Commands: []Command{{Argv: PayloadArgs{Word: "w", Stay: true, OnTerm: "ignore"}.Argv(path)}}})
		ended <- err
	}()
	time.Sleep(50 * time.Millisecond)
	if err := syscall.Kill(l.PID(), syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil {
		t.Error("no error")
	}
}

func TestStartErrors(t *testing.T) {
	if _, err := Start(context.Background(), "/nonexistent", Options{}); err == nil {
		t.Error("no error for a probe that is missing")
	}
	_, err := Start(context.Background(), probePath(t), Options{Cgroups: []string{"/nonexistent/cgroup.procs"}})
	if err == nil || !strings.Contains(err.Error(), "/nonexistent/cgroup.procs") {
		t.Errorf("error %v does not name the cgroup", err)
	}
	// A program that is no launcher, and never answers.
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	sleeper := t.TempDir() + "/sleeper"
	require.NoError(t, os.WriteFile(sleeper, []byte("#!/bin/sh\nread line\n"), 0o755))
	if _, err := Start(ctx, sleeper, Options{}); err == nil {
		t.Error("no error from a program that does not answer")
	}
}

// TestParentKilled starts itself as another Plimsoll, kills it, and looks for
// what it had running.
func TestParentKilled(t *testing.T) {
	if os.Getenv("PLIMSOLL_TEST_PARENT") != "" {
		parent(t)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestParentKilled$")
	cmd.Env = append(os.Environ(), "PLIMSOLL_TEST_PARENT=1", "PLIMSOLL_TEST_PROBE="+probePath(t), "TMPDIR="+t.TempDir())
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var launcher, child, stray int
	_, err = fmt.Fscan(out, &launcher, &child, &stray)
	if e := cmd.Process.Kill(); e != nil {
		t.Error(e)
	}
	if e := cmd.Wait(); e == nil {
		t.Error("the parent ended by itself")
	}
	require.NoError(t, err)
	for _, pid := range []int{launcher, child, stray} {
		gone(t, pid)
	}
}

func parent(t *testing.T) {
	dir := t.TempDir()
	l, _ := startLauncher(t, Options{})
	job := Job{Commands: []Command{
		sh(t, "setsid sleep 1000 & echo $! $$ > "+dir+"/x; mv "+dir+"/x "+dir+"/pids; exec sleep 1000")}}
	go func() { _, _ = l.Run(context.Background(), job) }()
	for {
		b, err := os.ReadFile(dir + "/pids")
		if err == nil {
			fmt.Print(l.PID(), " ", string(b))
			time.Sleep(time.Minute)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
