package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// status runs a command and demands its exit status: status 2 plimsoll run x.
// What it prints is left in the files "out" and "err".
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	path, err := exec.LookPath(args[1])
	if err != nil {
		path = args[1]
	}
	cmd := exec.Command(path, args[2:]...)
	cmd.Dir = ts.Getenv("WORK")
	cmd.Env = scriptEnv(ts)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	runErr := cmd.Run()
	ts.Check(os.WriteFile(ts.MkAbs("out"), out.Bytes(), 0o644))
	ts.Check(os.WriteFile(ts.MkAbs("err"), errs.Bytes(), 0o644))
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(runErr, &exit):
		got = exit.ExitCode()
	case runErr != nil:
		ts.Fatalf("%v: %v", args[1:], runErr)
	}
	if got != want {
		ts.Fatalf("%v: status %d, not %d\n%s%s", args[1:], got, want, out.String(), errs.String())
	}
}

func scriptEnv(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "PLIMSOLL_STATE", "XDG_RUNTIME_DIR", "CI", "NO_COLOR", "FORCE_COLOR", "GITHUB_STEP_SUMMARY", "TMPDIR", "SUDO_UID", "CRUN", "WORK", "CONTAINER_RUNTIME_ENDPOINT"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return env
}
