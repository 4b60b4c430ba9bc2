package revision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"plimsoll/internal/measure/child"
)

// Build builds what a work tree holds by a line for the shell, which the user gave, and
// gives the program that it has made. What it prints goes into the file log.
//
// As root it is in a process namespace of its own, which ends with us: after a kill no
// compiler goes on. In a container root may often make none: then it is as for others.
func (t *Tree) Build(ctx context.Context, line, program, log string, limit time.Duration) (path string, err error) {
	out, err := os.Create(log)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	run := func(namespaces uintptr) error {
		attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Cloneflags: namespaces}
		return onThread(func() error {
			_, err := child.Run(ctx, child.Command{Argv: []string{"/bin/sh", "-c", line}, Env: t.env, Dir: t.Dir, Stdout: out, Stderr: out, Limit: limit, Attr: attr})
			return err
		})
	}
	if os.Geteuid() == 0 {
		err = run(syscall.CLONE_NEWPID)
	}
	if os.Geteuid() != 0 || notBegun(err) {
		err = run(0)
	}
	switch {
	case notBegun(err):
		return "", err // of no commit's making
	case err != nil:
		return "", &BuildError{Err: err}
	}
	path = filepath.Join(t.Dir, program)
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() {
		return "", &BuildError{Err: fmt.Errorf("it made no file %s", program)}
	}
	return path, nil
}

// notBegun says of a program's error that it could not even be started.
func notBegun(err error) bool {
	failed, ok := errors.AsType[*os.PathError](err)
	return ok && failed.Op == "fork/exec"
}

// onThread carries something out on a thread that lasts as long as it does: a child
// ends with the thread that started it (prctl(2), PR_SET_PDEATHSIG).
func onThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		done <- f()
	}()
	return <-done
}

// BuildError is a build that failed, or that made what can't be measured.
type BuildError struct {
	Err error
	// Made: there is a program, and Err is what is wrong with it.
	Made bool
}

func (e *BuildError) Error() string {
	if e.Made {
		return "what was built can't be used: " + e.Err.Error()
	}
	return "the build failed: " + e.Err.Error()
}

// Unwrap is why.
func (e *BuildError) Unwrap() error { return e.Err }
